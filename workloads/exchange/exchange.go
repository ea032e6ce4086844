package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// An Exchange passes what the clients of one instance of a recipe do to the processes that have its other
// clients. It is nil where one process has all clients.
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

// Others returns how many other processes there are; 0 for a nil Exchange.
func (e *Exchange) Others() int {
	if e == nil {
		return 0
	}
	return e.Processes - 1
}

// Owner reports whether this process has the instance's first session. It does what is done once for all
// processes.
func (e *Exchange) Owner(ofInstance int) bool {
	first, count := e.Sessions(ofInstance)
	return first == 0 && count > 0
}

func (e *Exchange) topic(name string, turn int64) topic { return topic{e.instance, name, turn} }

// Announce counts one more of the topic, in all processes. It does nothing on a nil Exchange.
func (e *Exchange) Announce(name string, turn int64) {
	if e != nil {
		e.all.announce(e.topic(name, turn), 0)
	}
}

// AnnounceValue is Announce with a value.
func (e *Exchange) AnnounceValue(name string, turn, value int64) {
	e.all.announce(e.topic(name, turn), value)
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
// that, arrives in this order. It does nothing on a nil Exchange.
func (e *Exchange) Tell(name, text string) {
	if e == nil {
		return
	}
	e.all.mu.Lock()
	e.all.texts = append(e.all.texts, announcement{Topic: e.topic(name, 0), Text: text})
	e.all.mu.Unlock()
	e.all.signal()
}

// Go runs what a round needs when all processes have taken part in it. The rounds have ended only when it has
// returned.
func (e *Exchange) Go(f func()) { e.all.work.Go(f) }

// Handle sets the handler of a text. It must be set in Setup. It does nothing on a nil Exchange.
func (e *Exchange) Handle(name string, handle func(text string)) {
	if e == nil {
		return
	}
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	e.all.handlers[e.topic(name, 0)] = handle
}

// keptTurns is for how many turns topics are kept: a topic is not asked for when its round has long ended.
const keptTurns = 4096

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

// A kept tally can be waited for.
type keptTally struct {
	Tally
	moved chan struct{} // closed when the tally changes
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
	post func(context.Context, []byte) error
	work sync.WaitGroup // see Go

	mu       sync.Mutex
	tallies  map[topic]*keptTally
	handlers map[topic]func(text string) // by instance and name
	counts   map[topic]Tally             // to be sent
	texts    []announcement              // to be sent, in order, before the counts
	pending  chan struct{}               // has an element when there is something to be sent
}

// New returns the exchanges of the process at a place. post passes a message to all other processes.
func New(at Place, post func(context.Context, []byte) error) *RunExchange {
	return &RunExchange{Place: at, post: post, tallies: map[topic]*keptTally{}, handlers: map[topic]func(string){}, counts: map[topic]Tally{},
		pending: make(chan struct{}, 1)}
}

// Send sends what is announced, until the context ends.
//
// What was announced before the context ended is still sent, for up to lastSend: other processes may wait for it.
func (x *RunExchange) Send(ctx context.Context) error {
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
func (x *RunExchange) sendPending(ctx context.Context) error {
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
func (x *RunExchange) announced() []announcement {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.texts
	for t, n := range x.counts {
		all = append(all, announcement{Topic: t, Tally: n})
	}
	x.texts = nil
	clear(x.counts)
	return all
}

// Receive takes a message of another process.
func (x *RunExchange) Receive(text []byte) error {
	var all []announcement
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("message of another process: %w", err)
	}
	for _, a := range all {
		if a.Text == "" {
			x.add(a.Topic, a.Tally)
			continue
		}
		x.mu.Lock()
		handle := x.handlers[a.Topic]
		x.mu.Unlock()
		if handle != nil {
			handle(a.Text)
		}
	}
	return nil
}

// Instance returns the exchange of an instance. That of a nil Run is nil.
func (x *RunExchange) Instance(instance int) *Exchange {
	if x == nil {
		return nil
	}
	return &Exchange{all: x, instance: instance, Place: x.Place}
}

// tallyOf returns the tally of a topic. The caller holds the lock.
func (x *RunExchange) tallyOf(t topic) *keptTally {
	if x.tallies[t] == nil {
		x.tallies[t] = &keptTally{moved: make(chan struct{})}
		delete(x.tallies, topic{t.Instance, t.Name, t.Turn - keptTurns})
	}
	return x.tallies[t]
}

func (x *RunExchange) add(t topic, n Tally) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.tallyOf(t)
	now.Tally = now.add(n)
	close(now.moved)
	now.moved = make(chan struct{})
}

// announce counts the topic once more, with a value, in all processes.
func (x *RunExchange) announce(t topic, value int64) {
	one := Tally{1, value, value}
	x.add(t, one)
	x.mu.Lock()
	x.counts[t] = x.counts[t].add(one)
	x.mu.Unlock()
	x.signal()
}

func (x *RunExchange) signal() {
	select {
	case x.pending <- struct{}{}:
	default:
	}
}

// await waits until the condition holds for the topic's tally, and returns that.
func (x *RunExchange) await(ctx context.Context, t topic, holds func(Tally) bool) (Tally, error) {
	for {
		x.mu.Lock()
		now := *x.tallyOf(t)
		x.mu.Unlock()
		if holds(now.Tally) {
			return now.Tally, nil
		}
		select {
		case <-now.moved:
		case <-ctx.Done():
			return Tally{}, context.Cause(ctx)
		}
	}
}

// Counted returns the condition that a topic was announced at least n times.
func Counted(n int) func(Tally) bool { return func(t Tally) bool { return t.Count >= int64(n) } }

// Wait waits for what Go has started.
func (x *RunExchange) Wait() { x.work.Wait() }
