package capture

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/gopacket/gopacket/layers"
)

// otherPorts counts the packets of TCP of ports that were not given.
type otherPorts map[layers.TCPPort]*otherPort

type otherPort struct {
	packets int64
	serves  bool // a connection was opened to it
}

// count counts a packet at both of its ports, as which of them is the server's may be unknown.
func (o otherPorts) count(tcp *layers.TCP) {
	for _, port := range []layers.TCPPort{tcp.SrcPort, tcp.DstPort} {
		if o[port] == nil {
			o[port] = new(otherPort)
		}
		o[port].packets++
	}
	if tcp.SYN {
		server := tcp.DstPort
		if tcp.ACK {
			server = tcp.SrcPort
		}
		o[server].serves = true
	}
}

// mostPorts is how many ports are named.
const mostPorts = 3

// most returns the ports with most packets: those to which connections were opened, or any if none was.
func (o otherPorts) most() (names []string) {
	all := slices.SortedFunc(maps.Keys(o), func(x, y layers.TCPPort) int {
		return cmp.Or(cmp.Compare(o[y].packets, o[x].packets), cmp.Compare(x, y))
	})
	serve := slices.DeleteFunc(slices.Clone(all), func(port layers.TCPPort) bool { return !o[port].serves })
	if len(serve) > 0 {
		all = serve
	}
	for _, port := range all[:min(len(all), mostPorts)] {
		names = append(names, strconv.Itoa(int(port)))
	}
	return names
}
