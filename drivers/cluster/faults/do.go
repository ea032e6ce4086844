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

// A Hit identifies a client of another program that a fault hit, at the moment when the step began.
type Hit struct {
	Session   int64    // its number, 0 if it has none
	Addresses []string // host:port of its connections
	Watches   []string // that the step has ended: the key or prefix of each, one of etcd
}

// An Observed client is one of another program.
type Observed interface {
	Client
	// Number returns which of the clients that have come it is, from 1.
	Number() int
	// Now returns what the client has now.
	Now() Hit
	// Hold keeps the notifications of the client's watches back, or lets them pass again, those that were kept
	// back first.
	Hold(bool)
	// Move breaks the connection, and has its member refuse the client until that is connected to another one.
	Move()
	// EndWatches does what the verb says to the client's watches on a key, on all if it is empty, and returns what those
	// were on that it has ended.
	EndWatches(how Verb, key string) (hit []string)
}

// A Program has clients that come and go. A client must be comparable.
type Program interface {
	// Clients returns the clients that are connected now, in the order in which they came.
	Clients() []Client
	// Numbered returns the client with the number if it is connected, else whether it is gone: it has come, and does not
	// come back.
	Numbered(n int) (c Client, gone bool)
	// Named returns the clients of a process, by the name of its program or its number, or those that have an
	// ephemeral node, by its path.
	Named(process bool, name string) []Client
}

// Subjects are the possible targets of faults.
type Subjects struct {
	Servers []drivers.Member
	Clients []Client
	Program Program // in place of Clients: those of another program, which are [Observed]
	// Holder returns the number, from 0, of the client that holds what all clients compete for, if
	// there is one.
	Holder func() (int, bool)
	// Claims, if set, says that other processes perform the same schedule on clients of theirs.
	Claims Claims
	// Strike, if set, is called for the first step of each fault and has to call strike, which performs it. So it can
	// do something else before and after.
	Strike func(f Fault, strike func() error) error
	Seed   uint64
}

// Claims decides which of several processes performs a fault of the holder, since each knows only whether a
// client of its own holds. Faults are named by their index in the schedule.
type Claims interface {
	// Claim claims the fault for this process, and returns false if another process has claimed it.
	Claim(ctx context.Context, fault int) (bool, error)
	// Await returns when a process has claimed the fault.
	Await(ctx context.Context, fault int) error
}

// AmongOthers returns the targets among those of all processes, of which they begin at first. What is done
// to the others, their processes do.
func AmongOthers(own []Client, first, all int) []Client {
	clients := make([]Client, all)
	for i := range clients {
		clients[i] = &elsewhere{}
	}
	copy(clients[first:], own)
	return clients
}

// An elsewhere is a client of another process.
type elsewhere struct{ link Link }

func (o *elsewhere) Link() *Link                { return &o.link }
func (*elsewhere) Expire(context.Context) error { return nil }
func (*elsewhere) Freeze()                      {}
func (*elsewhere) Thaw()                        {}
func (*elsewhere) Lose(drivers.Op)              {}

// A Done is a step that was performed.
type Done struct {
	Fault, Step int // index of the fault in the schedule, and of the step in the fault
	FaultAction
	Began   time.Time
	What    string   // "kill member 2, the leader"
	Servers []int    // target servers, from 0
	Clients []Client // target clients
	Hits    []Hit    // what those of another program had when it began
}

