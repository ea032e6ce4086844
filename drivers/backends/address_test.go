package backends_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
)

// TestAddressOpensTheSameService opens a started service by its address, and finds a node there that was
// created on the original.
func TestAddressOpensTheSameService(t *testing.T) {
	for _, url := range append(startable(t), "native:?consistency=sync&session-timeout=7s", "etcd:?consistency=serializable") {
		s := open(t, url)
		address, err := backends.Address(s)
		if err != nil {
			t.Fatal(err)
		}
		other := open(t, address)
		if got, want := other.Info(), s.Info(); got.Client != want.Client || got.Reads != want.Reads || got.Servers != want.Servers || got.Started != "" {
			t.Errorf("%s: %s is %+v, want %+v, not started", url, address, got, want)
		}
		var conns []drivers.Conn
		for _, service := range []drivers.Service{s, other} {
			c, err := service.Dial(t.Context(), drivers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			conns = append(conns, c)
		}
		if _, err := conns[0].Create(t.Context(), "/here", nil, 0); err != nil {
			t.Fatal(err)
		}
		if _, there, err := conns[1].Exists(t.Context(), "/here", nil); err != nil || !there {
			t.Errorf("%s: the node is there at %s: %v, %v", url, address, there, err)
		}
	}
}

func TestAddressKeepsTheSettings(t *testing.T) {
	for url, want := range map[string][]string{
		"zookeeper://127.0.0.1:1,127.0.0.1:2/a?clients=leader":        {"zookeeper://127.0.0.1:1,127.0.0.1:2/a?", "client=lean", "clients=leader"},
		"etcd://127.0.0.1:1/b":                                        {"etcd://127.0.0.1:1/b"},
		"native://127.0.0.1:1?client=go-zookeeper&session-timeout=3s": {"native://127.0.0.1:1?", "client=go-zookeeper", "session-timeout=3s"},
	} {
		got, err := backends.Address(open(t, url))
		if err != nil || !slices.IsSortedFunc(want, func(a, b string) int { return strings.Index(got, a) - strings.Index(got, b) }) || !strings.HasPrefix(got, want[0]) {
			t.Errorf("%s has the address %s, %v; want %q in it", url, got, err, want)
		}
		if _, err := backends.Parse(got); err != nil {
			t.Error(err)
		}
	}
}

func TestAServiceWithoutAnAddress(t *testing.T) {
	inProcess, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer inProcess.Close()
	for _, s := range []drivers.Service{inProcess, open(t, "native:?tls=true")} {
		if got, err := backends.Address(s); err == nil {
			t.Errorf("%s has the address %s", s.Info().URL, got)
		}
	}
}
