package faults

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Client is a session of the run, for what can be done to it.
type Client interface {
	// Line is what its connections go through.
	Line() *Line
	// Expire has the service end the session.
	Expire(ctx context.Context) error
	// Freeze has the client do nothing more until Thaw.
	Freeze()
	Thaw()
	// Lose has the reply of its next request of the operation lost.
	Lose(op drivers.Op)
}

// Subjects are those to whom faults are done.
type Subjects struct {
	Servers []drivers.Member
	Clients []Client
	// Holder tells which client, from 0, has what all want, if one has.
	Holder func() (int, bool)
	Seed   uint64
}

// A Done is a step that was done.
type Done struct {
	Fault, Step int // which, of the schedule
	Began       time.Time
	Verb        Verb
	What        string // "kill member 2, the leader"
	Servers     []int  // to which, from 0
}

// Do does what the schedule says, each at its time from now on, until the context
// ends, and mends then what is broken still. It tells of each step when it has been
// done, one at a time. What cannot be done is an error, at once: a fault is never
// left out silently.
func (s Schedule) Do(ctx context.Context, on Subjects, tell func(Done)) error {
	d := &doing{
		Subjects: on, start: time.Now(), tell: tell,
		choosing: make(chan struct{}, 1),
		rand:     rand.New(rand.NewPCG(on.Seed, 0)),
		down:     make(map[int]Verb), full: make(map[int]bool), apart: make(map[int]bool), slow: make(map[int]bool), hurt: make(map[int]int),
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i, f := range s {
		all.Go(func() {
			if err := d.fault(ctx, i, f); err != nil {
				cancel(fmt.Errorf("fault %q: %w", f, err))
			}
		})
	}
	all.Wait()
	<-ctx.Done() // what nobody has undone is broken until then
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil // the run was over
	}
	return errors.Join(err, d.mend(context.WithoutCancel(ctx)))
}

// A doing is a schedule that is being done.
type doing struct {
	Subjects
	start time.Time
	tell  func(Done)

	// choosing has room for one: until something is done to whom was chosen, so that
	// no two faults choose the same.
	choosing chan struct{}

	mu    sync.Mutex // nothing is done to two servers at once, or told
	rand  *rand.Rand
	down  map[int]Verb // servers that do not run, and what was done to them
	full  map[int]bool // servers whose disk is full
	apart map[int]bool // servers that are isolated
	slow  map[int]bool // servers that hear others late, or little
	hurt  map[int]int  // how often something was done to a server
}

// fault does one fault, until the context ends.
func (d *doing) fault(ctx context.Context, number int, f Fault) error {
	if !until(ctx, d.start.Add(f.At)) {
		return nil
	}
	who, err := d.begin(ctx, number, f)
	if err != nil || who == nil {
		return err
	}
	due := time.Now()
	for i, s := range f.Steps[1:] {
		due = due.Add(s.After)
		if !until(ctx, due) {
			return nil
		}
		if err := d.do(ctx, number, i+1, s, who); err != nil {
			return err
		}
	}
	return nil
}

// begin does the first step to whom the fault means, and returns them; nobody if
// the context ended before.
func (d *doing) begin(ctx context.Context, number int, f Fault) (*chosen, error) {
	select {
	case d.choosing <- struct{}{}:
	case <-ctx.Done():
		return nil, nil
	}
	defer func() { <-d.choosing }()
	who, err := d.find(ctx, f.Whom)
	for err == nil && who != nil && f.Steps[0].Verb == Freeze && !d.frozen(f.Whom, who) {
		who, err = d.find(ctx, f.Whom)
	}
	if err != nil || who == nil {
		return nil, err
	}
	return who, d.do(ctx, number, 0, f.Steps[0], who)
}

// until waits, and tells whether the context lasted as long.
func until(ctx context.Context, due time.Time) bool {
	return sleep(time.Until(due), ctx.Done())
}

// frozen freezes them, and tells whether they are still whom the words mean: a
// holder may have gone on meanwhile.
func (d *doing) frozen(w Whom, who *chosen) bool {
	for _, i := range who.clients {
		d.Clients[i].Freeze()
	}
	if w.word != holder {
		return true
	}
	if i, holds := d.Holder(); holds && i == who.clients[0] {
		return true
	}
	d.Clients[who.clients[0]].Thaw()
	return false
}

// do does one step of a fault to all whom it is done to, and tells of it.
func (d *doing) do(ctx context.Context, fault, step int, s Step, to *chosen) error {
	done := Done{Fault: fault, Step: step, Verb: s.Verb, What: string(s.Verb) + " " + to.name, Began: time.Now(), Servers: to.servers}
	if err := d.inflict(ctx, s, to); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tell(done)
	return nil
}

// inflict does it.
func (d *doing) inflict(ctx context.Context, s Step, to *chosen) error {
	for _, i := range to.servers {
		if err := d.server(ctx, s, i); err != nil {
			return fmt.Errorf("%s member %s: %w", s.Verb, d.Servers[i].Name(), err)
		}
	}
	var all sync.WaitGroup
	errs := make([]error, len(to.clients))
	for n, i := range to.clients {
		all.Go(func() {
			if err := s.client(ctx, d.Clients[i]); err != nil {
				errs[n] = fmt.Errorf("%s client %d: %w", s.Verb, i+1, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (s Step) client(ctx context.Context, c Client) error {
	switch s.Verb {
	case Expire:
		return c.Expire(ctx)
	case Cut:
		c.Line().Cut()
	case Delay:
		c.Line().Delay(s.By)
	case Throttle:
		c.Line().Throttle(s.To)
	case Silence:
		c.Line().Silence()
	case Mend:
		c.Line().Mend()
	case Lose:
		c.Lose(s.Reply)
	case Freeze:
		c.Freeze()
		c.Line().Silence()
	case Thaw:
		c.Line().Mend()
		c.Thaw()
	}
	return nil
}

// count is how many of n clients that is, one at least.
func (w Whom) count(n int) int { return min(n, max(1, int(math.Round(w.share*float64(n))))) }

func firsts(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// some are so many of n, in their order.
func (d *doing) some(count, n int) []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.rand.Perm(n)[:count]
	slices.Sort(all)
	return all
}
