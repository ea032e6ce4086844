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
				lacks := missing(t, serving(t, b, name))
				if got := strings.Join(lacks, ", "); got != unsupported {
					t.Errorf("sessions lack %q, and %q is declared unsupported", got, unsupported)
				}
			})
		}
	}
}

// missing returns the capabilities that the service's sessions lack.
func missing(t *testing.T, s drivers.Service) (names []string) {
	c := session(t, s, drivers.Options{})
	_, persistent := c.(drivers.PersistentWatcher)
	_, library := c.(drivers.Librarian)
	_, cutter := c.(drivers.Cutter)
	_, flusher := c.(drivers.Flusher)
	has := map[string]bool{"persistent watches": persistent, "library forms": library,
		"connections that can be cut": cutter, "flushes": flusher}
	if s.Info().Name != "etcd" { // whose watches resume at the server's revision, and whose sessions are leases
		has["events before replies after a reconnect with more than 128 KiB of watched paths"] = rearmsMany(t, s)
		has["the end of a session whose connection breaks while it is closed"] = closesOnAnother(t, s)
	}
	for name, has := range has {
		if !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// serving opens a service of the backend's protocol, whose sessions the client opens.
func serving(t *testing.T, b backends.Backend, client string) drivers.Service {
	t.Helper()
	if b.Scheme == "etcd" {
		return open(t, "etcd:")
	}
	return open(t, "native:?client="+client)
}
