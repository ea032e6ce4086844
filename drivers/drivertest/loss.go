package drivertest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/stampede-bench/stampede/drivers"
)

func sessionLoss() []testCase {
	return []testCase{
		{"closed", "after Close, Done is closed and every call fails with ErrSessionLost: no client continues as if it still held a lock", closed},
		{"close tells watches", "Close calls every armed watch exactly once, with Lost: no client waits forever on a session that has ended", closeTellsWatches},
		{"closed twice", "closing twice, even at the same time, is harmless", closedTwice},
		{"close in flight", "a call that is unanswered when the session ends returns its result or ErrSessionLost, and does not hang", closeInFlight},
		{"others live on", "the end of one session does not affect other sessions, their nodes and their watches", othersLiveOn},
		{"expired", "a session that the service has ended closes Done, calls OnState, fails every call with ErrSessionLost and is not silently replaced: its client must learn that it holds nothing", expired},
		{"expiry tells watches", "expiry calls every armed watch exactly once, with Lost", expiryTellsWatches},
		{"expiry removes", "expiry deletes the ephemeral nodes and fires the watches on them: the next client in a queue proceeds", expiryRemoves},
		{"closed after expiry", "closing an expired session is harmless and changes nothing", closedAfterExpiry},
	}
}

// ended checks that the session has ended and that every call reports it.
func (c *client) ended(ctx context.Context) {
	x := c.x
	x.Helper()
	x.await(ctx, c.Done(), "Done of a session that has ended")
	check := func(what string, err error) {
		x.Helper()
		x.wants(what+" after the session's end", err, drivers.ErrSessionLost)
	}
	_, err := c.Create(ctx, x.path("late"), nil, 0)
	check("create", err)
	check("delete", c.Delete(ctx, x.path("late"), drivers.AnyVersion))
	_, err = c.Set(ctx, x.base, nil, drivers.AnyVersion)
	check("set", err)
	_, _, err = c.Exists(ctx, x.base, func(drivers.Event) {})
	check("exists", err)
	_, _, err = c.Get(ctx, x.base, func(drivers.Event) {})
	check("get", err)
	_, err = c.Children(ctx, x.base, func(drivers.Event) {})
	check("children", err)
	check("sync", c.Sync(ctx, x.base))
}

func closed(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	select {
	case <-c.Done():
		x.Fatal("Done is closed while the session lives")
	default:
	}
	c.close()
	c.ended(ctx)
}

// armAll arms watches of every kind, on nodes that exist and on nodes that do not.
func (c *client) armAll(ctx context.Context) []*listener {
	var all []*listener
	arm := func(by func(context.Context, *client, string, drivers.Watch), path string) {
		l := listen()
		by(ctx, c, path, l.hear)
		all = append(all, l)
	}
	for range 3 {
		arm(byExists, c.x.path("missing"))
		arm(byExists, c.x.base)
		arm(byGet, c.x.base)
		arm(byList, c.x.base)
	}
	return all
}

func closeTellsWatches(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	all := c.armAll(ctx)
	c.close()
	for _, l := range all {
		x.hears(ctx, l, drivers.Lost, x.base)
	}
	c.close()
	for _, l := range all {
		x.expectCalls(l, "a watch of a closed session", drivers.Lost)
	}
}

func closedTwice(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("e"), "", drivers.Ephemeral)
	x.atOnce(c.Close, c.Close, c.Close)
	c.close()
	c.ended(ctx)
}

func closeInFlight(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	var begun sync.WaitGroup
	reader := func() error {
		_, _, err := c.Get(ctx, x.base, nil)
		begun.Done()
		for err == nil {
			_, _, err = c.Get(ctx, x.base, nil)
		}
		return unless(err, drivers.ErrSessionLost)
	}
	calls := []func() error{func() error {
		begun.Wait()
		return c.Close()
	}}
	for range 8 {
		begun.Add(1)
		calls = append(calls, reader)
	}
	x.atOnce(calls...)
	c.ended(ctx)
}

