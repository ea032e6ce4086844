package owner

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ServiceOf finds the service of a process on this machine.
func ServiceOf(pid int) Service {
	owners := map[string]int{} // by the link to a socket
	for _, pid := range processes() {
		links, err := openBy(pid)
		if err != nil {
			continue // it is another user's
		}
		for link := range links {
			if strings.HasPrefix(link, "socket:") && owners[link] == 0 {
				owners[link] = pid
			}
		}
	}
	here := ownNetworks()
	return follow(pid, connections(), owners, func(a netip.Addr) bool {
		return a.IsLoopback() || slices.ContainsFunc(here, func(p netip.Prefix) bool { return p.Contains(a) })
	})
}

// ownNetworks returns the addresses of this machine, and the networks behind its bridges: those of containers.
func ownNetworks() (all []netip.Prefix) {
	interfaces, _ := net.Interfaces()
	for _, i := range interfaces {
		_, err := os.Stat(filepath.Join("/sys/class/net", i.Name, "bridge"))
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			p, wrong := netip.ParsePrefix(a.String())
			if err != nil { // no bridge
				p = netip.PrefixFrom(p.Addr(), p.Addr().BitLen())
			}
			if wrong == nil {
				all = append(all, p.Masked())
			}
		}
	}
	return all
}

// follow returns the service of a process among all connections of the machine; here tells its own addresses.
func follow(self int, all []connection, owners map[string]int, here func(netip.Addr) bool) (s Service) {
	const established, listening = "01", "0A"
	open, listens := map[[2]netip.AddrPort]connection{}, map[uint16]bool{}
	of := map[int][]connection{}
	for _, c := range all {
		switch c.state {
		case listening:
			listens[c.local.Port()] = true
		case established:
			open[[2]netip.AddrPort{c.local, c.remote}] = c
			of[owners[linkTo(c.inode)]] = append(of[owners[linkTo(c.inode)]], c)
		}
	}
	for next := []int{self}; len(next) > 0; next = next[1:] {
		for _, c := range of[next[0]] {
			if listens[c.local.Port()] && !listens[c.remote.Port()] {
				continue // that one called
			}
			other, seen := open[[2]netip.AddrPort{c.remote, c.local}]
			pid := owners[linkTo(other.inode)]
			switch {
			case seen && pid == 0, !seen && here(c.remote.Addr()):
				s.Unknown = true
			case seen && pid != self && !slices.Contains(s.Processes, pid):
				s.Processes, next = append(s.Processes, pid), append(next, pid)
			}
		}
	}
	return s
}

// A connection is a line of /proc/net/tcp.
type connection struct {
	local, remote netip.AddrPort
	state, inode  string
}

// connections returns the TCP sockets of this machine, as far as they can be read.
func connections() (all []connection) {
	for line := range socketLines() {
		fields := strings.Fields(string(line))
		if len(fields) < 10 {
			continue
		}
		local, here := endpoint(fields[1])
		remote, there := endpoint(fields[2])
		if here && there {
			all = append(all, connection{local, remote, fields[3], fields[9]})
		}
	}
	return all
}

// endpoint parses what kernelText and mappedText write.
func endpoint(text string) (netip.AddrPort, bool) {
	words, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(words)
	n, wrong := strconv.ParseUint(port, 16, 16)
	if err != nil || wrong != nil {
		return netip.AddrPort{}, false
	}
	for word := range slices.Chunk(b, 4) {
		if len(word) == 4 {
			binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
		}
	}
	ip, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), ok
}
