package recipe

import (
	"context"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// A Mirror is one client's copy of the nodes below one node.
type Mirror interface {
	// Follow calls see with each node, and again whenever it observes that a node was set, created
	// or deleted, until the context ends or the session is lost. A node that was deleted has the
	// zero Stat.
	Follow(ctx context.Context, see func(name string, data []byte, stat drivers.Stat)) error
	// Create makes a node, Set changes its data and returns its version then, and Delete removes it.
	Create(ctx context.Context, name string, data []byte) error
	Set(ctx context.Context, name string, data []byte) (version int32, err error)
	Delete(ctx context.Context, name string) error
}

// Mirrors returns the workload constructor for a form of mirror: all clients keep a copy of a tree,
// and the first client changes one node repeatedly, each time when all copies equal the tree and it
// has thought. It sets one node, creates another and deletes that, in turn. open creates one client's
// copy of the nodes below a path, which is an existing node.
func Mirrors[S drivers.Conn, M Mirror](open func(c S, path string) M) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		return &mirrorWorkload{updating: newUpdating(s), open: openerOf[Mirror](open)}
	}
}

type mirrorWorkload struct {
	updating // each kind of change so often in a settled run
	open     opener[Mirror]
	names    []string // of the nodes that are set
	guest    string   // the node that is created and deleted
	copies   *check.Copies
}

// changesTopic is the name under which processes tell each other of changes of the tree.
const changesTopic = "changes"

func (w *mirrorWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.attach(base+"/mirror", clients)
	w.guest = "guest"
	for i := range costmodel.MirrorNodes {
		w.names = append(w.names, fmt.Sprintf("node-%d", i+1))
	}
	w.copies = check.NewCopies(clients, w.names, []string{w.guest}, w.recorded,
		func(change string) { w.exchange.Tell(changesTopic, change) })
	w.exchange.Handle(changesTopic, w.copies.Learn)
}

func (w *mirrorWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	if err := namespace.CreateNode(ctx, c, w.path, nil, 0); err != nil {
		return err
	}
	for _, name := range w.names {
		if err := namespace.CreateNode(ctx, c, w.path+"/"+name, check.NodeData(0, name), 0); err != nil {
			return err
		}
	}
	return nil
}

func (w *mirrorWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *mirrorWorkload) join(s *workloads.Slot) (*mirrorClient, error) {
	m, err := w.open(s.Conn, w.path)
	if err != nil {
		return nil, err
	}
	return &mirrorClient{mirrorWorkload: w, slot: s, mirror: m, own: w.copies.OpenCopy(s.Index)}, nil
}

func (w *mirrorWorkload) Verdict() metrics.Safety { return w.copies.Verdict() }

// Settle lets all clients follow, one at a time, and then makes the changes.
func (w *mirrorWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients, err := joinAll(st, w.join, func(c *mirrorClient) error { return st.Do(ctx, c.slot.Index, "follows", "", c.follow) })
	if err != nil {
		return err
	}
	w.copies.CheckAll()
	for number := range kinds * w.updateCount {
		kind, name := w.changeBy(number + 1)
		change := func(ctx context.Context) error { return clients[0].change(ctx, nil, number+1, time.Now()) }
		if err := st.Do(ctx, 0, [...]string{sets: "sets ", creates: "creates ", deletes: "deletes "}[kind]+name, "", change); err != nil {
			return err
		}
		w.copies.CheckAll()
	}
	return nil
}

// The kinds of changes, in the order in which they are made.
const (
	sets = iota
	creates
	deletes
	kinds
)

// changeBy returns the kind of a change, and the name of the node.
func (w *mirrorWorkload) changeBy(number int64) (kind int, name string) {
	if kind = int((number - 1) % kinds); kind != sets {
		return kind, w.guest
	}
	return kind, w.names[(number-1)/kinds%int64(len(w.names))]
}

// A mirrorClient is one client that keeps a copy. The client of the first slot also changes the tree.
type mirrorClient struct {
	*mirrorWorkload
	slot      *workloads.Slot
	mirror    Mirror
	own       *check.Copy
	following bool
}

// Turn observes one change. The first client also makes it.
func (c *mirrorClient) Turn(ctx context.Context) (rounds int64, err error) {
	if !c.following {
		c.following = true
		go c.follow(ctx) // until the session is lost or the run ends
	}
	if _, err := c.copies.Await(ctx, c.own); err != nil {
		return 0, fmt.Errorf("follow: %w", err)
	}
	before := c.slot.Disturbances()
	s, err := c.begin(ctx, c.slot, c.change)
	if err != nil {
		return 0, err
	}
	if err := s.awaitMade(ctx); err != nil {
		return 0, err
	}
	seen, err := c.copies.Await(ctx, c.own)
	if err != nil {
		if ctx.Err() != nil && c.slot.Disturbances() == before {
			c.copies.CheckClient(c.slot.Index)
		}
		return 0, fmt.Errorf("follow: %w", err)
	}
	c.slot.Marks.PhaseEnd()
	s.converged(c.slot, seen)
	return c.updates.leave(ctx, c.slot), nil
}

// follow passes each difference to the check until the client can observe no more.
func (c *mirrorClient) follow(ctx context.Context) error {
	err := c.mirror.Follow(ctx, func(name string, data []byte, stat drivers.Stat) {
		c.copies.Saw(c.slot.Index, c.own, name, data, stat)
	})
	c.copies.Stopped(c.own, err)
	return err
}

// change makes the change of this number.
func (c *mirrorClient) change(ctx context.Context, round *metrics.Times, number int64, due time.Time) error {
	kind, name := c.changeBy(number)
	c.copies.Begins(name, number)
	return recordTime(c.slot, round, c.update, due, func() (err error) {
		left := &check.Node{Number: number}
		switch kind {
		case creates:
			err = c.mirror.Create(ctx, name, check.NodeData(number, name))
		case sets:
			left.Version, err = c.mirror.Set(ctx, name, check.NodeData(number, name))
		case deletes:
			left, err = nil, c.mirror.Delete(ctx, name)
		}
		if err == nil {
			c.copies.Made(name, left)
		}
		return err
	})
}
