package etcd

import (
	"net"
	"net/url"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// memberAddresses returns the addresses, host:port, at which the members of a list answer clients.
func memberAddresses(list *pb.MemberListResponse) (addresses []string) {
	for _, m := range list.Members {
		for _, text := range m.ClientURLs {
			u, err := url.Parse(text)
			if err != nil || u.Host == "" {
				continue
			}
			address := u.Host
			if u.Port() == "" {
				port, known := defaultPorts[u.Scheme]
				if !known {
					continue // a socket of its host
				}
				address = net.JoinHostPort(u.Hostname(), port)
			}
			if !slices.Contains(addresses, address) {
				addresses = append(addresses, address)
			}
		}
	}
	return addresses
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}
