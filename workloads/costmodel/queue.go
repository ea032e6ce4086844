package costmodel

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
	return queueHerd(p, "1", "1+M")
}

// queueRelist returns the cost of queue/relist: a consumer lists for each item, and each
// deletion fires that list's watch. It is also the cost of priority-queue/invalidate,
// where a consumer's own deletion invalidates its list.
func queueRelist(p Params) Expected {
	return queueHerd(p, "M", "2M")
}

// queueHerd returns the cost of forms in which all waiting consumers watch the queue; its
// arguments are the cost of taking the M items. When an item arrives while k consumers
// wait, all k are woken and list. Between 1 and k of them list before the fastest deletes
// the item. The deletion fires the watch of each of these. All of them but the fastest
// fail to read the item, or to delete it, and list once more.
func queueHerd(p Params, notifications, reads string) Expected {
	largest := "max(1, N−1)"
	if p.Items == 0 {
		largest = "N−1"
	}
	e := p.expected(notifications+"+(N−1)(N+2)/2", reads+"+(N−1)(N+4)/2", "M+2(N−1)", "0", largest)
	most := p.expected(notifications+"+N(N−1)", reads+"+3N(N−1)/2", "M+(N−1)(N+2)/2", "(N−1)(N−2)/2", largest)
	e.Most = &most
	return e
}

// queueOneWatcher returns the cost of the one-watcher forms. A take is a turn of the lock,
// with three reads (of the line, the queue and the item) and three writes. One waiting
// consumer watches the queue, after listing it twice; each of the others watches the one
// ahead. When an item arrives, the first takes it, and the next in line lists the line
// once and the queue twice.
func queueOneWatcher(p Params) Expected {
	return p.expected("max(0, 2N−3)", "3M+max(0, 7N−9)", "3M+4(N−1)", "0", "min(1, N−1)")
}

// queueIdentities hold for whole rounds; a round is an item put and taken.
func queueIdentities() []Identity {
	return []Identity{
		{"writes = 2N + failed"},
		{"notifications ≤ lists"},
		{"N + failed ≤ reads − lists"},
	}
}

// queueRelistIdentities add that each read of an item needs a list of its own. This does
// not hold where a list serves until a notification: on etcd, the notification may arrive
// after the reply that shows the change, so the list serves once more.
func queueRelistIdentities() []Identity {
	return append(queueIdentities(), Identity{"reads − lists ≤ lists"})
}

// queueOneWatcherIdentities hold for rounds of one put and one turn of the lock. Clients
// list the line N + K times, and the queue once per item and twice per wait.
func queueOneWatcherIdentities() []Identity {
	return []Identity{
		{"writes = 4N"},
		{"failed writes = 0"},
		{"reads = lists + K + N"},
		{"2N + K ≤ lists"},
		{"notifications ≤ lists − 2N"},
	}
}
