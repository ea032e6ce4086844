package owner

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestServiceIsWhatIsCalled draws who has called whom. The service of a process is what it has called on this machine, and
// what that has called in turn, but not the other clients of these. What cannot be found makes it unknown.
func TestServiceIsWhatIsCalled(t *testing.T) {
	const self = 1
	for name, c := range map[string]struct {
		calls   string // caller>called, as numbers of processes; ? is hidden, - is another machine, = another network of this one
		want    []int
		unknown bool
	}{
		"nothing":            {"", nil, false},
		"a server":           {"1>2", []int{2}, false},
		"itself":             {"1>1", nil, false},
		"behind a proxy":     {"1>2 2>3", []int{2, 3}, false},
		"an ensemble":        {"1>2 1>3 2>3 3>2", []int{2, 3}, false},
		"with other clients": {"1>2 4>2 4>5", []int{2}, false},
		"that calls it":      {"4>1", nil, false},
		"of another user":    {"1>?", nil, true},
		"in a container":     {"1>=", nil, true},
		"far away":           {"1>-", nil, false},
		"behind it, hidden":  {"1>2 2>?", []int{2}, true},
	} {
		var all []connection
		owners, port := map[string]int{}, uint16(40000)
		number := func(who string) int { return strings.Index("?12345", who) }
		socket := func(who string, local, remote netip.AddrPort, state string) {
			inode := who + local.String() + remote.String()
			all = append(all, connection{local, remote, state, inode})
			if pid := number(who); pid > 0 {
				owners[linkTo(inode)] = pid
			}
		}
		here, far, behind := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("172.17.0.2")
		for _, who := range []string{"1", "2", "3", "4", "5", "?"} {
			socket(who, netip.AddrPortFrom(here, uint16(2000+number(who))), netip.AddrPort{}, "0A")
		}
		for _, call := range strings.Fields(c.calls) {
			from, to, _ := strings.Cut(call, ">")
			port++
			local := netip.AddrPortFrom(here, port)
			switch to {
			case "-":
				socket(from, local, netip.AddrPortFrom(far, 2181), "01")
			case "=":
				socket(from, local, netip.AddrPortFrom(behind, 2181), "01")
			default:
				remote := netip.AddrPortFrom(here, uint16(2000+number(to)))
				socket(from, local, remote, "01")
				socket(to, remote, local, "01")
			}
		}
		got := follow(self, all, owners, func(a netip.Addr) bool { return a == here || a == behind })
		slices.Sort(got.Processes)
		if !slices.Equal(got.Processes, c.want) || got.Unknown != c.unknown {
			t.Errorf("%s (%s): %+v, want %v, %v", name, c.calls, got, c.want, c.unknown)
		}
	}
}

// TestEndpoints reads what the kernel writes.
func TestEndpoints(t *testing.T) {
	for _, text := range []string{"127.0.0.1:2181", "10.1.2.3:65535", "[::1]:80", "[2001:db8::1:2]:7"} {
		a := netip.MustParseAddrPort(text)
		for _, written := range []string{kernelText(a), mappedText(a)} {
			if got, ok := endpoint(written); !ok || got != a {
				t.Errorf("%s, written %s, is read as %v", text, written, got)
			}
		}
	}
	if _, ok := endpoint("local_address"); ok {
		t.Error("a heading is an address")
	}
}
