package costmodel

import "slices"

// barrierSim is one round of a double barrier.
type barrierSim struct {
	size  int
	ready int  // the number of the node ready
	full  bool // the data of the barrier's own node
	mine  []int
}

// barrierPart is what one client does, given its number.
type barrierPart func(h *barrierSim, client int, a *simClient, op func())

func doubleBarrierCast(enter, leave barrierPart) func(*world, int64) cast {
	return func(w *world, n int64) cast {
		w.next++
		h := &barrierSim{size: int(n), ready: w.next, mine: make([]int, n)}
		in, out := phase{parts: make([]part, n)}, phase{parts: make([]part, n), last: true}
		for i := range int(n) {
			in.parts[i] = func(a *simClient, op func()) { enter(h, i, a, op) }
			out.parts[i] = func(a *simClient, op func()) { leave(h, i, a, op) }
		}
		return cast{[]phase{in, out}, func(w *world) { w.strike(h.ready) }}
	}
}

// strike removes a node and fires the watches on it and on the children. Only the
// notifications are counted.
func (w *world) strike(node int) {
	before := w.counts
	w.remove(node)
	before.Notifications = w.counts.Notifications
	w.counts = before
}

// processes lists all nodes except ready, the lowest first.
func (h *barrierSim) processes(a *simClient) []int {
	return slices.DeleteFunc(a.world.list(), func(n int) bool { return n == h.ready })
}

func enterReady(h *barrierSim, client int, a *simClient, op func()) {
	op()
	a.world.counts.Reads++
	a.world.counts.WatchedExists++
	a.world.counts.WatchedMisses++
	ready := a.world.watchNode(a, h.ready)
	op()
	h.mine[client] = a.world.createNext()
	op()
	if len(h.processes(a)) < h.size {
		a.await(op, ready)
		return
	}
	op()
	a.world.create(h.ready)
}

func leaveReady(h *barrierSim, client int, a *simClient, op func()) {
	for mine, gone := h.mine[client], false; ; {
		op()
		left := h.processes(a)
		switch {
		case len(left) == 0:
			return
		case left[0] == mine && len(left) == 1:
			op()
			a.world.remove(mine)
			return
		case left[0] == mine:
			a.existsWatched(op, left[len(left)-1])
			continue
		case !gone:
			op()
			a.world.remove(mine)
			gone = true
		}
		a.existsWatched(op, left[0])
	}
}

func leaveSequential(h *barrierSim, client int, a *simClient, op func()) {
	for mine := h.mine[client]; ; {
		op()
		left := h.processes(a)
		i := slices.Index(left, mine)
		if i == 0 {
			op()
			a.world.remove(mine)
			return
		}
		a.existsWatched(op, left[i-1])
	}
}

// listWatched lists all nodes, with a watch.
func (a *simClient) listWatched(op func()) (nodes []int, changed *watch) {
	op()
	changed = &watch{owner: a}
	a.world.children = append(a.world.children, changed)
	return a.world.list(), changed
}

func enterChildrenWatch(h *barrierSim, client int, a *simClient, op func()) {
	op()
	h.mine[client] = a.world.createNext()
	for {
		inside, changed := a.listWatched(op)
		if len(inside) >= h.size {
			op()
			a.world.counts.Writes++
			h.full = true
			return
		}
		op()
		a.world.counts.Reads++
		if h.full {
			return
		}
		a.await(op, changed)
	}
}

func leaveChildrenWatch(h *barrierSim, client int, a *simClient, op func()) {
	op()
	a.world.remove(h.mine[client])
	for {
		left, changed := a.listWatched(op)
		if len(left) == 0 {
			return
		}
		a.await(op, changed)
	}
}
