package workloads

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
)

// An Ear tracks what one session knows of the changes of a node, from reads and from
// notifications. A notification does not say which change it is for.
type Ear struct {
	seat     *Seat
	calm     int64 // the seat's disturbances when the session began
	tellings *tellings
	quiet    *semaphore.Weighted

	// tellings.mu guards the fields below.
	deaf     bool        // another session of the client has replaced it
	listens  bool        // the client has read the node
	seen     int64       // the last write that it knows of
	once     bool        // its watch fires once
	fired    bool        // the watch has fired since it was armed
	rearming bool        // its one-shot watch has fired and is not armed again
	unsure   bool        // a watch is being armed
	pending  []time.Time // times of the notifications since then
}

// join returns the ear of a client's new session. A client that listened before still counts as
// listening.
func (t *tellings) join(s *Seat, quiet *semaphore.Weighted) *Ear {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := &Ear{seat: s, calm: s.Disturbances(), tellings: t, quiet: quiet}
	if before := t.ears[s.Index]; before != nil {
		before.deaf = true
		e.listens, e.seen, e.rearming = before.listens, before.seen, before.rearming
	}
	t.ears[s.Index] = e
	return e
}

func (e *Ear) disturbed() bool { return e.seat.Disturbances() != e.calm }

// rearms records whether the client is about to watch again.
func (e *Ear) rearms(so bool) {
	switch {
	case so && !e.rearming:
		e.tellings.rearming++
	case !so && e.rearming:
		e.tellings.rearming--
	}
	e.rearming = so
}

// Arm records that a watch is about to be armed, one-shot if once is set, or that a persistent
// watch may have missed changes. The next Read or Caught determines which changes the
// notifications since Arm are for.
func (e *Ear) Arm(once bool) {
	e.tellings.mu.Lock()
	defer e.tellings.mu.Unlock()
	e.unsure, e.once, e.fired = true, once, false
}

// Told records that a notification has just arrived.
func (e *Ear) Told() {
	at := time.Now()
	e.seat.Marks.PhaseEnd()
	e.seat.Marks.PhaseBegin()
	t := e.tellings
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case e.deaf:
	case e.once && e.fired:
		e.wrong("was told twice by one watch")
	case e.unsure:
		e.fired = true
		e.pending = append(e.pending, at)
	default:
		e.fired = true
		e.rearms(e.once)
		e.hear(at)
		t.settle()
	}
}

// Read records that the node had this version when the watch was armed: notifications are for
// later changes.
func (e *Ear) Read(version int32) {
	e.tellings.mu.Lock()
	defer e.tellings.mu.Unlock()
	e.know(int64(version))
}

// Caught records that the node has this version and that the notifications of all changes up to it
// have arrived. So those since Arm are for the last changes. That is true only within Quietly.
func (e *Ear) Caught(version int32) {
	e.tellings.mu.Lock()
	defer e.tellings.mu.Unlock()
	e.know(int64(version) - int64(len(e.pending)))
}

// Quietly calls f while no write is in progress.
func (e *Ear) Quietly(ctx context.Context, f func() error) error {
	if err := e.quiet.Acquire(ctx, 1); err != nil {
		return err
	}
	defer e.quiet.Release(1)
	return f()
}

// know records the version that the node had before the pending notifications.
func (e *Ear) know(version int64) {
	t := e.tellings
	if e.deaf {
		return
	}
	t.safety.Checked++
	switch {
	case version > t.made:
		e.wrong("read version %d, which was never written", version)
	case version < e.seen:
		e.wrong("read version %d after %d", version, e.seen)
	}
	for ; e.seen < min(version, t.made); e.seen++ {
		if u := t.write(e.seen + 1); u != nil {
			u.missed++
		}
	}
	for _, at := range e.pending {
		e.hear(at)
	}
	e.rearms(e.once && len(e.pending) > 0)
	e.unsure, e.pending = false, e.pending[:0]
	if !e.listens {
		e.listens = true
		e.seat.Marks.PhaseBegin()
		t.hear++
	}
	t.settle()
}

// hear records a notification of the next change.
func (e *Ear) hear(at time.Time) {
	t := e.tellings
	t.safety.Checked++
	if e.seen == t.made {
		e.wrong("was told of write %d, which was not made", t.made+1)
		return
	}
	e.seen++
	if u := t.write(e.seen); u != nil {
		u.told = append(u.told, at.Sub(u.issued))
	}
}

func (e *Ear) wrong(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	wrong(&e.tellings.safety, e.disturbed(), fmt.Sprintf("client %d %s", e.seat.Index+1, what))
}
