package cost

import "github.com/stampede-bench/stampede/metrics"

// The settled cost of a queue is that of M items in the queue, which the first
// client takes one at a time, and then of the N−1 others, who come one at a time
// to the empty queue and wait, while the first client puts an item for each of
// them, one at a time. That the M items were put is not in it.

// queueCachedList: one list serves for all M items, and the first deletion fires
// its watch.
func queueCachedList(p Params) Expected {
	if p.Items == 0 {
		return queueRelist(p)
	}
	return queueHerd(p, Term{"1", 1}, Term{"1+M", 1 + p.Items})
}

// queueRelist: each item is listed for, and each deletion fires that list's
// watch. A list that its own deletion makes invalid costs the same.
func queueRelist(p Params) Expected {
	return queueHerd(p, Term{"M", p.Items}, Term{"2M", 2 * p.Items})
}

// queueHerd is the cost where all who wait watch the queue, given what it costs
// to take the M items. When the item comes for which k wait, all k are woken and
// list, and between 1 and k of them list before the fastest deletes it. The
// deletion fires the watch of each of these, and all of them but the fastest list
// once more, having failed to read the item, or to delete it.
func queueHerd(p Params, notifications, reads Term) Expected {
	n, m := p.Clients, p.Items
	largest := Term{"max(1, N−1)", max(1, n-1)}
	if m == 0 {
		largest = Term{"N−1", n - 1}
	}
	return Expected{
		Notifications: notifications.plus("(N−1)(N+2)/2", (n-1)*(n+2)/2),
		Reads:         reads.plus("(N−1)(N+4)/2", (n-1)*(n+4)/2),
		Writes:        Term{"M+2(N−1)", m + 2*(n-1)},
		FailedWrites:  Term{"0", 0},
		LargestFanout: largest,
		Most: &Expected{
			Notifications: notifications.plus("N(N−1)", n*(n-1)),
			Reads:         reads.plus("3N(N−1)/2", 3*n*(n-1)/2),
			Writes:        Term{"M+(N−1)(N+2)/2", m + (n-1)*(n+2)/2},
			FailedWrites:  Term{"(N−1)(N−2)/2", (n - 1) * (n - 2) / 2},
			LargestFanout: largest,
		},
	}
}

func (t Term) plus(formula string, value int64) Term {
	return Term{t.Formula + "+" + formula, t.Value + value}
}

// queueOneWatcher: a take is a turn of the lock with three reads, of the line,
// of the queue and of the item, and three writes. Of those who wait one watches
// the queue, having listed it twice, and the others each other; when the item
// comes that one takes it, and the next in line looks at the line and twice at
// the queue.
func queueOneWatcher(p Params) Expected {
	n, m := p.Clients, p.Items
	return Expected{
		Notifications: Term{"max(0, 2N−3)", max(0, 2*n-3)},
		Reads:         Term{"3M+max(0, 7N−9)", 3*m + max(0, 7*n-9)},
		Writes:        Term{"3M+4(N−1)", 3*m + 4*(n-1)},
		FailedWrites:  Term{"0", 0},
		LargestFanout: Term{"min(1, N−1)", min(1, n-1)},
	}
}

// queueIdentities hold for whole rounds: an item put and taken.
func queueIdentities() []Identity {
	return []Identity{
		equal("writes = 2N + failed", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Writes, 2*n + c.FailedWrites
		}),
		atMost("notifications ≤ lists", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.Notifications, c.Lists
		}),
		atMost("N + failed ≤ gets", func(c metrics.Counts, n int64) (int64, int64) {
			return n + c.FailedWrites, c.Reads - c.Lists
		}),
	}
}

// queueRelistIdentities: each read of an item needs a list of its own. That is
// not so where a list serves until a notification: on etcd that may come after
// the reply that shows the change, and then the list has served once more.
func queueRelistIdentities() []Identity {
	return append(queueIdentities(), atMost("gets ≤ lists", func(c metrics.Counts, _ int64) (int64, int64) {
		return c.Reads - c.Lists, c.Lists
	}))
}

// queueOneWatcherIdentities: a round is a put and a turn of the lock. Lists are
// N + K of the line, and of the queue one per item and two per wait.
func queueOneWatcherIdentities() []Identity {
	return []Identity{
		equal("writes = 4N", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Writes, 4 * n
		}),
		equal("failed writes = 0", func(c metrics.Counts, _ int64) (int64, int64) {
			return c.FailedWrites, 0
		}),
		equal("reads = lists + K + N", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Reads, c.Lists + c.WatchedExists + n
		}),
		atMost("2N + K ≤ lists", func(c metrics.Counts, n int64) (int64, int64) {
			return 2*n + c.WatchedExists, c.Lists
		}),
		atMost("notifications ≤ lists − 2N", func(c metrics.Counts, n int64) (int64, int64) {
			return c.Notifications, c.Lists - 2*n
		}),
	}
}
