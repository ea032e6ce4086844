package recipetest

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

func lockSessions() []lockCase {
	return []lockCase{
		{"the holder's session is closed", whyHolderLost, holderCloses},
		{"the holder's session expires", whyHolderLost, holderExpires},
		{"the session of the next in line is lost", whyWaiterLost, waiterCloses(1)},
		{"the session of one in the middle is lost", whyWaiterLost, waiterCloses(2)},
		{"the session of the last in line is lost", whyWaiterLost, waiterCloses(4)},
	}
}

const (
	whyHolderLost = "When the holder's session is lost, the next client gets the lock, and the holder learns it: its held context ends with cause ErrSessionLost. Its later Release does not affect the new holder."
	whyWaiterLost = "A waiting client whose session is lost fails with ErrSessionLost. The others get the lock in order."
)

func holderCloses(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 3)
	line[0].close()
	x.succeeds(ctx, line)
}

// holderExpires loses all replies to the holder, so that the service expires its session
// while the client believes that it holds the lock.
func holderExpires(ctx context.Context, x *lockTrial) {
	holder := x.clientWith(ctx, drivers.Options{SessionTimeout: time.Second})
	holder.ask(ctx)
	holder.granted(ctx)
	line := []*lockClient{holder, x.client(ctx), x.client(ctx)}
	for _, c := range line[1:] {
		c.ask(ctx)
		x.rest(ctx)
	}
	holder.lose(func(drivers.Message) bool { return true })
	x.succeeds(ctx, line)
}

// succeeds checks that the first in line is deposed, and then serves the others.
func (x *lockTrial) succeeds(ctx context.Context, line []*lockClient) {
	x.Helper()
	loser, others := line[0], line[1:]
	loser.deposed(ctx)
	x.guard.leave(loser)
	x.handsOver(ctx, others)
	x.holder(ctx, others)
	if err := loser.lock.Release(ctx); err == nil && x.form.Library == nil {
		x.Errorf("Release of a holder with a lost session returned no error")
	}
	x.settle(ctx)
	x.expectNodes(ctx, len(others))
	x.serve(ctx, others)
}

// handsOver waits until the service has noticed that the holder is lost and one of the others
// has the lock.
func (x *lockTrial) handsOver(ctx context.Context, others []*lockClient) {
	x.Helper()
	for !slices.ContainsFunc(others, (*lockClient).holds) {
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			x.Fatalf("no client gets the lock: %v", err)
		}
		x.settle(ctx)
	}
}

func waiterCloses(place int) func(context.Context, *lockTrial) {
	return func(ctx context.Context, x *lockTrial) {
		line := x.line(ctx, 5)
		line[place].close()
		x.settle(ctx)
		line[place].acquire.fails(ctx, drivers.ErrSessionLost)
		x.expectNodes(ctx, 4)
		x.serve(ctx, slices.Delete(line, place, place+1))
	}
}

func lockCancellation() []lockCase {
	return []lockCase{
		{"the next in line cancels", whyCanceled, waiterCancels(1)},
		{"one in the middle cancels", whyCanceled, waiterCancels(2)},
		{"the last in line cancels", whyCanceled, waiterCancels(4)},
		{"all waiting clients cancel",
			"When all waiting clients have canceled, the holder can release the lock, and the next client can acquire it.",
			allCancel},
		{"canceled before the call",
			"An Acquire whose context has ended fails and creates no node.",
			canceledBefore},
	}
}

const whyCanceled = "A waiting client that cancels removes its node and returns the cause. The clients behind it, or that wait for the same node, still get the lock, in order."

// waiterCancels has one client in a queue of five cancel its Acquire.
func waiterCancels(place int) func(context.Context, *lockTrial) {
	return func(ctx context.Context, x *lockTrial) {
		line := x.line(ctx, 5)
		line[place].acquire.isCanceled(ctx)
		x.settle(ctx)
		x.expectNodes(ctx, 4)
		x.serve(ctx, slices.Delete(line, place, place+1))
	}
}

func allCancel(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 4)
	for _, c := range line[1:] {
		c.acquire.isCanceled(ctx)
	}
	x.settle(ctx)
	x.expectNodes(ctx, 1)
	line[0].release(ctx)
	x.expectNodes(ctx, 0)
	line[2].ask(ctx)
	line[2].granted(ctx)
	line[2].release(ctx)
}

func canceledBefore(ctx context.Context, x *lockTrial) {
	line := x.line(ctx, 1)
	c := x.client(ctx)
	ended, cancel := context.WithCancelCause(ctx)
	cancel(errCanceled)
	c.ask(ended)
	c.acquire.fails(ctx, errCanceled)
	x.expectNodes(ctx, 1)
	x.serve(ctx, line)
}

