package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// A gatewayClient has a connection with a watch, which carries nothing else, and one with its requests.
type gatewayClient struct{ watching, asking traffic.Tap }

// raceByGateway lets clients of the gateway race for one node whose end all are told, until each has had it. own
// gives the process of a client, or none.
func raceByGateway(clients int, leases bool, own func(client int) traffic.Process) observation.Report {
	a := New(DefaultLimits)
	node, after := []byte("/job"), time.Duration(0)
	tick := func() time.Time { after += time.Millisecond; return start.Add(after) }
	open := func(i int) traffic.Tap {
		t := a.Open(traffic.Connection{Client: fmt.Sprintf("127.0.0.1:%d", 5000+int(after/time.Millisecond)), At: tick()})
		t.Owner(own(i))
		return t
	}
	both := func(t traffic.Tap, m drivers.Message) {
		asked := m
		asked.Kind, asked.Err, m.Kind = drivers.Request, nil, drivers.Reply
		t.Message(tick(), asked)
		t.Message(tick(), m)
	}
	var all []gatewayClient
	for i := range clients {
		c := gatewayClient{open(i), open(i)}
		if leases {
			c.asking.Message(tick(), drivers.Message{Kind: drivers.Request, Op: drivers.OpOpen})
			c.asking.Session(tick(), traffic.Session{ID: int64(i + 1), Timeout: time.Minute, Lease: true})
			c.asking.Message(tick(), drivers.Message{Kind: drivers.Reply, Op: drivers.OpOpen})
		}
		both(c.watching, drivers.Message{Op: drivers.OpWatchNode, Path: node, Watch: true, Alone: true})
		all = append(all, c)
	}
	pos := int64(1)
	create := func(i int, err error) {
		if leases {
			all[i].asking.Lease(tick(), int64(i+1))
		}
		both(all[i].asking, drivers.Message{Op: drivers.OpCreate, Path: node, Mode: drivers.Ephemeral, Err: err, Pos: pos})
	}
	tell := func(e drivers.EventType, holder int) {
		for _, c := range all[holder:] {
			c.watching.Message(tick(), drivers.Message{Kind: drivers.Notification, Event: e, Path: node, Pos: pos})
		}
	}
	for holder := range all {
		pos++
		create(holder, nil)
		tell(drivers.Created, holder)
		for i := holder + 1; i < clients; i++ {
			create(i, drivers.ErrNodeExists)
		}
		after += time.Second
		pos++
		both(all[holder].asking, drivers.Message{Op: drivers.OpDelete, Path: node, Pos: pos})
		tell(drivers.Deleted, holder)
		all[holder].watching.Close(tick())
	}
	return a.Report()
}

// TestGatewayClients checks that what a client does after a notification is joined to it where its process has one
// client, and is not known where nothing joins them.
func TestGatewayClients(t *testing.T) {
	const clients = 6
	each := func(i int) traffic.Process { return traffic.Process{ID: 10 + i, Started: 1, Name: "python3"} }
	one := func(int) traffic.Process { return each(0) }
	unknown := func(int) traffic.Process { return traffic.Process{} }
	for name, c := range map[string]struct {
		leases   bool
		own      func(int) traffic.Process
		sessions int64
		unjoined int64
	}{
		"a process each, with leases":    {true, each, clients, 0},
		"a process each, without leases": {false, each, clients, 0},
		"one process, with leases":       {true, one, 2 * clients, clients * (clients + 1)},
		"one process, without leases":    {false, one, 2 * clients, clients * (clients + 1)},
		"by packets, with leases":        {true, unknown, 2 * clients, clients * (clients + 1)},
		"by packets, without leases":     {false, unknown, 2 * clients, clients * (clients + 1)},
	} {
		r := raceByGateway(clients, c.leases, c.own)
		if len(r.Places) != 1 || r.Traffic.Sessions != c.sessions || r.Traffic.Unjoined != c.unjoined || r.Traffic.FanoutMax != clients {
			t.Errorf("%s: %d places, %d sessions, %d not joined, %d woken; want 1, %d, %d, %d", name, len(r.Places), r.Traffic.Sessions,
				r.Traffic.Unjoined, r.Traffic.FanoutMax, c.sessions, c.unjoined, clients)
			continue
		}
		p := r.Places[0]
		known := p.Wasted != nil
		if known != (c.unjoined == 0) || p.Unjoined != c.unjoined || !p.Herd() {
			t.Errorf("%s: wasted is known: %v, %d not joined, herd: %v", name, known, p.Unjoined, p.Herd())
		}
		const lost = clients * (clients - 1) / 2
		if known && (*p.Wasted <= *p.Useful || p.LostAfter != lost) {
			t.Errorf("%s: %d of %d wasted, %d lost after; want most, %d", name, *p.Wasted, *p.Useful+*p.Wasted, p.LostAfter, lost)
		}
	}
}

// TestAProcessMayBeKnownAfterTheEnd has a process whose first connection has ended before it is known whose it was: what that has
// done ended with it, and what the next one does is its own.
func TestAProcessMayBeKnownAfterTheEnd(t *testing.T) {
	a := New(DefaultLimits)
	after := time.Duration(0)
	tick := func() time.Time { after += time.Millisecond; return start.Add(after) }
	program, node := traffic.Process{ID: 7, Name: "program"}, []byte("/job")
	watches := func(c traffic.Tap) {
		for _, k := range []drivers.MessageKind{drivers.Request, drivers.Reply} {
			c.Message(tick(), drivers.Message{Kind: k, Op: drivers.OpWatchNode, Path: node, Watch: true, Alone: true})
		}
	}
	first := a.Open(traffic.Connection{Client: "127.0.0.1:5000", At: tick()})
	watches(first)
	first.Close(tick())
	first.Owner(program)
	second := a.Open(traffic.Connection{Client: "127.0.0.1:5001", At: tick()})
	second.Owner(program)
	watches(second)
	second.Message(tick(), drivers.Message{Kind: drivers.Notification, Event: drivers.Created, Path: node, Pos: 1})
	if n := a.Report().Traffic.Notifications; n != 1 {
		t.Errorf("%d notifications, want 1", n)
	}
}
