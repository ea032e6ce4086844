package faults

import (
	"slices"
	"sync"
	"time"
)

// Silences says which faults can be why clients do not hear of their service: those of servers, and of the clients
// themselves, that are not undone or were undone less than a session's life ago. Others, such as the expiry of sessions,
// do not keep clients from their service.
type Silences struct {
	Life time.Duration // of a session of which the service does not hear

	mu      sync.Mutex
	servers map[int]*silence
	clients map[Client]*silence
}

// A silence is what faults do to one server or client.
type silence struct {
	undoing map[Verb]bool // the verbs that undo what is not undone
	undone  time.Time     // when the last of it was; zero if none was
}

// NewSilences returns the silences of a run in which no fault has happened.
func NewSilences(life time.Duration) *Silences {
	return &Silences{Life: life, servers: make(map[int]*silence), clients: make(map[Client]*silence)}
}

// Record records whom a step silences, or no longer does.
func (s *Silences) Record(d Done) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range d.Servers {
		record(s.servers, i, d.FaultAction, s.Life)
	}
	for _, c := range d.Clients {
		record(s.clients, c, d.FaultAction, s.Life)
	}
}

func record[K comparable](all map[K]*silence, who K, done FaultAction, life time.Duration) {
	s := all[who]
	if s == nil {
		s = &silence{undoing: make(map[Verb]bool)}
		all[who] = s
	}
	if by := done.undoneBy(life); by != "" {
		s.undoing[by] = true
	} else if s.undoing[done.Verb] || done.Verb == Restart {
		delete(s.undoing, done.Verb)
		s.undone = time.Now()
	}
}

// Restored records that all faults have been undone.
func (s *Silences) Restored() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.servers {
		one.restored()
	}
	for _, one := range s.clients {
		one.restored()
	}
}

func (s *silence) restored() {
	if len(s.undoing) > 0 {
		clear(s.undoing)
		s.undone = time.Now()
	}
}

// Explain reports whether faults can be why the session of a client has ended.
func (s *Silences) Explain(c Client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[c].explains(s.Life) {
		return true
	}
	for _, one := range s.servers {
		if one.explains(s.Life) {
			return true
		}
	}
	return false
}

func (s *silence) explains(life time.Duration) bool {
	return s != nil && (len(s.undoing) > 0 || time.Since(s.undone) < life)
}

// Freeze reports whether a fault suspends the client, which then learns nothing of its session.
func (s *Silences) Freeze(c Client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[c] != nil && s.clients[c].undoing[Thaw]
}

// Silences reports whether one of the faults is in progress, or was less than a session's life ago, at a time since the
// start of a window of the given length, at whose end all are undone. It is for a process that does not inject them.
func (s Schedule) Silences(at, window, life time.Duration) bool {
	for _, f := range s {
		if !slices.ContainsFunc(f.Steps, func(a FaultAction) bool { return a.Verb == Restart || a.undoneBy(life) != "" }) {
			continue
		}
		end := f.End()
		if f.Steps[len(f.Steps)-1].undoneBy(life) != "" {
			end = window
		}
		if at >= f.At && at < end+life {
			return true
		}
	}
	return false
}

// undoneBy returns the verb that ends what the action does to its targets: until then servers, or the clients that it
// targets, may not hear of others for a session's life. It is "" for an action that does nothing that lasts, or only with
// notifications, and for one that lets heartbeats pass in time.
func (a FaultAction) undoneBy(life time.Duration) Verb {
	d, _ := find(a.Verb)
	switch {
	case d.packets, a.Verb == Hold:
	case a.Verb == Delay && 2*a.By < life: // there and back
	case a.Verb == Throttle && float64(a.To)*life.Seconds() > ahead:
	default:
		return d.undone
	}
	return ""
}

// ahead is how many bytes may be on a connection before a heartbeat: servers take no larger packet by default.
const ahead = 1 << 20
