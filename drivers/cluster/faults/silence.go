package faults

import (
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
		record(s.servers, i, d.Verb)
	}
	for _, c := range d.Clients {
		record(s.clients, c, d.Verb)
	}
}

func record[K comparable](all map[K]*silence, who K, v Verb) {
	s := all[who]
	if s == nil {
		s = &silence{undoing: make(map[Verb]bool)}
		all[who] = s
	}
	if by := v.undoneBy(); by != "" {
		s.undoing[by] = true
	} else if s.undoing[v] || v == Restart {
		delete(s.undoing, v)
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
		end := f.End()
		if f.Steps[len(f.Steps)-1].Verb.undoneBy() != "" {
			end = window
		}
		if at >= f.At && at < end+life {
			return true
		}
	}
	return false
}

// undoneBy returns the verb that ends what this verb does to its targets: until then servers, or the clients that it
// targets, may not hear of others. It is "" for a verb that does nothing that lasts, or only with notifications.
func (v Verb) undoneBy() Verb {
	if d, _ := find(v); !d.packets && v != Hold {
		return d.undone
	}
	return ""
}
