package backends_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
)

// Every client supports each capability or declares it unsupported, and never both.
func TestEachClientHasOrDeclaresEachCapability(t *testing.T) {
	for _, b := range backends.List() {
		for _, line := range b.Clients() {
			name, unsupported, _ := strings.Cut(line, "; unsupported: ")
			name = strings.TrimSuffix(name, " (default)")
			t.Run(b.Scheme+"/"+name, func(t *testing.T) {
				lacks := missing(dial(t, b, name))
				if got := strings.Join(lacks, ", "); got != unsupported {
					t.Errorf("sessions lack %q, and %q is declared unsupported", got, unsupported)
				}
			})
		}
	}
}

// missing returns the capabilities that the session lacks.
func missing(c drivers.Conn) (names []string) {
	_, persistent := c.(drivers.PersistentWatcher)
	_, library := c.(drivers.Librarian)
	_, cutter := c.(drivers.Cutter)
	_, fencer := c.(drivers.Fencer)
	for name, has := range map[string]bool{"persistent watches": persistent, "library forms": library,
		"connections that can be cut": cutter, "fences": fencer} {
		if !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// dial opens a session through the client, on a server of the backend's protocol.
func dial(t *testing.T, b backends.Backend, client string) drivers.Conn {
	t.Helper()
	url := "native:?client=" + client
	if b.Scheme == "etcd" {
		url = "etcd:"
	}
	s := open(t, url)
	c, err := s.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
