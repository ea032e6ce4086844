package drivertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

func probe() []testCase {
	return []testCase{
		{"requests", "a Probe sees one request for each call, with its Op and arguments: reads and writes are counted only there", probeRequests},
		{"replies", "a Probe sees one reply for each request, in the same order, with its error as a sentinel: failed writes and watched misses are counted there", probeReplies},
		{"notifications", "a Probe sees each notification, with its path and change, before the watch is called: notifications are counted there", probeNotifications},
		{"positions", "the positions of one session's replies do not decrease; those of writes increase and equal the Stat's: a notification is attributed to its write by them", probePositions},
		{"sizes", "sizes are those of the packets, so they grow with the data: bytes are counted there", probeSizes},
		{"open and close", "a Probe sees the session open and close, which are counted separately", probeOpenClose},
		{"cut", "a Probe sees each break of the connection once: open requests will not be answered", probeCut},
		{"flush proves", "when Flush returns nil, every notification for a write that was acknowledged before has been passed to its watch: this proves that a run is at rest", flushProves},
	}
}

// An exchange is a call of the contract as it should be seen on the wire.
type exchange struct {
	op    drivers.Op
	path  string // requested
	made  string // created, if the call creates
	mode  drivers.Mode
	watch bool
	err   error
}

// script makes calls of every kind and returns how they should look on the wire. It ends
// with a flush, which should not be among them.
func script(ctx context.Context, c *client) []exchange {
	x := c.x
	a, e, none := x.path("a"), x.path("e-"), x.path("none")
	deaf := func(drivers.Event) {}
	must := func(what string, err, want error) { x.Helper(); x.wants(what, err, want) }

	c.create(ctx, a, "data", 0)
	made := x.path(c.create(ctx, e, "", drivers.Ephemeral|drivers.Sequential).Name)
	c.get(ctx, a, nil)
	c.get(ctx, a, deaf)
	c.exists(ctx, a, nil)
	c.exists(ctx, none, deaf)
	c.children(ctx, x.base, nil)
	c.children(ctx, x.base, deaf)
	c.set(ctx, a, "more")
	_, err := c.Create(ctx, a, nil, drivers.Ephemeral)
	must("create of what exists", err, drivers.ErrNodeExists)
	_, err = c.Create(ctx, made+"/child", nil, 0)
	must("create below an ephemeral node", err, drivers.ErrNoChildrenForEphemerals)
	_, _, err = c.Get(ctx, none, nil)
	must("get of a missing node", err, drivers.ErrNoNode)
	_, err = c.Set(ctx, a, nil, 7)
	must("set of a wrong version", err, drivers.ErrBadVersion)
	must("delete of a node with children", c.Delete(ctx, x.base, drivers.AnyVersion), drivers.ErrNotEmpty)
	c.sync(ctx)
	c.remove(ctx, a)
	c.flush(ctx)

	return []exchange{
		{op: drivers.OpCreate, path: a, made: a},
		{op: drivers.OpCreate, path: e, made: made, mode: drivers.Ephemeral | drivers.Sequential},
		{op: drivers.OpGet, path: a},
		{op: drivers.OpGet, path: a, watch: true},
		{op: drivers.OpExists, path: a},
		{op: drivers.OpExists, path: none, watch: true, err: drivers.ErrNoNode},
		{op: drivers.OpChildren, path: x.base},
		{op: drivers.OpChildren, path: x.base, watch: true},
		{op: drivers.OpSet, path: a},
		{op: drivers.OpCreate, path: a, mode: drivers.Ephemeral, err: drivers.ErrNodeExists},
		{op: drivers.OpCreate, path: made + "/child", err: drivers.ErrNoChildrenForEphemerals},
		{op: drivers.OpGet, path: none, err: drivers.ErrNoNode},
		{op: drivers.OpSet, path: a, err: drivers.ErrBadVersion},
		{op: drivers.OpDelete, path: x.base, err: drivers.ErrNotEmpty},
		{op: drivers.OpSync, path: x.base},
		{op: drivers.OpDelete, path: a},
	}
}

// contractual reports whether a message belongs to a call that counts. It does not if it
// opens, closes or keeps alive the session or belongs to a flush; a driver may send such
// messages by itself.
func contractual(m drivers.Message) bool {
	return m.Op.IsRead() || m.Op.IsWrite() || m.Op == drivers.OpSync
}

