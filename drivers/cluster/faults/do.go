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

// A Client is a session of the run, as a target of faults.
type Client interface {
	// Link returns the line of the session's connections.
	Link() *Link
	// Expire makes the service expire the session.
	Expire(ctx context.Context) error
	// Freeze suspends the client until Thaw.
	Freeze()
	Thaw()
	// Lose makes the reply of the next request of the operation get lost.
	Lose(op drivers.Op)
}

// Subjects are the possible targets of faults.
type Subjects struct {
	Servers []drivers.Member
	Clients []Client
	// Holder returns the number, from 0, of the client that holds what all clients compete for, if
	// there is one.
	Holder func() (int, bool)
	// Claims, if set, says that other processes perform the same schedule on clients of theirs.
	Claims Claims
	Seed   uint64
}

// Claims decides which of several processes performs a fault of the holder, since each knows only whether a client of its
// own holds. Faults are named by their index in the schedule.
type Claims interface {
	// Claim claims the fault for this process, and returns false if another process has claimed it.
	Claim(ctx context.Context, fault int) (bool, error)
	// Await returns when a process has claimed the fault.
	Await(ctx context.Context, fault int) error
}

// A Done is a step that was performed.
type Done struct {
	Fault, Step int // index of the fault in the schedule, and of the step in the fault
	Began       time.Time
	Verb        Verb
	What        string // "kill member 2, the leader"
	Servers     []int  // target servers, from 0
}

// Do performs the schedule's faults at their times from now on. When the context ends, it restores
// what is still broken. It calls tell after each step, one call at a time. A fault that cannot be
// performed ends Do with an error immediately: no fault is skipped silently.
func (s Schedule) Do(ctx context.Context, on Subjects, tell func(Done)) error {
	d := &doing{
		Subjects: on, start: time.Now(), tell: tell,
		choosing: make(chan struct{}, 1),
		rand:     rand.New(rand.NewPCG(on.Seed, 0)), drawn: make(map[int][]int),
		down: make(map[int]Verb), full: make(map[int]bool), apart: make(map[int]bool), slow: make(map[int]bool), hurt: make(map[int]int),
	}
	for i, f := range s { // now, so that all processes that perform the schedule draw the same
		if n := len(on.Clients); f.Target.word == clients {
			d.drawn[i] = d.drawNumbers(f.Target.count(n), n)
		}
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
	<-ctx.Done() // faults without an undo last until then
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil // the run has ended
	}
	return errors.Join(err, d.restoreAll(context.WithoutCancel(ctx)))
}

// A doing is a schedule in progress.
type doing struct {
	Subjects
	start time.Time
	tell  func(Done)

	// choosing is a semaphore of one. A fault holds it from the choice of its targets to the end of
	// its first step, so that no two faults choose the same target.
	choosing chan struct{}
	drawn    map[int][]int // by fault: the clients, if they are a share of all

	mu    sync.Mutex // serializes faults on servers, and calls of tell
	rand  *rand.Rand
	down  map[int]Verb // servers that do not run, with the verb that caused it
	full  map[int]bool // servers with a full disk
	apart map[int]bool // isolated servers
	slow  map[int]bool // delayed or throttled servers
	hurt  map[int]int  // number of steps performed on each server
}

// fault performs one fault. It returns when the fault or the context ends.
func (d *doing) fault(ctx context.Context, number int, f Fault) error {
	if !waitUntil(ctx, d.start.Add(f.At)) {
		return nil
	}
	who, err := d.begin(ctx, number, f)
	if err != nil || who == nil {
		return err
	}
	due := time.Now()
	for i, s := range f.Steps[1:] {
		due = due.Add(s.After)
		if !waitUntil(ctx, due) {
			return nil
		}
		if err := d.do(ctx, number, i+1, s, who); err != nil {
			return err
		}
	}
	return nil
}

// begin performs the first step of a fault and returns its targets, or nil if the context ends
// before or another process performs the fault.
func (d *doing) begin(ctx context.Context, number int, f Fault) (*chosen, error) {
	select {
	case d.choosing <- struct{}{}:
	case <-ctx.Done():
		return nil, nil
	}
	defer func() { <-d.choosing }()
	if ours, err := d.claim(ctx, number, f.Target); err != nil || !ours {
		return nil, err
	}
	who, err := d.find(ctx, number, f.Target)
	for err == nil && who != nil && f.Steps[0].Verb == Freeze && !d.frozen(f.Target, who) {
		who, err = d.find(ctx, number, f.Target)
	}
	if err != nil || who == nil {
		return nil, err
	}
	return who, d.do(ctx, number, 0, f.Steps[0], who)
}

// waitUntil waits until the time is due. It returns false if the context ends before.
func waitUntil(ctx context.Context, due time.Time) bool {
	return sleep(time.Until(due), ctx.Done())
}

// frozen freezes the targets, and reports whether they are still the ones meant: the holder may
// have changed before the freeze.
func (d *doing) frozen(w Target, who *chosen) bool {
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

// do performs one step of a fault on all its targets and calls tell.
func (d *doing) do(ctx context.Context, fault, step int, s FaultAction, to *chosen) error {
	done := Done{Fault: fault, Step: step, Verb: s.Verb, What: string(s.Verb) + " " + to.name, Began: time.Now(), Servers: to.servers}
	if err := d.inflict(ctx, s, to); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tell(done)
	return nil
}

// inflict performs a step on its targets.
func (d *doing) inflict(ctx context.Context, s FaultAction, to *chosen) error {
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

func (s FaultAction) client(ctx context.Context, c Client) error {
	switch s.Verb {
	case Expire:
		return c.Expire(ctx)
	case Cut:
		c.Link().Cut()
	case Delay:
		c.Link().Delay(s.By)
	case Throttle:
		c.Link().Throttle(s.To)
	case Silence:
		c.Link().Silence()
	case Restore:
		c.Link().Restore()
	case Lose:
		c.Lose(s.Reply)
	case Freeze:
		c.Freeze()
		c.Link().Silence()
	case Thaw:
		c.Link().Restore()
		c.Thaw()
	}
	return nil
}

// count returns the number of targets among n clients, at least 1.
func (w Target) count(n int) int { return min(n, max(1, int(math.Round(w.share*float64(n))))) }

func firsts(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// drawNumbers returns count random numbers below n in ascending order.
func (d *doing) drawNumbers(count, n int) []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.rand.Perm(n)[:count]
	slices.Sort(all)
	return all
}
