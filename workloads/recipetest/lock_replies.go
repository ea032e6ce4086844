package recipetest

import (
	"context"
	"math/rand/v2"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers"
)

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
