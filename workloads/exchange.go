package workloads

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// An Exchange passes what the clients of one instance of a recipe do to the processes that have its other
// clients. It is nil where one process has all clients.
//
// It counts by topic. A topic belongs to a turn, and its count is over all processes. A message about a
// topic is sent as soon as the one before has reached the control plane; what is announced meanwhile goes
// into one message.
type Exchange struct {
	all      *exchanges
	instance int

	place
}

// A place says which of the processes this one is.
type place struct {
	Process   int  // its number, from 0
	Processes int  // how many there are
	First     int  // the first of its sessions, among those of the run
	Count     int  // the number of its sessions
	Open      bool // the loop is open
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

// keptTurns is for how many turns topics are kept: a topic is not asked for when its round has long ended.
const keptTurns = 4096

// A topic is something that clients announce.
type topic struct {
	Instance int
	Name     string
	Turn     int64
}

// A tally is what has been announced about a topic: how often, the sum of the values that came with it, and
// the largest of them.
type tally struct{ Count, Sum, Most int64 }

func (t tally) with(o tally) tally {
	return tally{t.Count + o.Count, t.Sum + o.Sum, max(t.Most, o.Most)}
}

// A kept tally can be waited for.
type keptTally struct {
	tally
	moved chan struct{} // closed when the tally changes
}

// An announcement is a part of a message.
type announcement struct {
	Topic topic
	Tally tally
	Text  string `json:",omitempty"` // for the topic's handler; such an announcement has no tally
}

// exchanges are the exchanges of all instances of a run.
type exchanges struct {
	place
	post func(context.Context, []byte) error

	mu       sync.Mutex
	tallies  map[topic]*keptTally
	handlers map[topic]func(text string) // by instance and name
	counts   map[topic]tally             // to be sent
	texts    []announcement              // to be sent, in order, before the counts
	pending  chan struct{}               // has an element when there is something to be sent
}

// newExchanges returns nil unless the plan is that of a part.
func newExchanges(p Plan) *exchanges {
	if p.Part == nil {
		return nil
	}
	at := place{p.Part.Number, max(p.Part.Of, 1), p.Part.First, p.Part.Count, p.Open.Rate.Open()}
	return &exchanges{place: at, post: p.Part.Post, tallies: map[topic]*keptTally{}, handlers: map[topic]func(string){}, counts: map[topic]tally{},
		pending: make(chan struct{}, 1)}
}

// send sends what is announced, until the context ends.
func (x *exchanges) send(ctx context.Context) error {
	for {
		select {
		case <-x.pending:
		case <-ctx.Done():
			return nil
		}
		x.mu.Lock()
		all := x.texts
		for t, n := range x.counts {
			all = append(all, announcement{Topic: t, Tally: n})
		}
		x.texts = nil
		clear(x.counts)
		x.mu.Unlock()
		text, err := json.Marshal(all)
		if err == nil {
			err = x.post(ctx, text)
		}
		if err != nil {
			return fmt.Errorf("announce to the other processes: %w", err)
		}
	}
}

// receive takes a message of another process.
func (x *exchanges) receive(text []byte) error {
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

// of returns the exchange of an instance.
func (x *exchanges) of(instance int) *Exchange {
	if x == nil {
		return nil
	}
	return &Exchange{all: x, instance: instance, place: x.place}
}

// tallyOf returns the tally of a topic. The caller holds the lock.
func (x *exchanges) tallyOf(t topic) *keptTally {
	if x.tallies[t] == nil {
		x.tallies[t] = &keptTally{moved: make(chan struct{})}
		delete(x.tallies, topic{t.Instance, t.Name, t.Turn - keptTurns})
	}
	return x.tallies[t]
}

func (x *exchanges) add(t topic, n tally) {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := x.tallyOf(t)
	now.tally = now.with(n)
	close(now.moved)
	now.moved = make(chan struct{})
}

// announce counts the topic once more, with a value, in all processes.
func (x *exchanges) announce(t topic, value int64) {
	one := tally{1, value, value}
	x.add(t, one)
	x.mu.Lock()
	x.counts[t] = x.counts[t].with(one)
	x.mu.Unlock()
	x.signal()
}

func (x *exchanges) signal() {
	select {
	case x.pending <- struct{}{}:
	default:
	}
}

// await waits until the condition holds for the topic's tally, and returns that.
func (x *exchanges) await(ctx context.Context, t topic, holds func(tally) bool) (tally, error) {
	for {
		x.mu.Lock()
		now := *x.tallyOf(t)
		x.mu.Unlock()
		if holds(now.tally) {
			return now.tally, nil
		}
		select {
		case <-now.moved:
		case <-ctx.Done():
			return tally{}, context.Cause(ctx)
		}
	}
}

// counted returns the condition that a topic was announced at least n times.
func counted(n int) func(tally) bool { return func(t tally) bool { return t.Count >= int64(n) } }

func (e *Exchange) topic(name string, turn int64) topic { return topic{e.instance, name, turn} }

// Announce counts one more of the topic, in all processes. It does nothing on a nil Exchange.
func (e *Exchange) Announce(name string, turn int64) {
	if e != nil {
		e.all.announce(e.topic(name, turn), 0)
	}
}

// Await waits until the topic has been announced n times, in all processes together.
func (e *Exchange) Await(ctx context.Context, name string, turn int64, n int) error {
	_, err := e.all.await(ctx, e.topic(name, turn), counted(n))
	return err
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

// Handle sets the handler of a text. It must be set in Setup. It does nothing on a nil Exchange.
func (e *Exchange) Handle(name string, handle func(text string)) {
	if e == nil {
		return
	}
	e.all.mu.Lock()
	defer e.all.mu.Unlock()
	e.all.handlers[e.topic(name, 0)] = handle
}
