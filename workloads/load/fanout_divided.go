package load

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/divided"
)

// Where several processes have the clients, one of them has the writer. The others tell it how many watchers
// were notified of a write, and watch again. Times and findings follow from the steps of all.

// The topics by which the processes tell each other of watchers, by write, and that the run is over.
const (
	listeningTopic = "listening" // a watcher listens; of no write
	heardTopic     = "heard"     // a watcher was notified, or never will be
	armedTopic     = "armed"     // it watches again
	overTopic      = "over"      // of no write
)

// elsewhere is what the writer knows of the watchers of all processes.
type elsewhere struct {
	allListen bool
	unarmed   int // writes after which not all watchers are known to watch again
}

// follow makes the tracker follow the other processes, if there are any, until the context ends.
func (t *fanoutTracker) follow(ctx context.Context) {
	if t.exchange == nil {
		return
	}
	t.follows.Do(func() {
		go t.when(ctx, listeningTopic, 0, len(t.observers), func() { t.allListen = true })
		go t.when(ctx, overTopic, 0, 1, func() {
			if !t.isOver() {
				close(t.over)
			}
		})
	})
}

// followWrite follows the watchers of a write.
func (t *fanoutTracker) followWrite(ctx context.Context, u *fanoutWrite) {
	if t.exchange == nil {
		return
	}
	t.mu.Lock()
	t.unarmed++
	t.mu.Unlock()
	go t.when(ctx, heardTopic, u.number, len(t.observers), func() { u.heard = true })
	go t.when(ctx, armedTopic, u.number, len(t.observers), func() { t.unarmed-- })
}

// when calls then, with the lock, when the topic was announced n times.
func (t *fanoutTracker) when(ctx context.Context, topic string, number int64, n int, then func()) {
	if t.exchange.Await(ctx, topic, number, n) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	then()
	t.removeFinished()
}

// notifiedElsewhere records a notification of the next change, by a write that another process may have made.
func (e *Observer) notifiedElsewhere(at time.Time) {
	t := e.tracker
	e.seen++
	t.recorded.RecordAt(at, check.Step{Kind: check.Notified, Client: e.slot.Index, Turn: e.seen, Disturbed: e.disturbed()})
	t.exchange.Announce(heardTopic, e.seen)
	if e.once {
		e.unarmed = append(e.unarmed, e.seen)
		return
	}
	t.exchange.Announce(armedTopic, e.seen)
}

// missedElsewhere records that the watcher watches since this version, and missed the writes before it of which
// it was not notified.
func (e *Observer) missedElsewhere(version int64) {
	t := e.tracker
	if t.exchange == nil {
		return
	}
	for _, number := range e.unarmed {
		t.exchange.Announce(armedTopic, number)
	}
	for e.unarmed = nil; e.seen < version; {
		e.seen++
		t.recorded.Record(check.Step{Kind: check.Missed, Client: e.slot.Index, Turn: e.seen, Disturbed: e.disturbed()})
		t.exchange.Announce(heardTopic, e.seen)
		t.exchange.Announce(armedTopic, e.seen)
	}
}

// A dividedWrite is a write and its watchers, by the steps of all processes.
type dividedWrite struct {
	issued, written check.TimedStep
	notified        []check.TimedStep
	missed          int
}

// Judge returns the times of the notifications, and the watchers that were notified too early or not at all.
func (w *fanoutWorkload) Judge(g divided.Gathered) divided.Findings {
	writes, last := map[int64]*dividedWrite{}, int64(0)
	f := divided.Findings{Fanout: &workloads.FanoutTimes{}}
	of := func(number int64) *dividedWrite {
		if writes[number] == nil {
			writes[number] = &dividedWrite{}
		}
		return writes[number]
	}
	for _, s := range check.Ordered(g.Steps) {
		switch u := of(s.Turn); s.Kind {
		case check.Updating:
			u.issued = s
		case check.Written:
			u.written, last = s, max(last, s.Turn)
		case check.Notified, check.Missed:
			if u.issued.Kind == 0 {
				check.AddFinding(&f.Added, s.Disturbed, fmt.Sprintf("client %d was notified of write %d, which was not made", s.Client+1, s.Turn))
			}
			u.add(s)
		}
	}
	for _, s := range g.Steps {
		if s.Kind == check.Saw && s.Turn < last {
			check.AddFinding(&f.Added, s.Disturbed, fmt.Sprintf("client %d was never notified of write %d", s.Client+1, s.Turn+1))
		}
	}
	for _, u := range writes {
		u.measure(g, &f)
	}
	return f
}

func (u *dividedWrite) add(s check.TimedStep) {
	if s.Kind == check.Missed {
		u.missed++
		return
	}
	u.notified = append(u.notified, s)
}

// measure adds the times of the write if it was over in the window.
func (u *dividedWrite) measure(g divided.Gathered, f *divided.Findings) {
	if u.issued.Kind == 0 || u.written.Kind == 0 || len(u.notified)+u.missed < g.Clients {
		return
	}
	issued, lag := u.issued.Middle(), u.issued.Lag
	over, wrong := u.written.Middle(), time.Duration(0)
	var after []time.Duration
	for _, s := range u.notified {
		over, wrong = max(over, s.Middle()), max(wrong, s.Error()+u.issued.Error())
		after = append(after, max(s.Middle()-issued, 0))
	}
	if over < g.Window.Begin || over > g.Window.End && !(g.Open && issued-lag <= g.Window.End) {
		return
	}
	slices.Sort(after)
	record := func(phase string, d time.Duration) {
		f.Times = append(f.Times, check.Time{Phase: phase, Service: d, Response: d + lag, At: over, Error: wrong})
	}
	if n := len(after); n > 0 {
		record(firstPhase, after[0])
		record(medianPhase, after[(n-1)/2])
		record(lastPhase, after[n-1])
	}
	for _, d := range after {
		record(eachPhase, d)
	}
	f.Fanout.Add(u.written.Middle()-issued, after, u.missed)
}

// Taker returns the writer.
func (w *fanoutWorkload) Taker(int64) int { return w.clients }

// Taker returns the first client: its process starts the rounds.
func (w *stormWorkload) Taker(int64) int { return 0 }