// askedBy reports whether the message is the request. The server may know the node by a
// longer path.
func (e exchange) askedBy(m drivers.Message) bool {
	return m.Kind == drivers.Request && m.Op == e.op && m.Mode == e.mode && m.Watch == e.watch && m.Size > 0 &&
		strings.HasSuffix(string(m.Path), e.path)
}

// repliedBy reports whether the message is the reply. Replies to reads that arm no watch
// may lack the path.
func (e exchange) repliedBy(m drivers.Message) bool {
	path := e.path
	if e.err == nil && e.op == drivers.OpCreate {
		path = e.made
	}
	pathless := len(m.Path) == 0 && !e.watch && !e.op.IsWrite()
	return m.Kind == drivers.Reply && m.Op == e.op && m.Size > 0 && m.Err == e.err &&
		(pathless || strings.HasSuffix(string(m.Path), path))
}

// saw fails the case if the messages are not those of the exchanges.
func (x *trial) saw(who string, messages []drivers.Message, want []exchange, matches func(exchange, drivers.Message) bool) {
	x.Helper()
	if len(messages) != len(want) {
		x.Errorf("%s saw %d messages for %d calls", who, len(messages), len(want))
	}
	for i := range min(len(messages), len(want)) {
		if m := messages[i]; !matches(want[i], m) {
			x.Fatalf("%s saw as number %d %+v with the path %s, want what belongs to %+v", who, i+1, m, m.Path, want[i])
		}
	}
}

func probeRequests(ctx context.Context, x *trial) {
	t := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: t})
	want := script(ctx, c)
	x.saw("the probe", t.all(func(m drivers.Message) bool { return m.Kind == drivers.Request && contractual(m) }), want, exchange.askedBy)
}

func probeReplies(ctx context.Context, x *trial) {
	t := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: t})
	want := script(ctx, c)
	x.saw("the probe", t.all(func(m drivers.Message) bool { return m.Kind == drivers.Reply && contractual(m) }), want, exchange.repliedBy)
}

func probeNotifications(ctx context.Context, x *trial) {
	t := newRecording()
	writer := x.dial(ctx, drivers.Options{})
	watcher := x.dial(ctx, drivers.Options{Probe: t})
	seen := ofKind(drivers.Notification)
	var told, wanted []drivers.EventType
	watch := func(path string, by func(context.Context, *client, string, drivers.Watch), do func(context.Context, *client, string), want drivers.EventType) {
		before := len(t.all(seen))
		l := listen()
		watcher.sync(ctx)
		by(ctx, watcher, path, func(e drivers.Event) {
			if len(t.all(seen)) == before {
				x.Errorf("the watch on %s was called before the probe saw a notification", path)
			}
			l.hear(e)
		})
		do(ctx, writer, path)
		x.hears(ctx, l, want, path)
		watcher.flush(ctx)
		for _, m := range t.all(seen)[before:] {
			if !strings.HasSuffix(string(m.Path), path) || m.Size <= 0 {
				x.Errorf("a notification of %s is %+v with the path %s", path, m, m.Path)
			}
			told = append(told, m.Event)
		}
		wanted = append(wanted, want)
	}
	watch(x.path("a"), byExists, create, drivers.Created)
	watch(x.path("a"), byGet, set, drivers.DataChanged)
	watch(x.path("a"), byList, belowChild(create), drivers.ChildrenChanged)
	watch(x.path("a"), byList, belowChild(remove), drivers.ChildrenChanged)
	watch(x.path("a"), byGet, remove, drivers.Deleted)
	if !slices.Equal(told, wanted) {
		x.Errorf("the probe saw the notifications %v, want %v", told, wanted)
	}
}

