package misdelivery_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/delivery/misdelivery"
	"github.com/stampede-bench/stampede/metrics/fanout"
)

// deliveryOf lets a session behind the relay watch what another session changes, until a violation is found, and returns
// what is found.
func deliveryOf(ctx context.Context, t *testing.T, url string, relay *misdelivery.Relay) (found metrics.Delivery) {
	t.Helper()
	w := newWatcher(ctx, t, url, relay)
	for _, path := range []string{"/x", "/list", "/lasting", "/tree", "/p", "/q"} {
		w.create(path)
	}
	w.lasting()
	for range 2 {
		for _, step := range []func(){w.changes, w.deletions, w.deletionInOutage, w.changeInOutage, w.changeAfterOutage} {
			step()
			w.reach()
			if found = w.meter.Delivery(); found.Violations > 0 {
				return found
			}
		}
	}
	return found
}

func (w *watcher) changes() {
	w.create("/y")
	w.reach() // the reader's server may be behind
	for _, path := range []string{"/x", "/y", "/p", "/q"} {
		w.watch(path)
	}
	w.list("/list")
	for _, path := range []string{"/x", "/p", "/q", "/lasting", "/lasting"} {
		w.set(path)
	}
	w.delete("/y")
	for _, path := range []string{"/list/child", "/tree/child", "/tree/child/deep"} {
		w.create(path)
	}
}

func (w *watcher) deletions() {
	for _, path := range []string{"/list/child", "/tree/child/deep", "/tree/child"} {
		w.delete(path)
	}
}

// deletionInOutage is what ZooKeeper reports of each of the two watches on its own.
func (w *watcher) deletionInOutage() {
	w.create("/y")
	w.reach()
	w.watch("/y")
	w.list("/y")
	w.outage(func() { w.delete("/y") })
}

func (w *watcher) changeInOutage() {
	w.watch("/x")
	w.outage(func() { w.set("/x") })
}

func (w *watcher) changeAfterOutage() {
	w.watch("/x")
	w.outage(func() {})
	w.reach()
	w.set("/x")
	w.set("/lasting")
}

// A watcher is a session that watches through a relay what another session changes.
type watcher struct {
	t              *testing.T
	ctx            context.Context
	base           string
	meter          *fanout.Meter
	relay          *misdelivery.Relay
	leader         drivers.Member // that the first outage ends; nil if there is none but it
	reader, writer drivers.Conn
}

func newWatcher(ctx context.Context, t *testing.T, url string, relay *misdelivery.Relay) *watcher {
	t.Helper()
	s := backendtest.Own(t, url).(drivers.Ensemble)
	w := &watcher{t: t, ctx: ctx, relay: relay, meter: fanout.NewCheckedMeter(metrics.NewWindow(), s.Info().Ordered())}
	members := slices.Clone(s.Members())
	if len(members) > 1 {
		leads := w.leads(members)
		members[0], members[leads] = members[leads], members[0]
		w.leader = members[0]
	}
	w.writer = w.open(s)
	w.reader = w.open(w.behind(url, members))
	base, err := w.writer.Create(ctx, "/planted-", nil, drivers.Sequential)
	must(t, err)
	w.base = "/" + base.Name
	return w
}

// leads waits until a member leads.
func (w *watcher) leads(members []drivers.Member) int {
	for {
		for i, m := range members {
			if leads, err := m.Leads(w.ctx); err == nil && leads {
				return i
			}
		}
		must(w.t, w.ctx.Err())
	}
}

// behind returns the service whose servers are reached through the relay, the first one first.
func (w *watcher) behind(url string, members []drivers.Member) (s drivers.Service) {
	var addresses []string
	var err error
	if strings.HasPrefix(url, etcdAt) {
		for _, m := range members {
			addresses = append(addresses, w.relay.Etcd(w.t, m.Address()))
		}
		s, err = etcd.New(etcd.Config{Endpoints: addresses})
	} else {
		for _, m := range members {
			addresses = append(addresses, w.relay.ZooKeeper(w.t, m.Address()))
		}
		s, err = lean.New(lean.Config{Servers: addresses})
	}
	must(w.t, err)
	w.t.Cleanup(func() { s.Close() })
	return s
}

func (w *watcher) open(s drivers.Service) drivers.Conn {
	c, err := s.Dial(w.ctx, drivers.Options{Probe: w.meter.Session()})
	must(w.t, err)
	w.t.Cleanup(func() { c.Close() })
	return c
}

// outage makes the reader move to another connection, and at first to another leader. In the meantime it does
// something.
func (w *watcher) outage(meanwhile func()) {
	w.relay.Break()
	if leader := w.leader; leader != nil {
		w.leader = nil
		must(w.t, leader.Kill())
		w.t.Cleanup(func() { must(w.t, leader.Restart(context.Background())) })
	}
	meanwhile()
	w.relay.Mend()
}

func (w *watcher) create(path string) {
	_, err := w.writer.Create(w.ctx, w.base+path, nil, 0)
	must(w.t, err)
}

func (w *watcher) set(path string) {
	must(w.t, drivers.Repeat(w.ctx, func() error {
		_, err := w.writer.Set(w.ctx, w.base+path, nil, drivers.AnyVersion)
		return err
	}))
}

func (w *watcher) delete(path string) {
	must(w.t, drivers.Repeat(w.ctx, func() error {
		err := w.writer.Delete(w.ctx, w.base+path, drivers.AnyVersion)
		if errors.Is(err, drivers.ErrNoNode) { // a repeated one finds it deleted
			return nil
		}
		return err
	}))
}

func ignore(drivers.Event) {}

// watch arms a watch on a node.
func (w *watcher) watch(path string) {
	_, _, err := drivers.Steady(w.reader).Exists(w.ctx, w.base+path, ignore)
	must(w.t, err)
}

// list arms a watch on the children of a node.
func (w *watcher) list(path string) {
	_, err := drivers.Steady(w.reader).Children(w.ctx, w.base+path, ignore)
	must(w.t, err)
}

// lasting arms the persistent watches.
func (w *watcher) lasting() {
	reader := drivers.Persistent(w.reader.(drivers.PersistentWatcher))
	_, err := reader.WatchNode(w.ctx, w.base+"/lasting", ignore)
	must(w.t, err)
	_, err = reader.WatchTree(w.ctx, w.base+"/tree", ignore)
	must(w.t, err)
}

// reach waits for an answer that includes all changes.
func (w *watcher) reach() { must(w.t, drivers.Flush(w.ctx, w.reader)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
