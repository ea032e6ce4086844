package backends

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// A members has the servers of a given service, host:port each. The name of a headless service has the addresses of all its
// servers: each of them is a member, as if the URL named it.
type members struct {
	addresses []string
	names     map[string]string // the server of the URL that an address stands for; none where they are the same
	lookUp    lookUp
	connect   func(ctx context.Context, address string) (net.Conn, error)

	mu    sync.Mutex
	tried map[string]bool // the members, by whether a connection to one was made
}

// lookUp returns the addresses of a host.
type lookUp func(ctx context.Context, host string) ([]net.IPAddr, error)

// lookUpTime bounds how long names are looked up before the first session. One that is not found then is left to the
// sessions, which look it up at each attempt.
const lookUpTime = 5 * time.Second

// membersOf returns the members of the servers that a URL names.
func membersOf(ctx context.Context, servers []string, look lookUp) *members {
	ctx, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	m := &members{names: map[string]string{}, tried: map[string]bool{}, lookUp: look, connect: func(ctx context.Context, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}}
	for _, server := range servers {
		all := m.resolve(ctx, server)
		if len(all) < 2 {
			m.addresses = append(m.addresses, server)
			continue
		}
		for _, address := range all {
			if !slices.Contains(m.addresses, address) {
				m.addresses, m.names[address] = append(m.addresses, address), server
			}
		}
	}
	return m
}

// resolve returns the addresses of a server that is given by its name, in order. A server that listens on both versions of
// the protocol is one member: only those of version 4 count where there are some.
func (m *members) resolve(ctx context.Context, server string) (all []string) {
	host, port, err := net.SplitHostPort(server)
	if err != nil || net.ParseIP(host) != nil {
		return nil
	}
	found, _ := m.lookUp(ctx, host) // if it fails, the sessions will say so
	isV4 := func(a net.IPAddr) bool { return a.IP.To4() != nil }
	v4 := slices.ContainsFunc(found, isV4)
	for _, a := range found {
		if isV4(a) == v4 {
			all = append(all, net.JoinHostPort(a.String(), port))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// dial connects to a member, and notes whether it could.
func (m *members) dial(ctx context.Context, address string) (net.Conn, error) {
	c, err := m.reach(ctx, address)
	if err == nil || !errors.Is(ctx.Err(), context.Canceled) { // a cancelled attempt tells nothing
		m.mu.Lock()
		m.tried[address] = m.tried[address] || err == nil
		m.mu.Unlock()
	}
	return c, err
}

// unreached returns the addresses to which no connection was made, though it was tried.
func (m *members) unreached() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.addresses), func(a string) bool {
		made, tried := m.tried[a]
		return made || !tried
	})
}

// reach connects to a member. One that is no longer an address of its name has been replaced: then reach connects to
// another address of the name.
func (m *members) reach(ctx context.Context, address string) (net.Conn, error) {
	c, err := m.connect(ctx, address)
	name, named := m.names[address]
	if err == nil || !named || ctx.Err() != nil {
		return c, err
	}
	now := m.resolve(ctx, name)
	if len(now) == 0 || slices.Contains(now, address) {
		return nil, err
	}
	at := slices.Index(m.addresses, address)
	unknown := slices.DeleteFunc(slices.Clone(now), func(a string) bool { return slices.Contains(m.addresses, a) })
	if len(unknown) > 0 { // those that have come instead of members
		now = unknown
	}
	return m.connect(ctx, now[at%len(now)])
}

// server returns the server of the URL that an address stands for, whose name its certificate has.
func (m *members) server(address string) string { return cmp.Or(m.names[address], address) }

// described returns the addresses where the URL does not name them, "" otherwise.
func (m *members) described() string {
	if len(m.names) == 0 {
		return ""
	}
	return strings.Join(m.addresses, ",")
}
