package misdelivery_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/delivery/misdelivery"
)

func TestMain(m *testing.M) { backendtest.Main(m) }

// within is the time in which each planted fault is found.
const within = time.Minute

// The services of the planted faults.
const (
	native   = "native:"
	etcdAt   = "etcd:"
	natives  = "native:?servers=3"
	etcds    = "etcd:?servers=3"
	missing  = "no notification for "
	twice    = "two notifications for data changed"
	order    = "came after that for a later change"
	unasked  = "which the session does not watch"
	mistyped = "which is not what has happened"
)

// planted lists the faults: in front of which service, and what the checker says of each. On the services of three
// servers the leader is killed, and the client moves to another server.
var planted = []struct {
	name, service string
	relay         func() *misdelivery.Relay
	want          string
}{
	{"a change of data is dropped", native, only(misdelivery.Drop, "/x"), missing + "data changed"},
	{"a deletion is dropped", native, only(misdelivery.Drop, "/y"), missing + "deleted"},
	{"a change of children is dropped", native, only(misdelivery.Drop, "/list"), missing + "children changed"},
	{"a notification comes twice", native, only(misdelivery.Double, "/x"), twice},
	{"a notification follows the next reply", native, only(misdelivery.Delay, "/x"), missing + "data changed"},
	{"a notification has another path", native, only(misdelivery.Misdirect, "/x"), unasked},
	{"a notification has another type", native, only(misdelivery.Mistype, "/x"), mistyped},
	{"a notification has no watch", native, only(misdelivery.Invent, "/x"), unasked},
	{"two notifications are swapped", native, swap("/p", "/q"), order},
	{"a watch is not armed again", native, forget, missing},
	{"a change during an outage is not reported", native, moved(misdelivery.Drop), missing + "deleted"},
	{"a persistent watch ends early", native, end("/lasting"), missing + "data changed"},
	{"a recursive watch lacks a subtree", native, only(misdelivery.Drop, "/deep"), missing + "created"},

	{"an event is dropped", etcdAt, only(misdelivery.Drop, "/x"), missing + "data changed"},
	{"a deletion is dropped", etcdAt, only(misdelivery.Drop, "/y"), missing + "deleted"},
	{"a child is dropped", etcdAt, only(misdelivery.Drop, "/list/child"), missing + "created"},
	{"an event comes twice", etcdAt, only(misdelivery.Double, "/x"), twice},
	{"an event follows the progress that covers it", etcdAt, only(misdelivery.Delay, "/x"), missing + "data changed"},
	{"an event has another key", etcdAt, only(misdelivery.Misdirect, "/x"), unasked},
	{"an event has another type", etcdAt, only(misdelivery.Mistype, "/x"), mistyped},
	{"an event has another revision", etcdAt, only(misdelivery.Misplace, "/x"), missing + "data changed"},
	{"an event has no watch", etcdAt, only(misdelivery.Invent, "/x"), unasked},
	{"two events are swapped", etcdAt, swap("/lasting"), order},
	{"a watch begins too late after an outage", etcdAt, forget, missing},
	{"a change during an outage is not reported", etcdAt, moved(misdelivery.Drop), missing + "deleted"},
	{"a lasting watch ends early", etcdAt, end("/lasting"), missing + "data changed"},

	{"the new server does not report a change", natives, moved(misdelivery.Drop), missing + "deleted"},
	{"the new server does not arm a watch again", natives, forget, missing},
	{"the new server does not report a change", etcds, moved(misdelivery.Drop), missing + "deleted"},
	{"the new server begins a watch too late", etcds, forget, missing},
}

func only(f misdelivery.Fault, endings ...string) func() *misdelivery.Relay {
	return func() *misdelivery.Relay { return misdelivery.New(misdelivery.Only(f, endings...)) }
}

func swap(endings ...string) func() *misdelivery.Relay {
	return func() *misdelivery.Relay { return misdelivery.New(misdelivery.Only(misdelivery.Swap(), endings...)) }
}

func end(ending string) func() *misdelivery.Relay {
	return func() *misdelivery.Relay { return misdelivery.New(misdelivery.Only(misdelivery.End(), ending)) }
}

func moved(f misdelivery.Fault) func() *misdelivery.Relay {
	return func() *misdelivery.Relay { return misdelivery.New(misdelivery.Moved(f)) }
}

func forget() *misdelivery.Relay { return misdelivery.New(misdelivery.None).Forget() }

func none() *misdelivery.Relay { return misdelivery.New(misdelivery.None) }

// TestPlantedFaultsAreFound plants each fault between a watcher and a real server. Each is found within a minute, and
// the log says within which time. Without one nothing is found.
func TestPlantedFaultsAreFound(t *testing.T) {
	if len(planted) < 12 {
		t.Errorf("%d faults are planted, want at least 12", len(planted))
	}
	for _, p := range planted {
		t.Run(p.service+" "+p.name, func(t *testing.T) {
			if p.service == natives || p.service == etcds {
				testenv.SkipIfShort(t)
			}
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			found := deliveryOf(ctx, t, p.service, p.relay())
			if details := strings.Join(found.Details, "\n"); !strings.Contains(details, p.want) {
				t.Fatalf("%d violations, want %q among them:\n%s", found.Violations, p.want, details)
			}
			t.Logf("found after %d ms, among %d notifications", time.Since(began).Milliseconds(), found.Notifications)
		})
	}
	for _, service := range []string{native, "zookeeper:", etcdAt, natives, etcds} {
		t.Run(service+" none", func(t *testing.T) {
			if service == natives || service == etcds {
				testenv.SkipIfShort(t)
			}
			if found := deliveryOf(t.Context(), t, service, none()); found.Violations > 0 || found.Notifications == 0 {
				t.Errorf("%d violations in %d notifications:\n%s", found.Violations, found.Notifications, strings.Join(found.Details, "\n"))
			}
		})
	}
}
