package exchange

import "context"

// An Exchange passes what the clients of one instance of a recipe do to the processes that have its other
// clients. It is nil where one process has all clients.
//
// It counts by topic. A topic belongs to a turn, and its count is over all processes. A message about a
// topic is sent as soon as the one before has reached the control plane; what is announced meanwhile goes
// into one message.
type Exchange struct {
	all      *Run
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
