package load

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
)

// An Observer tracks what one session knows of the changes of a node, from reads and from
// notifications. A notification does not say which change it is for.
type Observer struct {
	slot               *workloads.Slot
	disturbancesBefore int64 // the slot's disturbances when the session began
	tracker            *fanoutTracker
	quiet              *semaphore.Weighted

	// tellings.mu guards the fields below.
	replaced  bool        // another session of the client has replaced it
	listening bool        // the client has read the node
	seen      int64       // the last write that it knows of
	once      bool        // its watch fires once
	fired     bool        // the watch has fired since it was armed
	arming    bool        // a watch is being armed
	pending   []time.Time // times of the notifications since then
	unarmed   []int64     // the writes that it was notified of since its one-shot watch was armed
}

// join returns the ear of a client's new session. A client that listened before still counts as
// listening.
func (t *fanoutTracker) join(s *workloads.Slot, quiet *semaphore.Weighted) *Observer {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := &Observer{slot: s, disturbancesBefore: s.Disturbances(), tracker: t, quiet: quiet}
	if before := t.observers[s.Index]; before != nil {
		before.replaced = true
		e.listening, e.seen, e.unarmed = before.listening, before.seen, before.unarmed
	}
	t.observers[s.Index] = e
	return e
}

func (e *Observer) disturbed() bool { return e.slot.Disturbances() != e.disturbancesBefore }

// Arm records that a watch is about to be armed, one-shot if once is set, or that a persistent
// watch may have missed changes. The next Read or Caught determines which changes the
// notifications since Arm are for.
func (e *Observer) Arm(once bool) {
	e.tracker.mu.Lock()
	defer e.tracker.mu.Unlock()
	e.arming, e.once, e.fired = true, once, false
}

// Notified records that a notification has just arrived.
func (e *Observer) Notified() {
	at := time.Now()
	e.slot.Marks.Heeded()
	e.slot.Marks.PhaseEnd()
	e.slot.Marks.PhaseBegin()
	t := e.tracker
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case e.replaced:
	case e.once && e.fired:
		e.addFinding("was notified twice by one watch")
	case e.arming:
		e.fired = true
		e.pending = append(e.pending, at)
	default:
		e.fired = true
		e.notifiedOfNext(at)
	}
}

// Read records that the node had this version when the watch was armed: notifications are for
// later changes.
func (e *Observer) Read(version int32) {
	e.tracker.mu.Lock()
	defer e.tracker.mu.Unlock()
	e.setVersion(int64(version))
}

// CaughtUp records that the node has this version and that the notifications of all changes up to it
// have arrived. So those since Arm are for the last changes. That is true only within Quietly.
func (e *Observer) CaughtUp(version int32) {
	e.tracker.mu.Lock()
	defer e.tracker.mu.Unlock()
	e.setVersion(int64(version) - int64(len(e.pending)))
}

// BetweenWrites calls f while no write is in progress.
func (e *Observer) BetweenWrites(ctx context.Context, f func() error) error {
	if err := e.quiet.Acquire(ctx, 1); err != nil {
		return err
	}
	defer e.quiet.Release(1)
	return f()
}

// setVersion records the version that the node had before the pending notifications.
func (e *Observer) setVersion(version int64) {
	t := e.tracker
	if e.replaced {
		return
	}
	t.safety.Checked++
	switch {
	case version > e.seen+mostMissed:
		e.addFinding("read version %d after %d", version, e.seen)
		version = e.seen
	case version < e.seen:
		e.addFinding("read version %d after %d", version, e.seen)
	}
	e.missedUntil(version)
	for _, at := range e.pending {
		e.notifiedOfNext(at)
	}
	e.arming, e.pending = false, e.pending[:0]
	if !e.listening {
		e.listening = true
		e.slot.Marks.PhaseBegin()
		t.announce(listeningTopic, 0)
	}
}

// mostMissed is more writes than a watcher can miss.
const mostMissed = 1 << 20

// notifiedOfNext records a notification of the next change.
func (e *Observer) notifiedOfNext(at time.Time) {
	t := e.tracker
	t.safety.Checked++
	e.seen++
	t.recorded.RecordAt(at, e.step(check.Notified))
	t.announce(heardTopic, e.seen)
	if e.once {
		e.unarmed = append(e.unarmed, e.seen)
		return
	}
	t.announce(armedTopic, e.seen)
}

// step returns a step of the client, about the last write that it knows of.
func (e *Observer) step(kind check.StepKind) check.Step {
	return check.Step{Kind: kind, Client: e.slot.Index, Turn: e.seen, Disturbed: e.disturbed()}
}

// missedUntil records that the watcher watches since this version, and missed the writes before it of which
// it was not notified.
func (e *Observer) missedUntil(version int64) {
	t := e.tracker
	for _, number := range e.unarmed {
		t.announce(armedTopic, number)
	}
	for e.unarmed = nil; e.seen < version; {
		e.seen++
		t.recorded.Record(e.step(check.Missed))
		t.announce(heardTopic, e.seen)
		t.announce(armedTopic, e.seen)
	}
}

func (e *Observer) addFinding(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	check.AddFinding(&e.tracker.safety, e.disturbed(), fmt.Sprintf("client %d %s", e.slot.Index+1, what))
}
