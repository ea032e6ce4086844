package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// An Exchange passes what the clients of one instance of a recipe do to all other clients of the instance, in
// this process and in others.
//
// It counts by topic. A topic belongs to a turn, and its count is over all processes. A message about a
// topic is sent as soon as the one before has reached the control plane; what is announced meanwhile goes
// into one message.
type Exchange struct {
	all      *RunExchange
	instance int

	Place
}

// A Place says which of the processes this one is.
type Place struct {
	Process   int // its number, from 0
	Processes int // how many there are
	First     int // the first of its sessions, among those of the run
	Count     int // the number of its sessions
}

// Sessions returns which sessions this process has of the instance, if that has so many: from first, and
// their number.
func (e *Exchange) Sessions(ofInstance int) (first, count int) {
	from, to := e.First-e.instance*ofInstance, e.First+e.Count-e.instance*ofInstance
	from, to = min(max(from, 0), ofInstance), min(max(to, 0), ofInstance)
	return from, to - from
}

// Owner reports whether this process has the instance's first session. It does what is done once for all
// processes.
func (e *Exchange) Owner(ofInstance int) bool {
	first, count := e.Sessions(ofInstance)
	return first == 0 && count > 0
}

func (e *Exchange) topic(name string, turn int64) topic { return topic{e.instance, name, turn} }

// Announce counts one more of the topic, in all processes.
func (e *Exchange) Announce(name string, turn int64) { e.AnnounceValue(name, turn, 0) }

// AnnounceValue is Announce with a value. It returns the topic's tally with it, as far as it is known here.
func (e *Exchange) AnnounceValue(name string, turn, value int64) Tally {
	return e.all.announce(e.topic(name, turn), value)
}

// Await waits until the topic has been announced n times, in all processes together.
func (e *Exchange) Await(ctx context.Context, name string, turn int64, n int) error {
	_, err := e.all.await(ctx, e.topic(name, turn), Counted(n))
	return err
}

// AwaitTally waits until the condition holds for the topic's tally, and returns that.
func (e *Exchange) AwaitTally(ctx context.Context, name string, turn int64, holds func(Tally) bool) (Tally, error) {
	return e.all.await(ctx, e.topic(name, turn), holds)
}

// Announced returns how often the topic has been announced so far.
func (e *Exchange) Announced(name string, turn int64) int64 {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	return e.all.tallyOf(e.topic(name, turn)).Count
}

// Tell passes a text to the handlers of the other processes. What a process tells, and announces after
// that, arrives in this order.
func (e *Exchange) Tell(name, text string) {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	e.all.pass(announcement{Topic: e.topic(name, 0), Text: text})
}

// CallWhen calls f when the topic has been announced n times, unless the context ends before: at once and
// with its error if it has been, else later. The rounds have ended only when f has returned.
func (e *Exchange) CallWhen(ctx context.Context, name string, turn int64, n int, f func() error) error {
	if e.Announced(name, turn) >= int64(n) {
		return f()
	}
	e.all.work.Go(func() {
		if e.Await(ctx, name, turn, n) == nil {
			_ = f()
		}
	})
	return nil
}

// Handle sets the handler of a text. It must be set before any client begins.
func (e *Exchange) Handle(name string, handle func(text string)) {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	e.all.handlers[e.topic(name, 0)] = handle
}

// OnLearn makes the exchange call f whenever other processes have announced something. It must be set before
// any client begins.
func (e *Exchange) OnLearn(f func()) {
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	e.all.learned = append(e.all.learned, f)
}

// KeptTurns is for how many turns topics are kept: a topic is not asked for when its round has long ended.
const KeptTurns = 4096

// A topic is something that clients announce.
type topic struct {
	Instance int
	Name     string
	Turn     int64
}

// A Tally is what has been announced about a topic: how often, the sum of the values that came with it, and
// the largest of them.
type Tally struct{ Count, Sum, Most int64 }

func (t Tally) add(o Tally) Tally {
	return Tally{t.Count + o.Count, t.Sum + o.Sum, max(t.Most, o.Most)}
}

// A keptTally is a tally with those who wait for it.
type keptTally struct {
	Tally
	waiting []*waiter
}

// A waiter waits until a tally meets its condition.
type waiter struct {
	holds func(Tally) bool
	tally Tally         // that met it
	met   chan struct{} // closed then
}

// An announcement is a part of a message.
type announcement struct {
	Topic topic
	Tally Tally
	Text  string `json:",omitempty"` // for the topic's handler; such an announcement has no tally
}

// A RunExchange has the exchanges of all instances of a run.
type RunExchange struct {
	Place
	pass func(announcement)          // to the other processes; the caller holds the lock
	run  func(context.Context) error // see Run
	work sync.WaitGroup              // see CallWhen

	mu       sync.Mutex
	tallies  map[topic]*keptTally
	handlers map[topic]func(text string) // by instance and name
	learned  []func()                    // see OnLearn
}

// Alone returns the exchanges of a process at a place that tells other processes nothing.
func Alone(at Place) *RunExchange {
	return &RunExchange{Place: at, tallies: map[topic]*keptTally{}, handlers: map[topic]func(string){},
		pass: func(announcement) {}, run: func(context.Context) error { return nil }}
}

// Everywhere is the place of the only process of a run.
func Everywhere() Place { return Place{Processes: 1, Count: math.MaxInt32} }

