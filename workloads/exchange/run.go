package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

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

func (t Tally) with(o Tally) Tally {
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

// A Run has the exchanges of all instances of a run.
type Run struct {
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
func New(at Place, post func(context.Context, []byte) error) *Run {
	return &Run{Place: at, post: post, tallies: map[topic]*keptTally{}, handlers: map[topic]func(string){}, counts: map[topic]Tally{},
		pending: make(chan struct{}, 1)}
}

// Send sends what is announced, until the context ends.
//
// What was announced before the context ended is still sent, for up to lastSend: other processes may wait for it.
func (x *Run) Send(ctx context.Context) error {
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
func (x *Run) sendPending(ctx context.Context) error {
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
func (x *Run) announced() []announcement {
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
func (x *Run) Receive(text []byte) error {
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

// Of returns the exchange of an instance. That of a nil Run is nil.
func (x *Run) Of(instance int) *Exchange {
	if x == nil {
		return nil
	}
	return &Exchange{all: x, instance: instance, Place: x.Place}
}

// tallyOf returns the tally of a topic. The caller holds the lock.
func (x *Run) tallyOf(t topic) *keptTally {
	if x.tallies[t] == nil {
		x.tallies[t] = &keptTally{moved: make(chan struct{})}
		delete(x.tallies, topic{t.Instance, t.Name, t.Turn - keptTurns})
	}
	return x.tallies[t]
}

func (x *Run) add(t topic, n Tally) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.tallyOf(t)
	now.Tally = now.with(n)
	close(now.moved)
	now.moved = make(chan struct{})
}

// announce counts the topic once more, with a value, in all processes.
func (x *Run) announce(t topic, value int64) {
	one := Tally{1, value, value}
	x.add(t, one)
	x.mu.Lock()
	x.counts[t] = x.counts[t].with(one)
	x.mu.Unlock()
	x.signal()
}

func (x *Run) signal() {
	select {
	case x.pending <- struct{}{}:
	default:
	}
}

// await waits until the condition holds for the topic's tally, and returns that.
func (x *Run) await(ctx context.Context, t topic, holds func(Tally) bool) (Tally, error) {
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
func (x *Run) Wait() { x.work.Wait() }
