package recipe

import (
	"context"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// Names is one client's handle on a name service.
type Names interface {
	// Lookup returns the value of a name. The value may be slightly out of date.
	Lookup(ctx context.Context, name string) (value []byte, err error)
	// Bind sets the value of a name.
	Bind(ctx context.Context, name string, value []byte) error
}

// NameServices returns the workload constructor for a form of name service: all clients look up
// all names, and the first client changes one, repeatedly, each time when all clients have looked
// up everything and it has thought. A round is over when all clients have found the change. open
// creates one client's handle on the names at a path, which is an existing node.
func NameServices[S drivers.Conn, N Names](open func(c S, path string) N) workloads.Constructor {
	return func(s workloads.Settings) workloads.Workload {
		lookup := s.Latency("lookup")
		return &namesWorkload{updating: newUpdating(s, lookup), size: s.NameCount(), lookups: s.LookupCount(), open: openerOf[Names](open), lookup: lookup}
	}
}

type namesWorkload struct {
	updating
	size       int64 // number of names
	lookups    int64 // per name and update
	open       opener[Names]
	names      []string
	visibility *check.Visibility
	lookup     *metrics.Latency
}

func (w *namesWorkload) Attach(_ drivers.Conn, base string, clients int) {
	w.attach(base+"/names", clients)
	for i := range w.size {
		w.names = append(w.names, fmt.Sprintf("name-%d", i+1))
	}
	w.visibility = check.NewVisibility(clients, len(w.names), w.recorded)
}

func (w *namesWorkload) Setup(ctx context.Context, c drivers.Conn) error {
	if err := namespace.CreateNode(ctx, c, w.path, nil, 0); err != nil {
		return err
	}
	for _, name := range w.names {
		if err := namespace.CreateNode(ctx, c, w.path+"/"+name, check.UpdateData(0), 0); err != nil {
			return err
		}
	}
	return nil
}

func (w *namesWorkload) Join(s *workloads.Slot) (workloads.Client, error) { return w.join(s) }

func (w *namesWorkload) join(s *workloads.Slot) (*namesClient, error) {
	n, err := w.open(s.Conn, w.path)
	if err != nil {
		return nil, err
	}
	return &namesClient{namesWorkload: w, slot: s, handle: n, view: w.visibility.OpenView(s.Index)}, nil
}

func (w *namesWorkload) Verdict() metrics.Safety { return w.visibility.Verdict() }

// Settle lets all clients look up everything, one at a time, before the first update and after
// each update.
func (w *namesWorkload) Settle(ctx context.Context, st *settled.Stepper) error {
	clients, err := joinAll(st, w.join, nil)
	if err != nil {
		return err
	}
	for number := range w.updateCount + 1 {
		if number > 0 {
			title := "changes " + w.names[w.changedBy(number)]
			bind := func(ctx context.Context) error { return clients[0].bind(ctx, nil, number, time.Now()) }
			if err := st.Do(ctx, 0, title, "", bind); err != nil {
				return err
			}
		}
		for i, c := range clients {
			if err := st.Do(ctx, i, "looks up all names", "", c.lookAll); err != nil {
				return err
			}
		}
		w.visibility.CheckAll()
	}
	return nil
}

// changedBy returns the index of the name that the update changes.
func (w *namesWorkload) changedBy(number int64) int { return int((number - 1) % int64(len(w.names))) }

// A namesClient is one client that looks up names. The client of the first slot also binds them.
type namesClient struct {
	*namesWorkload
	slot   *workloads.Slot
	handle Names
	view   *check.View
}

// Turn looks up everything and then finds one update. The first client also makes it.
func (c *namesClient) Turn(ctx context.Context) (rounds int64, err error) {
	if err := c.lookAll(ctx); err != nil {
		return 0, err
	}
	number := c.slot.TurnsTaken() + 1
	before := c.slot.Disturbances()
	s, err := c.begin(ctx, c.slot, c.bind)
	if err != nil {
		return 0, err
	}
	if err := c.find(ctx, s, number); err != nil {
		if ctx.Err() != nil && s.acknowledged() && c.slot.Disturbances() == before {
			c.visibility.Made(c.changedBy(number), number)
			c.visibility.CheckClient(c.slot.Index)
		}
		return 0, err
	}
	c.slot.Marks.PhaseEnd()
	return c.updates.leave(ctx, c.slot), nil
}

// findInterval is how long a client pauses after it was served an old value.
const findInterval = 100 * time.Microsecond

// find waits until the name has been changed and looks it up until the update shows.
func (c *namesClient) find(ctx context.Context, s *update, number int64) error {
	if err := s.awaitMade(ctx); err != nil {
		return err
	}
	value := c.changedBy(number)
	for {
		if err := c.look(ctx, value); err != nil {
			return err
		}
		if c.view.Seen[value] >= number {
			s.converged(c.slot, c.view.At[value])
			return nil
		}
		if workloads.Sleep(ctx, findInterval); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

func (c *namesClient) lookAll(ctx context.Context) error {
	for range c.lookups {
		for value := range c.names {
			if err := c.look(ctx, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *namesClient) look(ctx context.Context, value int) error {
	asked := time.Now()
	data, err := c.handle.Lookup(ctx, c.names[value])
	if err != nil {
		return fmt.Errorf("look up: %w", err)
	}
	took := time.Since(asked)
	c.slot.Record(c.lookup, took, took)
	c.visibility.Saw(c.slot.Index, c.view, value, data)
	return nil
}

func (c *namesClient) bind(ctx context.Context, round *metrics.Times, number int64, due time.Time) error {
	value := c.changedBy(number)
	c.visibility.UpdateBegins(value, number)
	bind := func() error { return c.handle.Bind(ctx, c.names[value], check.UpdateData(number)) }
	return recordTime(c.slot, round, c.update, due, bind)
}