// Do performs the schedule's faults at their times from now on. When the context ends, it restores
// what is still broken. It calls tell after each step, one call at a time. A fault that cannot be
// performed ends Do with an error immediately: no fault is skipped silently.
func (s Schedule) Do(ctx context.Context, on Subjects, tell func(Done)) error {
	d := &doing{
		Subjects: on, start: time.Now(), tell: tell,
		choosing: make(chan struct{}, 1),
		rand:     rand.New(rand.NewPCG(on.Seed, 0)), drawn: make(map[int][]int),
		down: make(map[int]Verb), full: make(map[int]bool), hung: make(map[int]bool), apart: make(map[int]bool), slow: make(map[int]bool), hurt: make(map[int]int),
		touched: make(map[Client]bool), had: make(map[string]bool),
	}
	for i, f := range s { // now, so that all processes that perform the schedule draw the same
		if n := len(on.Clients); f.Target.word == clients && n > 0 {
			d.drawn[i] = d.drawNumbers(f.Target.count(n), n)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i, f := range s {
		all.Go(func() {
			for n := range max(f.Times, 1) {
				if err := d.fault(ctx, i, f, f.At+f.Every*time.Duration(n)); err != nil {
					cancel(fmt.Errorf("fault %q: %w", f, err))
					return
				}
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
	drawn    map[int][]int   // by fault: the clients, if they are a share of all
	met      bool            // a client of a Program has come
	had      map[string]bool // by path: a client of a Program has had this ephemeral node

	mu    sync.Mutex // serializes faults on servers, and calls of tell
	rand  *rand.Rand
	down  map[int]Verb // servers that do not run, with the verb that caused it
	full  map[int]bool // servers with a full disk
	hung  map[int]bool // servers whose disk hangs
	apart map[int]bool // isolated servers
	slow  map[int]bool // delayed or throttled servers
	hurt  map[int]int  // number of steps performed on each server

	touched map[Client]bool // clients of a Program that a fault has hit
}

// fault performs one fault. It returns when the fault or the context ends.
func (d *doing) fault(ctx context.Context, number int, f Fault, at time.Duration) error {
	if !waitUntil(ctx, d.start.Add(at)) {
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
	strike := func() error { return d.do(ctx, number, 0, f.Steps[0], who) }
	if d.Strike != nil {
		return who, d.Strike(f, strike)
	}
	return who, strike()
}

// waitUntil waits until the time is due. It returns false if the context ends before.
func waitUntil(ctx context.Context, due time.Time) bool {
	return sleep(time.Until(due), ctx.Done())
}

// frozen freezes the targets, and reports whether they are still the ones meant: the holder may
// have changed before the freeze.
func (d *doing) frozen(w Target, who *chosen) bool {
	for _, c := range who.clients {
		c.Freeze()
	}
	if w.word != holder {
		return true
	}
	if i, holds := d.Holder(); holds && i+1 == who.clients[0].number {
		return true
	}
	who.clients[0].Thaw()
	return false
}

// do performs one step of a fault on all its targets and calls tell.
func (d *doing) do(ctx context.Context, fault, step int, s FaultAction, to *chosen) error {
	what := string(s.Verb) + " " + to.name
	if s.Verb == Lose {
		what += ", reply=" + opName(s.Reply)
	}
	if s.Key != "" {
		what += ", key=" + s.Key
	}
	if way := s.oneWay(); way != "" {
		what += "," + way
	}
	done := Done{Fault: fault, Step: step, FaultAction: s, What: what, Began: time.Now(), Servers: to.servers}
	for _, c := range to.clients {
		done.Clients = append(done.Clients, c.Client)
		if o, is := c.Client.(Observed); is {
			done.Hits = append(done.Hits, o.Now())
		}
	}
	ended, err := d.inflict(ctx, s, to)
	if err != nil {
		return err
	}
	if s.Verb.EndsWatches() {
		n := 0
		for i, hit := range ended {
			done.Hits[i].Watches = hit
			n += len(hit)
		}
		done.What += ", " + watchesOf(n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tell(done)
	return nil
}

// watchesOf returns how many watches a step has ended.
func watchesOf(n int) string {
	switch n {
	case 0:
		return "which had no such gRPC watch"
	case 1:
		return "1 watch"
	}
	return fmt.Sprintf("%d watches", n)
}

// inflict performs a step on its targets, and returns the watches of each client that it has ended.
func (d *doing) inflict(ctx context.Context, s FaultAction, to *chosen) (ended [][]string, err error) {
	for _, i := range to.servers {
		if err := d.server(ctx, s, i); err != nil {
			return nil, fmt.Errorf("%s member %s: %w", s.Verb, d.Servers[i].Name(), err)
		}
	}
	var all sync.WaitGroup
	errs := make([]error, len(to.clients))
	ended = make([][]string, len(to.clients))
	for n, c := range to.clients {
		d.touch(c.Client)
		all.Go(func() {
			if s.Verb.EndsWatches() {
				ended[n] = c.Client.(Observed).EndWatches(s.Verb, s.Key)
			} else if err := s.client(ctx, c.Client); err != nil {
				errs[n] = fmt.Errorf("%s client %d: %w", s.Verb, c.number, err)
			}
		})
	}
	all.Wait()
	return ended, errors.Join(errs...)
}

// EndsWatches reports whether the verb ends watches and nothing else.
func (v Verb) EndsWatches() bool { return v == CancelWatch || v == CompactWatch || v == BreakStream }

// touch records that a fault hits a client of a program.
func (d *doing) touch(c Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.Program != nil {
		d.touched[c] = true
	}
}

// restore ends all faults of a client's connections.
func restore(c Client) {
	c.Link().Restore()
	if o, is := c.(Observed); is {
		o.Hold(false)
	}
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
		c.Link().Silence(s.Direction)
	case Hold:
		c.(Observed).Hold(true)
	case Drop, Double:
		c.Link().relay.Do(s.Verb)
	case Move:
		c.(Observed).Move()
	case Restore:
		restore(c)
	case Lose:
		c.Lose(s.Reply)
	case Freeze:
		c.Freeze()
		c.Link().Silence(drivers.Both)
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
