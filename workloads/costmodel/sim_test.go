package costmodel

import (
	"slices"

	"github.com/stampede-bench/stampede/metrics"
)

// world simulates a service that only counts: it has numbered nodes and one-shot watches.
// Its simClients take one operation at a time, in the order that the test chooses.
type world struct {
	counts   metrics.Counts
	largest  int64
	next     int // the number of the next sequential node
	rounds   int // casts so far, for simulations that depend on it
	nodes    []int
	readers  map[int]bool     // the nodes of readers
	watches  map[int][]*watch // by node
	children []*watch
}

type watch struct {
	owner  *simClient
	fired  bool
	notify func(node int) // if set, called when the watch fires
}

// markNode is the node of an acknowledgement. It sorts after all nodes in line.
const markNode = 1 << 30

// simClient is one client of a lock, shared or not. Its program simulates the form: one call
// is one operation.
type simClient struct {
	world   *world
	program func(*simClient)
	step    int
	mine    int // its node
	ahead   int
	reads   bool // wants the lock for reading
	first   int
	marked  bool   // has created markNode as well
	waiting *watch // the watch that it is parked on, or nil if it is not parked
	paused  bool   // parked until a tick
	holds   bool
	turns   int64
}

func (a *simClient) runnable() bool { return a.waiting == nil && !a.paused }

// release releases the lock and returns to the start of the next turn.
func (a *simClient) release() {
	if a.marked {
		a.world.remove(markNode)
		a.marked = false
	}
	a.world.remove(a.mine)
	a.holds, a.step = false, 0
	a.turns++
}

func (w *world) create(node int) bool {
	w.counts.Writes++
	if slices.Contains(w.nodes, node) {
		w.counts.FailedWrites++
		return false
	}
	w.nodes = append(w.nodes, node)
	w.fire(node)
	return true
}

func (w *world) createNext() int {
	w.next++
	w.create(w.next)
	return w.next
}

func (w *world) remove(node int) {
	w.counts.Writes++
	w.nodes = slices.DeleteFunc(w.nodes, func(n int) bool { return n == node })
	w.fire(node)
}

// fire fires the watches on the node and those on all children, and wakes their owners.
func (w *world) fire(node int) {
	fired := slices.Concat(w.watches[node], w.children)
	delete(w.watches, node)
	w.children = nil
	for _, f := range fired {
		f.fired = true
		if f.notify != nil {
			f.notify(node)
		}
		if f.owner.waiting == f {
			f.owner.waiting = nil
		}
	}
	w.counts.Notifications += int64(len(fired))
	w.largest = max(w.largest, int64(len(fired)))
}

func (w *world) list() []int {
	w.counts.Reads++
	w.counts.Lists++
	return slices.Sorted(slices.Values(w.nodes))
}

func (w *world) watchNode(a *simClient, node int) *watch {
	nw := &watch{owner: a}
	w.watches[node] = append(w.watches[node], nw)
	return nw
}

// queueUp returns a program that creates a node and lists until waitsFor finds no client to
// wait for. After each list that finds one, otherwise runs.
func queueUp(watched bool, waitsFor func(a *simClient, ahead []int) (int, bool), otherwise func(*simClient)) func(*simClient) {
	return func(a *simClient) {
		switch a.step {
		case 0:
			a.mine, a.step = a.world.createNext(), 1
			a.world.readers[a.mine] = a.reads
		case 1:
			line := a.world.list()
			var w *watch
			if watched {
				w = &watch{owner: a}
				a.world.children = append(a.world.children, w)
			}
			ahead, waits := waitsFor(a, line[:slices.Index(line, a.mine)])
			if !waits {
				a.holds = true
				return
			}
			a.ahead, a.first, a.step, a.waiting = ahead, line[0], 2, w
		case 2:
			otherwise(a)
		}
	}
}

// next waits for the client right ahead.
func next(_ *simClient, ahead []int) (int, bool) {
	if len(ahead) == 0 {
		return 0, false
	}
	return ahead[len(ahead)-1], true
}

// nearest waits for the client right ahead; a reader waits for the nearest writer ahead.
func nearest(a *simClient, ahead []int) (int, bool) { return next(a, a.inTheWay(ahead)) }

