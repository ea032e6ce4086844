package backends

import (
	"context"
	"errors"
	"net"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers/balancer"
)

// A directory has the addresses of hosts.
type directory map[string][]string

func (d directory) lookUp(_ context.Context, host string) (all []net.IPAddr, err error) {
	for _, a := range d[host] {
		all = append(all, net.IPAddr{IP: net.ParseIP(a)})
	}
	if all == nil {
		err = &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return all, err
}

// TestMembers looks up servers as URLs name them. Sessions are spread over all addresses of a name, as over servers that
// are named one by one.
func TestMembers(t *testing.T) {
	names := directory{
		"zks": {"10.0.0.3", "10.0.0.1", "10.0.0.2"}, "one": {"10.0.0.9"}, "localhost": {"127.0.0.1", "::1"},
		"both": {"fd00::2", "10.0.1.2", "fd00::1", "10.0.1.1"}, "six": {"fd00::2", "fd00::1"}, "twice": {"10.0.0.1", "10.0.0.1"},
	}
	for _, tc := range []struct{ servers, want []string }{
		{[]string{"zks:2181"}, []string{"10.0.0.1:2181", "10.0.0.2:2181", "10.0.0.3:2181"}},
		{[]string{"zks:2181", "one:1", "both:3"}, []string{"10.0.0.1:2181", "10.0.0.2:2181", "10.0.0.3:2181", "one:1", "10.0.1.1:3", "10.0.1.2:3"}},
		{[]string{"zks:1", "zks:1"}, []string{"10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"}},
		{[]string{"six:1"}, []string{"[fd00::1]:1", "[fd00::2]:1"}},
		{[]string{"one:1", "localhost:1", "twice:1", "missing:1", "10.0.0.7:1", "[::1]:1"},
			[]string{"one:1", "localhost:1", "twice:1", "missing:1", "10.0.0.7:1", "[::1]:1"}},
	} {
		m := membersOf(t.Context(), tc.servers, names.lookUp)
		if !slices.Equal(m.addresses, tc.want) {
			t.Errorf("%v: %v, want %v", tc.servers, m.addresses, tc.want)
		}
		on := balancer.New("", m.addresses, nil)
		turns := map[int]int{}
		for range 4 * len(m.addresses) {
			i, err := on.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			turns[i]++
		}
		for i, a := range m.addresses {
			if turns[i] != 4 {
				t.Errorf("%v: %d sessions on %s, want 4", tc.servers, turns[i], a)
			}
		}
	}
	m := membersOf(t.Context(), []string{"zks:2181", "one:1"}, names.lookUp)
	if got := []string{m.server("10.0.0.2:2181"), m.server("one:1"), m.described()}; !slices.Equal(got, []string{"zks:2181", "one:1",
		"10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181,one:1"}) {
		t.Errorf("certificates and the description are of %v", got)
	}
	if got := membersOf(t.Context(), []string{"one:1"}, names.lookUp).described(); got != "" {
		t.Errorf("the URL names all servers, and %q is reported as well", got)
	}
}

// TestUnreachedMembers connects to members: those that never accepted a connection are told, and not those that did once, that
// nobody tried, or that nobody waited for.
func TestUnreachedMembers(t *testing.T) {
	m := membersOf(t.Context(), []string{"up:1", "down:1", "fails:1", "untried:1", "given-up:1"}, directory{}.lookUp)
	down := map[string]bool{"down:1": true, "given-up:1": true}
	m.connect = func(_ context.Context, address string) (net.Conn, error) {
		if down[address] {
			return nil, errors.New("connection refused")
		}
		return nil, nil
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = m.dial(over, "given-up:1")
	for range 2 {
		for _, address := range []string{"up:1", "down:1", "fails:1"} {
			_, _ = m.dial(t.Context(), address)
		}
		down["fails:1"] = true
	}
	if got := m.unreached(); !slices.Equal(got, []string{"down:1"}) {
		t.Errorf("%v were not reached, want down:1", got)
	}
}

// TestReplacedMember connects to a member whose address has gone from its name, as one that was started anew elsewhere.
func TestReplacedMember(t *testing.T) {
	names := directory{"zks": {"10.0.0.1", "10.0.0.2", "10.0.0.3"}}
	m := membersOf(t.Context(), []string{"zks:2181"}, names.lookUp)
	var dialled []string
	down := errors.New("connection refused")
	m.connect = func(_ context.Context, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return nil, down
	}
	for _, tc := range []struct {
		now  []string
		want []string
	}{
		{[]string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}, []string{"10.0.0.2:2181"}},
		{[]string{"10.0.0.1", "10.0.0.3", "10.0.0.7"}, []string{"10.0.0.2:2181", "10.0.0.7:2181"}},
		{[]string{"10.0.0.1"}, []string{"10.0.0.2:2181", "10.0.0.1:2181"}},
		{nil, []string{"10.0.0.2:2181"}},
	} {
		dialled, names["zks"] = nil, tc.now
		if _, err := m.dial(t.Context(), "10.0.0.2:2181"); !errors.Is(err, down) || !slices.Equal(dialled, tc.want) {
			t.Errorf("with %v: dialled %v, %v; want %v", tc.now, dialled, err, tc.want)
		}
	}
}
