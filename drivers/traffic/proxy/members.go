package proxy

import (
	"net"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A memberTap passes on only addresses of members that are not the proxy's own: clients that use its own
// still pass it.
type memberTap struct {
	traffic.Tap
	own func(address string) bool
}

// Members reports the addresses that bypass the proxy.
func (t memberTap) Members(at time.Time, addresses []string) {
	if others := slices.DeleteFunc(slices.Clone(addresses), t.own); len(others) > 0 {
		t.Tap.Members(at, others)
	}
}

// listensAt reports whether a client that connects to the address, host:port, reaches the proxy. Names are
// not looked up, besides localhost: an address that the proxy may have by another name counts as that of a
// server.
func (p *Proxy) listensAt(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	for _, l := range p.listeners {
		own, at, err := net.SplitHostPort(l.Addr().String())
		if err == nil && port == at && sameHost(host, net.ParseIP(own)) {
			return true
		}
	}
	return false
}

// sameHost reports whether a listener at the address own gets connections to the host.
func sameHost(host string, own net.IP) bool {
	ip := net.ParseIP(host)
	if host == "localhost" {
		ip = net.IPv4(127, 0, 0, 1)
	}
	switch {
	case ip == nil:
		return false
	case !own.IsUnspecified():
		return own.Equal(ip) || own.IsLoopback() && host == "localhost"
	case ip.IsLoopback() || ip.IsUnspecified():
		return true
	}
	local, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(local, func(a net.Addr) bool {
		n, is := a.(*net.IPNet)
		return is && n.IP.Equal(ip)
	})
}
