package proxy

import (
	"fmt"
	"net"
	"strconv"
)

// Spread returns an address for each of n servers: the given ones, or from one address on the
// ports that follow it, or any free ports if its port is 0.
func Spread(addresses []string, n int) ([]string, error) {
	if len(addresses) == n {
		return addresses, nil
	}
	if len(addresses) != 1 {
		return nil, fmt.Errorf("%d addresses to listen at for %d servers: want 1 or %d", len(addresses), n, n)
	}
	host, service, err := net.SplitHostPort(addresses[0])
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if last := 65536 - uint64(n); err != nil || port > last {
		return nil, fmt.Errorf("listen at %q: invalid port: want a number from 0 to %d", addresses[0], last)
	}
	all := make([]string, n)
	for i := range all {
		next := port
		if port != 0 {
			next += uint64(i)
		}
		all[i] = net.JoinHostPort(host, strconv.FormatUint(next, 10))
	}
	return all, nil
}