// lowest waits for the client right ahead; a reader waits for the first writer.
func lowest(a *simClient, ahead []int) (int, bool) {
	if ahead = a.inTheWay(ahead); a.reads && len(ahead) > 0 {
		ahead = ahead[:1]
	}
	return next(a, ahead)
}

// inTheWay returns the clients ahead that cannot share the lock with a.
func (a *simClient) inTheWay(ahead []int) []int {
	return slices.DeleteFunc(ahead, func(node int) bool { return a.reads && a.world.readers[node] })
}

func predecessor(a *simClient) { await(a, a.ahead) }

func watchLeader(a *simClient) { await(a, a.first) }

// acknowledged extends a program: the holder creates one more node.
func acknowledged(program func(*simClient)) func(*simClient) {
	return func(a *simClient) {
		if a.step == 3 {
			a.marked = a.world.create(markNode)
			a.holds = true
			return
		}
		program(a)
		if a.holds {
			a.holds, a.step = false, 3
		}
	}
}

// await watches a node, and parks the simClient if the node exists.
func await(a *simClient, node int) {
	w := a.world
	w.counts.Reads++
	w.counts.WatchedExists++
	a.step = 1
	nw := w.watchNode(a, node)
	if slices.Contains(w.nodes, node) {
		a.waiting = nw
	} else {
		w.counts.WatchedMisses++
	}
}

// getPredecessor is predecessor with get, which arms no watch on a miss.
func getPredecessor(a *simClient) {
	w := a.world
	w.counts.Reads++
	w.counts.WatchedGets++
	a.step = 1
	if slices.Contains(w.nodes, a.ahead) {
		a.waiting = w.watchNode(a, a.ahead)
	} else {
		w.counts.MissedGets++
	}
}

func oneNode(a *simClient) {
	w := a.world
	if a.step == 0 {
		a.mine = 1
		if a.holds = w.create(a.mine); !a.holds {
			a.step = 1
		}
		return
	}
	a.step = 0
	w.counts.Reads++
	w.counts.WatchedExists++
	nw := w.watchNode(a, a.mine)
	if slices.Contains(w.nodes, a.mine) {
		a.waiting = nw
	} else {
		w.counts.WatchedMisses++
	}
}

// pollNode checks the node, and creates it in a second step, so that others can be faster.
func pollNode(a *simClient) {
	w := a.world
	a.mine = 1
	if a.step == 1 {
		a.holds, a.step = w.create(a.mine), 0
		a.paused = !a.holds
		return
	}
	w.counts.Reads++
	if slices.Contains(w.nodes, a.mine) {
		a.paused = true
	} else {
		a.step = 1
	}
}

// relist lists again immediately.
func relist(a *simClient) {
	a.step = 1
	a.program(a)
}

// pause parks the simClient until the next tick.
func pause(a *simClient) { a.step, a.paused = 1, true }

func programs() map[string]func(*simClient) {
	return map[string]func(*simClient){
		"lock/predecessor":    queueUp(false, next, predecessor),
		"lock/go-zookeeper":   queueUp(false, next, getPredecessor),
		"lock/one-node":       oneNode,
		"lock/children-watch": queueUp(true, next, relist),
		"lock/poll":           queueUp(false, next, pause),

		"shared-lock/nearest":        queueUp(false, nearest, predecessor),
		"shared-lock/children-watch": queueUp(true, nearest, relist),
		"shared-lock/lowest-write":   queueUp(false, lowest, predecessor),

		"election/predecessor":    queueUp(false, next, predecessor),
		"election/acknowledged":   acknowledged(queueUp(false, next, predecessor)),
		"election/watch-leader":   queueUp(false, next, watchLeader),
		"election/children-watch": queueUp(true, next, relist),
		"election/one-node":       oneNode,
		"election/poll":           pollNode,
	}
}

func newWorld(program func(*simClient), clients int64) (*world, []*simClient) {
	w := &world{readers: map[int]bool{}, watches: map[int][]*watch{}}
	simClients := make([]*simClient, clients)
	for i := range simClients {
		simClients[i] = &simClient{world: w, program: program}
	}
	return w, simClients
}