func probePositions(ctx context.Context, x *trial) {
	t := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: t})
	other := x.dial(ctx, drivers.Options{})
	c.create(ctx, x.path("a"), "", 0)
	var modified []int64
	for range 5 {
		modified = append(modified, c.set(ctx, x.path("a"), "").Modified)
		c.get(ctx, x.path("a"), nil)
		other.create(ctx, x.path("n-"), "", drivers.Sequential)
		c.children(ctx, x.base, nil)
	}
	var last, lastWrite int64
	var sets []int64
	for _, m := range t.all(func(m drivers.Message) bool { return m.Kind == drivers.Reply && (m.Op.IsRead() || m.Op.IsWrite()) }) {
		if m.Pos < last || m.Op.IsWrite() && m.Pos <= lastWrite {
			x.Errorf("the reply to %v has position %d after %d, the last write's was %d", m.Op, m.Pos, last, lastWrite)
		}
		last = m.Pos
		if m.Op.IsWrite() {
			lastWrite = m.Pos
		}
		if m.Op == drivers.OpSet {
			sets = append(sets, m.Pos)
		}
	}
	if !slices.Equal(sets, modified) {
		x.Errorf("the probe saw the sets at %v, their stats tell %v", sets, modified)
	}
}

func probeSizes(ctx context.Context, x *trial) {
	t := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: t})
	small, large := strings.Repeat("s", 1000), strings.Repeat("l", 2000)
	for _, data := range []string{small, large} {
		if _, err := c.Set(ctx, x.base, []byte(data), drivers.AnyVersion); err != nil {
			x.Fatalf("set: %v", err)
		}
		c.get(ctx, x.base, nil)
	}
	check := func(what string, m []drivers.Message) {
		if len(m) != 2 || m[0].Size < 1000 {
			x.Fatalf("the probe saw %s as %+v", what, m)
		}
		// Lengths, versions and positions may take a few bytes more.
		if more := m[1].Size - m[0].Size; more < 1000 || more > 1032 {
			x.Errorf("with 1000 bytes more %s has %d bytes more", what, more)
		}
	}
	check("the request of a set", t.all(requestOf(drivers.OpSet)))
	check("the reply to a get", t.all(replyTo(drivers.OpGet)))
}

func probeOpenClose(ctx context.Context, x *trial) {
	t := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: t})
	c.get(ctx, x.base, nil)
	c.close()
	var got []string
	for _, m := range t.all(func(m drivers.Message) bool {
		return contractual(m) || m.Op == drivers.OpOpen || m.Op == drivers.OpClose
	}) {
		got = append(got, fmt.Sprintf("%v %d", m.Op, m.Kind))
	}
	opened := []string{"open 1", "open 2", "get 1", "get 2", "close 1"}
	if !slices.Equal(got, opened) && !slices.Equal(got, append(opened, "close 2")) {
		x.Errorf("the probe saw %q (1 request, 2 reply), want %q and perhaps the reply to close", got, opened)
	}
}

func probeCut(ctx context.Context, x *trial) {
	t := newRecording()
	c := x.dial(ctx, drivers.Options{Probe: t, LoseReply: x.losing(drivers.OpGet).ask})
	_, _, err := c.Get(ctx, x.base, nil)
	x.wants("the read whose reply was lost", err, drivers.ErrConnectionLoss)
	c.get(ctx, x.base, nil)
	var got []drivers.MessageKind
	for _, m := range t.all(func(m drivers.Message) bool { return m.Op == drivers.OpGet || m.Kind == drivers.Cut }) {
		got = append(got, m.Kind)
	}
	// The probe may or may not have seen the lost reply: it was on the wire.
	got = slices.Compact(slices.DeleteFunc(got, func(k drivers.MessageKind) bool { return k == drivers.Reply }))
	if want := []drivers.MessageKind{drivers.Request, drivers.Cut, drivers.Request}; !slices.Equal(got, want) {
		x.Errorf("the probe saw %v, want %v: a request, the cut, a request", got, want)
	}
}

func flushProves(ctx context.Context, x *trial) {
	writer, watcher := x.pair(ctx)
	for i := range 200 {
		path := x.path(fmt.Sprint(i))
		presence, children := listen(), listen()
		watcher.exists(ctx, path, presence.hear)
		watcher.children(ctx, x.base, children.hear)
		writer.create(ctx, path, "", 0)
		watcher.flush(ctx)
		x.expectCalls(presence, "exists, when the flush after the creation has returned", drivers.Created)
		x.expectCalls(children, "children, when the flush after the creation has returned", drivers.ChildrenChanged)
	}
	ended, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("given up"))
	if err := watcher.Conn.(drivers.Flusher).Flush(ended); err == nil {
		x.Error("a flush whose context has ended proved something")
	}
}
