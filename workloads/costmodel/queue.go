package costmodel

import "github.com/stampede-bench/stampede/metrics"

// The settled cost of a queue has two parts. The first client takes M items from the
// queue, one at a time. Then the other N−1 clients arrive at the empty queue, one at a
// time, and wait, and the first client puts an item for each of them, one at a time.
// The cost does not include putting the M items.

// queueCachedList returns the cost of queue/cached-list: one list serves for all M items,
// and the first deletion fires its watch.
func queueCachedList(p Params) Expected {
	if p.Items == 0 {
		return queueRelist(p)
	}
	return queueHerd(p, Term{"1", 1}, Term{"1+M", 1 + p.Items})
}

// queueRelist returns the cost of queue/relist: a consumer lists for each item, and each
// deletion fires that list's watch. It is also the cost of priority-queue/invalidate,
// where a consumer's own deletion invalidates its list.
func queueRelist(p Params) Expected {
	return queueHerd(p, Term{"M", p.Items}, Term{"2M", 2 * p.Items})
}

// queueHerd returns the cost of forms in which all waiting consumers watch the queue; its
// arguments are the cost of taking the M items. When an item arrives while k consumers
// wait, all k are woken and list. Between 1 and k of them list before the fastest deletes
// the item. The deletion fires the watch of each of these. All of them but the fastest
// fail to read the item, or to delete it, and list once more.
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

// queueOneWatcher returns the cost of the one-watcher forms. A take is a turn of the lock,
// with three reads (of the line, the queue and the item) and three writes. One waiting
// consumer watches the queue, after listing it twice; each of the others watches the one
// ahead. When an item arrives, the first takes it, and the next in line lists the line
// once and the queue twice.
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

// queueIdentities hold for whole rounds; a round is an item put and taken.
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

// queueRelistIdentities add that each read of an item needs a list of its own. This does
// not hold where a list serves until a notification: on etcd, the notification may arrive
// after the reply that shows the change, so the list serves once more.
func queueRelistIdentities() []Identity {
	return append(queueIdentities(), atMost("gets ≤ lists", func(c metrics.Counts, _ int64) (int64, int64) {
		return c.Reads - c.Lists, c.Lists
	}))
}

// queueOneWatcherIdentities hold for rounds of one put and one turn of the lock. Clients
// list the line N + K times, and the queue once per item and twice per wait.
func queueOneWatcherIdentities() []Identity {
	return []Identity{
		writesPerRound("writes = 4N", 4),
		noFailedWrites("failed writes = 0"),
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
