package replica

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// TestWithdrawnRequests asks a member that the leader does not hear to take over the session of a client, and gives up.
// When the link works again, the session stays where its client is.
func TestWithdrawnRequests(t *testing.T) {
	simulateEach(t, giveUpAMove)
}

func giveUpAMove(w *world) {
	if w.oracle.counter < math.MaxUint32 {
		return // leaders hand over all the time
	}
	w.run(3 * time.Second)
	leader := w.leader()
	if leader == nil {
		return
	}
	unheard := w.nodes[leader.id%3]
	var c *simClient
	for _, x := range w.clients {
		if x.ready && x.conn.node != unheard {
			c = x
		}
	}
	if c == nil || !unheard.m.Serving() {
		return
	}
	w.cut[[2]uint64{unheard.id, leader.id}] = true
	line := unheard.m.NewLine()
	line.Move(tree.Txn{Session: c.session, Opening: tree.Opening{Timeout: simTimeout, Password: c.password}}, func(*Applied) {})
	unheard.pump()
	w.run(time.Second)
	line.Close()
	unheard.pump()
	w.run(time.Second)
	w.heal()
	for range 500 { // the client moves the session back when it notices
		w.after(10*time.Millisecond, func() {})
		w.run(10 * time.Millisecond)
		owner, open := leader.m.state.Owner(c.session)
		if open && owner.Member == unheard.id && (c.conn == nil || c.conn.node != unheard) {
			w.fail("member %d has taken over session %x, whose client had given it up", unheard.id, c.session)
		}
	}
}

// TestLongEntriesAreRefused asks for a write whose entry no connection between members would take.
func TestLongEntriesAreRefused(t *testing.T) {
	_, wrong := simulateWith(8, func(w *world) {
		w.run(2 * time.Second)
		leader := w.leader()
		leader.m.proposals.limit = 10_000
		var c *simClient
		for _, x := range w.clients {
			if x.ready && x.conn.node == leader {
				c = x
			}
		}
		if c == nil {
			w.fail("no client at the leader")
		}
		var got []wire.Err
		for _, n := range []int{9_000, 11_000, 100} {
			x := tree.Txn{Session: c.session, Op: tree.Op{Kind: tree.SetData, Path: "/", Data: make([]byte, n), Version: -1}}
			c.conn.line.Write(x, func(a *Applied) { got = append(got, a.Result.Err) })
		}
		leader.pump()
		w.run(time.Second)
		if want := []wire.Err{wire.OK, wire.ErrMarshalling, wire.OK}; !slices.Equal(got, want) {
			w.fail("the results are %v, want %v", got, want)
		}
	})
	if wrong != nil {
		t.Error(wrong)
	}
}