// New returns the exchanges of the process at a place. post passes a message to all other processes. It
// returns when they will get it. receive calls take with each message of the others, in the order in which
// each has posted its own, until the context ends.
func New(
	at Place, post func(ctx context.Context, text []byte) error,
	receive func(ctx context.Context, take func(text []byte) error) error,
) *RunExchange {
	x := Alone(at)
	out := &outbox{all: x, post: post, counts: map[topic]Tally{}, pending: make(chan struct{}, 1)}
	x.pass = out.add
	x.run = func(ctx context.Context) error {
		both, ctx := errgroup.WithContext(ctx)
		both.Go(func() error { return out.send(ctx) })
		both.Go(func() error { return receive(ctx, x.take) })
		return both.Wait()
	}
	return x
}

// Run sends what is announced and receives what others announce, until the context ends.
//
// What was announced before the context ended is still sent, for up to lastSend: other processes may wait
// for it.
func (x *RunExchange) Run(ctx context.Context) error { return x.run(ctx) }

// An outbox has what is to be sent to the other processes. The lock of all guards it.
type outbox struct {
	all     *RunExchange
	post    func(context.Context, []byte) error
	counts  map[topic]Tally
	texts   []announcement // in order, before the counts
	pending chan struct{}  // has an element when there is something to be sent
}

func (x *outbox) add(a announcement) {
	if a.Text == "" {
		x.counts[a.Topic] = x.counts[a.Topic].add(a.Tally)
	} else {
		x.texts = append(x.texts, a)
	}
	select {
	case x.pending <- struct{}{}:
	default:
	}
}

// send sends what is announced, until the context ends.
func (x *outbox) send(ctx context.Context) error {
	posting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastSend, stop) })()
	for ended := false; !ended; {
		select {
		case <-x.pending:
		case <-ctx.Done():
			ended = true
		}
		if err := x.sendPending(posting); err != nil {
			return fmt.Errorf("announce to the other processes: %w", err)
		}
	}
	return nil
}

// sendPending sends what is announced, if there is anything.
func (x *outbox) sendPending(ctx context.Context) error {
	all := x.announced()
	if len(all) == 0 {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return x.post(ctx, text)
}

// lastSend is how long the last message may take.
const lastSend = time.Second

// announced returns what is to be sent, and takes it off.
func (x *outbox) announced() []announcement {
	x.all.mu.Lock()
	defer x.all.mu.Unlock()
	all := x.texts
	for t, n := range x.counts {
		all = append(all, announcement{Topic: t, Tally: n})
	}
	x.texts = nil
	clear(x.counts)
	return all
}

// take takes a message of another process.
func (x *RunExchange) take(text []byte) error {
	var all []announcement
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("message of another process: %w", err)
	}
	for _, a := range all {
		if a.Text == "" {
			x.mu.Lock()
			x.add(a.Topic, a.Tally)
			x.mu.Unlock()
			continue
		}
		x.mu.Lock()
		handle := x.handlers[a.Topic]
		x.mu.Unlock()
		if handle != nil {
			handle(a.Text)
		}
	}
	for _, learned := range x.learned {
		learned()
	}
	return nil
}

// Instance returns the exchange of an instance.
func (x *RunExchange) Instance(instance int) *Exchange {
	return &Exchange{all: x, instance: instance, Place: x.Place}
}

// tallyOf returns the tally of a topic. The caller holds the lock.
func (x *RunExchange) tallyOf(t topic) *keptTally {
	kept := x.tallies[t]
	if kept == nil {
		kept = &keptTally{}
		x.tallies[t] = kept
		delete(x.tallies, topic{t.Instance, t.Name, t.Turn - KeptTurns})
	}
	return kept
}

// add adds to the tally of a topic, and wakes those whose condition it meets. The caller holds the lock.
func (x *RunExchange) add(t topic, n Tally) Tally {
	now := x.tallyOf(t)
	now.Tally = now.add(n)
	now.waiting = slices.DeleteFunc(now.waiting, func(w *waiter) bool {
		if !w.holds(now.Tally) {
			return false
		}
		w.tally = now.Tally
		close(w.met)
		return true
	})
	return now.Tally
}

// announce counts the topic once more, with a value, in all processes.
func (x *RunExchange) announce(t topic, value int64) Tally {
	one := Tally{1, value, value}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pass(announcement{Topic: t, Tally: one})
	return x.add(t, one)
}

// await waits until the condition holds for the topic's tally, and returns that.
func (x *RunExchange) await(ctx context.Context, t topic, holds func(Tally) bool) (Tally, error) {
	x.mu.Lock()
	now := x.tallyOf(t)
	if holds(now.Tally) {
		defer x.mu.Unlock()
		return now.Tally, nil
	}
	w := &waiter{holds: holds, met: make(chan struct{})}
	now.waiting = append(now.waiting, w)
	x.mu.Unlock()
	select {
	case <-w.met:
		return w.tally, nil
	case <-ctx.Done():
		return Tally{}, context.Cause(ctx)
	}
}

// Counted returns the condition that a topic was announced at least n times.
func Counted(n int) func(Tally) bool { return func(t Tally) bool { return t.Count >= int64(n) } }

// Wait waits for what CallWhen has put off.
func (x *RunExchange) Wait() { x.work.Wait() }
