package recovery

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A receiver gets what the client of a connection has received, where faults may hold back what the service has sent.
type receiver struct{ tap *tap }

// Received returns a tap for what passes between the client of a connection and the faults. It is called before Open
// with the same connection, whose tap gets what the service has sent: of that, the client knows only what it received.
func (a *Analysis) Received(c traffic.Connection) traffic.Tap {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := newTap(a)
	t.behind = true
	a.expected[c.ID] = t
	return receiver{t}
}

// Message reports one packet that the client has received.
func (r receiver) Message(at time.Time, m drivers.Message) {
	t := r.tap
	m = cloned(m)
	switch {
	case m.Kind == drivers.Notification && len(m.Path) > 0:
		t.a.afterwards(at, func() { t.notified(&m) })
	case m.Kind == drivers.Reply:
		t.a.afterwards(at, func() { t.receives(&m) })
	}
}

// cloned returns a message that remains valid after the call that reports it.
func cloned(m drivers.Message) drivers.Message {
	m.Path, m.Parts, m.Shown = bytes.Clone(m.Path), slices.Clone(m.Parts), slices.Clone(m.Shown)
	for i := range m.Parts {
		m.Parts[i].Path = bytes.Clone(m.Parts[i].Path)
	}
	for i := range m.Shown {
		m.Shown[i].Path = bytes.Clone(m.Shown[i].Path)
	}
	return m
}

// afterwards does something with what the client has received, at its time. The tap of what the service has sent knows
// whose connection it is.
func (a *Analysis) afterwards(at time.Time, do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.enqueue(at, do)
}

// A coming watch was armed at the service, and its client has not received the answer.
type coming struct {
	thing
	standing
	fired time.Time // when a notification ended it that follows the answer; zero if none did
}

// armed returns the watch that a reply says is armed.
func armed(m *drivers.Message) (w thing, arms bool) {
	arms = m.Watch && len(m.Path) > 0 && m.Op != drivers.OpUnwatch && (m.Err == nil || m.Op == drivers.OpExists && errors.Is(m.Err, drivers.ErrNoNode))
	return thing{watch: watchOf(m), path: string(m.Path)}, arms
}

// arms records that the service has armed a watch. The client has it when it receives the answer.
func (t *tap) arms(m *drivers.Message, r *request) {
	w, arms := armed(m)
	switch {
	case !arms:
	case len(t.coming) >= maxAsked:
		t.h.beyond = true
	default:
		s := standing{tap: t, number: m.Number, exists: m.Op == drivers.OpExists, revision: r.revision}
		t.coming = append(t.coming, coming{thing: w, standing: s})
	}
}

// receives records what an answer tells the client.
func (t *tap) receives(m *drivers.Message) {
	if t.h == nil {
		return
	}
	if m.Op == drivers.OpRearm {
		t.rearm(m.Err)
	}
	if w, arms := armed(m); arms {
		t.has(w)
	}
	for _, s := range m.Shown {
		t.a.reads(t.h, s)
		t.a.look(t.h, s)
		t.a.shown(t.h, s)
	}
}

// has records that the client has received the answer that arms a watch.
func (t *tap) has(w thing) {
	i := slices.IndexFunc(t.coming, func(c coming) bool { return c.thing == w })
	if i < 0 { // it has ended
		return
	}
	c := t.coming[i]
	t.coming = slices.Delete(t.coming, i, i+1)
	if t.h.begin(w, c.standing); !c.fired.IsZero() {
		t.h.end(w)
		t.h.untold[w] = untold{t, c.fired}
	}
}

// leaves records that the service has sent a notification, which ends a watch that the client has, or will have when it
// receives the answer.
func (t *tap) leaves(w thing) {
	h, follows := t.h, false
	for i := range t.coming {
		if c := &t.coming[i]; c.thing == w {
			c.fired, follows = h.a.at, true
		}
	}
	if _, has := h.has[w]; has || t.fires(w) && !follows {
		h.untold[w] = untold{t, h.a.at}
	}
}

// notified records that the client was told of a change.
func (t *tap) notified(m *drivers.Message) {
	h, path := t.h, string(m.Path)
	if h == nil {
		return
	}
	t.a.look(h, drivers.Sight{Path: m.Path, Pos: m.Pos, Below: m.Event == drivers.ChildrenChanged, Values: true})
	if m.Event != drivers.ChildrenChanged {
		t.a.told(h, path)
	}
	for _, kind := range []string{onData, onChildren} {
		w := thing{watch: kind, path: path}
		if _, fired := h.untold[w]; fired { // a packet may have set it again, whose answer follows
			t.fire(w)
		}
		delete(h.untold, w)
	}
}

// An untold watch has ended by a notification that the client has not received.
type untold struct {
	tap *tap
	at  time.Time // of the notification
}

// misses ends the watches whose notifications have not reached the client before its connection ended, those of all of its
// connections if it is nil: they are lost with it.
func (h *holder) misses(t *tap) {
	for w, u := range h.untold {
		if t != nil && u.tap != t {
			continue
		}
		delete(h.untold, w)
		if r := h.row; r.breaks() && r.fault.precedes(u.at) && r.broke[w].IsZero() {
			r.broke[w] = h.a.at
		}
	}
}

// waits reports whether a watch has ended and the client waits for the notification.
func (h *holder) waits(w thing) bool {
	u, is := h.untold[w]
	return is && h.a.at.Sub(u.at) > lateness
}

// Gap reports bytes that were not decoded.
func (r receiver) Gap(at time.Time, _ int64, cause traffic.Cause) {
	if cause != traffic.Unfinished {
		r.tap.a.afterwards(at, func() {
			if r.tap.origin != nil {
				r.tap.origin.gap = r.tap.a.at
			}
		})
	}
}

func (receiver) Session(time.Time, traffic.Session) {}
func (receiver) Lease(time.Time, int64)             {}
func (receiver) Members(time.Time, []string)        {}
func (receiver) Owner(traffic.Process)              {}
func (receiver) Close(time.Time)                    {}