func lockReplies() []lockCase {
	return []lockCase{
		{"200 replies to creates are lost",
			"The service created the node, the reply was lost, and the session is still alive. A client that creates a node again without looking for its GUID leaves an orphan, and all others wait forever.",
			createsLost},
		{"canceled during the create",
			"A caller may cancel while its create is in flight. The outcome is unknown then; if the node was created, it must be removed.",
			canceledDuringCreate},
		{"replies to deletes are lost",
			"The service deleted the node, and the holder does not know it. It must find out without an error, and without deleting a node that another client has created since.",
			deletesLost},
		{"replies to reads are lost",
			"A read without a reply is sent again.",
			readsLost},
		{"any replies are lost",
			"Sessions survive broken connections, so the lock is safe and makes progress, whichever replies are lost.",
			repliesLost},
	}
}

// createsLost loses the reply to the first create of every turn, and counts the nodes that
// the service created.
func createsLost(ctx context.Context, x *lockTrial) {
	const clients, turns = 10, 20
	var lost, made atomic.Int64
	x.compete(ctx, clients, turns, 0, func(*rand.Rand) func(drivers.Message) bool {
		fresh := true // no create of this turn has been answered yet
		return func(m drivers.Message) bool {
			switch {
			case m.Op == drivers.OpDelete && m.Err == nil:
				fresh = true
			case m.Op == drivers.OpCreate:
				made.Add(one(m.Err == nil))
				if fresh {
					fresh = false
					lost.Add(1)
					return true
				}
			}
			return false
		}
	})
	if lost.Load() != clients*turns {
		x.Errorf("%d replies to creates were lost, want %d", lost.Load(), clients*turns)
	}
	if want := clients * turns * (1 + int64(x.form.HolderNodes)); made.Load() != want {
		x.Errorf("%d turns made %d nodes, want %d", clients*turns, made.Load(), want)
	}
}

// deletesLost has a few clients lose the reply to every delete that removed a node.
func deletesLost(ctx context.Context, x *lockTrial) {
	const clients, turns = 4, 10
	var lost atomic.Int64
	x.compete(ctx, clients, turns, 0, func(*rand.Rand) func(drivers.Message) bool {
		return func(m drivers.Message) bool {
			lose := m.Op == drivers.OpDelete && m.Err == nil
			lost.Add(one(lose))
			return lose
		}
	})
	if want := clients * turns * (1 + int64(x.form.HolderNodes)); lost.Load() != want {
		x.Errorf("%d turns lost the replies of %d deletes that removed something, want %d", clients*turns, lost.Load(), want)
	}
}

// readsLost loses every second reply to a read.
func readsLost(ctx context.Context, x *lockTrial) {
	var lost atomic.Int64
	x.compete(ctx, 4, 10, 0, func(*rand.Rand) func(drivers.Message) bool {
		odd := false
		return func(m drivers.Message) bool {
			if !m.Op.IsRead() {
				return false
			}
			odd = !odd
			lost.Add(one(odd))
			return odd
		}
	})
	if lost.Load() == 0 {
		x.Skipf("the form makes no reads")
	}
}

// repliesLost loses one reply in five.
func repliesLost(ctx context.Context, x *lockTrial) {
	for seed := range x.seeds() {
		x.compete(ctx, 4, 10, seed, oneInFive)
		x.expectNodes(ctx, 0)
		x.closeClients()
	}
}

// oneInFive loses one reply in five, of reads and writes.
func oneInFive(rng *rand.Rand) func(drivers.Message) bool {
	dice := rand.New(rand.NewPCG(rng.Uint64(), 0))
	return func(m drivers.Message) bool {
		return (m.Op.IsRead() || m.Op.IsWrite()) && dice.IntN(5) == 0
	}
}

// canceledDuringCreate cancels the context when the reply to the create has reached the
// client, and loses the reply there. A form that sends no create while the lock is held is
// canceled during its first read there.
func canceledDuringCreate(ctx context.Context, x *lockTrial) {
	for _, held := range []bool{false, true} {
		line := x.line(ctx, 1)
		if !held {
			x.serve(ctx, line)
		}
		c := x.client(ctx)
		canceled, cancel := context.WithCancelCause(ctx)
		c.lose(func(m drivers.Message) bool {
			if m.Op != drivers.OpCreate && !(held && x.form.ReadsFirst && m.Op.IsRead()) {
				return false
			}
			cancel(errCanceled)
			return true
		})
		c.ask(canceled)
		c.acquire.fails(ctx, errCanceled)
		if held {
			x.expectNodes(ctx, 1)
			x.serve(ctx, line)
		}
		x.expectNodes(ctx, 0)
	}
}
