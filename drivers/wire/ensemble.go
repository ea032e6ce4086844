package wire

import (
	"bytes"
	"net"
	"strings"
)

// ConfigPath is the node with the configuration of the ensemble.
const ConfigPath = "/zookeeper/config"

// serversOf returns the addresses for clients that the reply to a read of the configuration has. Each
// server has a line
//
//	server.1=zk1:2888:3888:participant;zk1:2181
//
// in which the host for clients may be left out or be any address: it is the server's own then. A server
// without an address for clients, as that of a static configuration, is left out: no client can use it.
func serversOf(reply []byte) (addresses []string) {
	d := NewDecoder(reply[min(len(reply), ReplyHeaderSize):])
	data := d.Bytes()
	for line := range bytes.Lines(data) {
		name, server, found := strings.Cut(strings.TrimSpace(string(line)), "=")
		if !found || !strings.HasPrefix(name, "server.") {
			continue
		}
		peer, client, found := strings.Cut(server, ";")
		if !found {
			continue
		}
		host, port := hostOf(peer), client
		if i := strings.LastIndex(client, ":"); i >= 0 {
			port = client[i+1:]
			if given := strings.Trim(client[:i], "[]"); given != "" && given != "0.0.0.0" && given != "::" {
				host = given
			}
		}
		addresses = append(addresses, net.JoinHostPort(host, port))
	}
	return addresses
}

// hostOf returns the host of the first address of a server, host:port:port:role. Others follow behind a bar.
func hostOf(server string) string {
	first, _, _ := strings.Cut(server, "|")
	if rest, bracketed := strings.CutPrefix(first, "["); bracketed {
		host, _, _ := strings.Cut(rest, "]")
		return host
	}
	host, _, _ := strings.Cut(first, ":")
	return host
}
