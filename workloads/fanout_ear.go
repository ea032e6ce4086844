package workloads

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"
)

// An Ear is one session's, and hears of the changes of a node: by reading it, and
// by notifications, which do not say of which change they are.
type Ear struct {
	seat     *Seat
	calm     int64 // the seat's disturbances when the session began
	tellings *tellings
	quiet    *semaphore.Weighted

	// All below is guarded by tellings.mu.
	deaf     bool        // another session has taken its place
	listens  bool        // since the client first read the node
	seen     int64       // the last write that it knows of
	once     bool        // its watch fires once,
	fired    bool        // which it has done
	rearming bool        // and it is not armed again
	unsure   bool        // a watch is being armed
	pending  []time.Time // notifications since then
}

// join returns the ear of a client's new session. That it has another is no news
// to those who wait for it to listen.
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

// rearms says whether the client is about to watch again.
func (e *Ear) rearms(so bool) {
	switch {
	case so && !e.rearming:
		e.tellings.rearming++
	case !so && e.rearming:
		e.tellings.rearming--
	}
	e.rearming = so
}

// Arm says that a watch is about to be armed, which fires once or again and again,
// or that one may have missed something. Of which changes notifications tell is
// known with the next Read or Caught.
func (e *Ear) Arm(once bool) {
	e.tellings.mu.Lock()
	defer e.tellings.mu.Unlock()
	e.unsure, e.once, e.fired = true, once, false
}

// Told says that a notification has come, now.
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

// Read says that the node had the version when the watch was armed: it tells of
// later changes.
func (e *Ear) Read(version int32) {
	e.tellings.mu.Lock()
	defer e.tellings.mu.Unlock()
	e.know(int64(version))
}

// Caught says that the node has the version when notifications of all changes up
// to it have come, so that those since Arm are of the last ones. It is true only
// within Quietly.
func (e *Ear) Caught(version int32) {
	e.tellings.mu.Lock()
	defer e.tellings.mu.Unlock()
	e.know(int64(version) - int64(len(e.pending)))
}

// Quietly calls f while no write is under way.
func (e *Ear) Quietly(ctx context.Context, f func() error) error {
	if err := e.quiet.Acquire(ctx, 1); err != nil {
		return err
	}
	defer e.quiet.Release(1)
	return f()
}

// know notes the version that the node had before the notifications that wait.
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

// hear notes a notification of the next change.
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