func othersLiveOn(ctx context.Context, x *trial) {
	ending, other := x.pair(ctx)
	other.create(ctx, x.path("e"), "", drivers.Ephemeral)
	l := listen()
	other.get(ctx, x.path("e"), l.hear)
	ending.close()
	other.flush(ctx)
	x.expectCalls(l, "another session's watch")
	other.set(ctx, x.path("e"), "changed")
	x.hears(ctx, l, drivers.DataChanged, x.path("e"))
}

// A diary records the states that it gets as an Options.OnState.
type diary struct {
	mu     sync.Mutex
	states []drivers.State
	grown  chan struct{} // closed and replaced with every state
}

func newDiary() *diary { return &diary{grown: make(chan struct{})} }

func (d *diary) note(s drivers.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.states = append(d.states, s)
	close(d.grown)
	d.grown = make(chan struct{})
}

func (d *diary) read() ([]drivers.State, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.states), d.grown
}

// reads waits until the diary has the given number of states and returns them.
func (x *trial) reads(ctx context.Context, d *diary, n int, what string) []drivers.State {
	x.Helper()
	for {
		states, grown := d.read()
		if len(states) >= n {
			return states
		}
		x.await(ctx, grown, "OnState to get %s; so far %v", what, states)
	}
}

func expired(ctx context.Context, x *trial) {
	d := newDiary()
	c := x.dial(ctx, drivers.Options{OnState: d.note})
	c.create(ctx, x.path("e"), "", drivers.Ephemeral)
	x.expire(ctx, c)
	c.ended(ctx)
	for n := 1; ; n++ {
		states := x.reads(ctx, d, n, "the loss of the session")
		if last := states[len(states)-1]; last == drivers.SessionLost {
			break
		}
	}
	c.close()
	states, _ := d.read()
	if i := slices.Index(states, drivers.SessionLost); i != len(states)-1 {
		x.Errorf("OnState got %v, want nothing after the loss (%d)", states, drivers.SessionLost)
	}
}

func expiryTellsWatches(ctx context.Context, x *trial) {
	c := x.dial(ctx, drivers.Options{})
	all := c.armAll(ctx)
	x.expire(ctx, c)
	for _, l := range all {
		x.hears(ctx, l, drivers.Lost, x.base)
	}
	c.ended(ctx)
	c.close()
	for _, l := range all {
		x.expectCalls(l, "a watch of an expired session", drivers.Lost)
	}
}

func expiryRemoves(ctx context.Context, x *trial) {
	owner, onlooker := x.pair(ctx)
	var gone []*listener
	for i := range 5 {
		owner.create(ctx, x.path(fmt.Sprint(i)), "", drivers.Ephemeral)
		onlooker.sync(ctx)
		l := listen()
		onlooker.exists(ctx, x.path(fmt.Sprint(i)), l.hear)
		gone = append(gone, l)
	}
	owner.create(ctx, x.path("persistent"), "", 0)
	x.expire(ctx, owner)
	for i, l := range gone {
		x.hears(ctx, l, drivers.Deleted, x.path(fmt.Sprint(i)))
	}
	x.lists(onlooker.children(ctx, x.base, nil), "persistent")
}

func closedAfterExpiry(ctx context.Context, x *trial) {
	c, other := x.pair(ctx)
	c.create(ctx, x.path("e"), "", drivers.Ephemeral)
	x.expire(ctx, c)
	x.await(ctx, c.Done(), "Done of a session that expired")
	other.sync(ctx)
	other.create(ctx, x.path("e"), "", drivers.Ephemeral)
	c.close()
	c.close()
	c.ended(ctx)
	other.sync(ctx)
	if _, found := other.exists(ctx, x.path("e"), nil); !found {
		x.Error("closing an expired session removed a node of another session")
	}
}
