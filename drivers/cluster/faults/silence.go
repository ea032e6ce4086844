package faults

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Silences says which faults can be why clients do not hear of their service: those of servers, and of the clients
// themselves, that are not undone or were undone less than a session's life ago, of servers at least returnTime. Others, such as the expiry of sessions,
// do not keep clients from their service.
type Silences struct {
	Life time.Duration // of a session of which the service does not hear

	mu      sync.Mutex
	servers map[int]*silence
	clients map[Client]*silence
}

// A silence is what faults do to one server or client.
type silence struct {
	doing  map[Verb]FaultAction // what is not undone
	undone time.Time            // when the last of it was; zero if none was
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
		s = &silence{doing: make(map[Verb]FaultAction)}
		all[who] = s
	}
	if done.undoneBy(life) != "" {
		s.doing[done.Verb] = done
		return
	}
	before := len(s.doing)
	maps.DeleteFunc(s.doing, func(_ Verb, a FaultAction) bool { return a.undoneBy(life) == done.Verb })
	if len(s.doing) < before || done.Verb == Restart {
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
	if len(s.doing) > 0 {
		clear(s.doing)
		s.undone = time.Now()
	}
}

// Explain reports whether faults can be why the session of a client has ended. No client has heard of the service for as long
// as silent.
func (s *Silences) Explain(c Client, silent time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[c].explains(s.Life, func(FaultAction) bool { return c.Link().Idle() < s.Life }) {
		return true
	}
	for _, one := range s.servers {
		if one.explains(max(s.Life, returnTime), func(a FaultAction) bool { return a.holdsBack(silent, s.Life) }) {
			return true
		}
	}
	return false
}

// returnTime is how long servers may take to serve after a fault of them is undone: they start, and elect a leader.
const returnTime = 5 * time.Second

// explains reports whether what was done to one of them explains a silence, also for some time after it is undone. slow says it
// of a throttle, which lets all pass in time: it explains no longer a silence than it holds data back.
func (s *silence) explains(after time.Duration, slow func(FaultAction) bool) bool {
	if s == nil {
		return false
	}
	for _, a := range s.doing {
		if a.Verb != Throttle || slow(a) {
			return true
		}
	}
	return time.Since(s.undone) < after
}

// holdsBack reports whether what a throttle lets pass may be that late: a session's life, and what is ahead of it.
func (a FaultAction) holdsBack(silent, life time.Duration) bool {
	return (silent-life).Seconds()*float64(a.To) < ahead
}

// Freeze reports whether a fault suspends the client, which then learns nothing of its session.
func (s *Silences) Freeze(c Client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clients[c].frozen()
}

func (s *silence) frozen() bool {
	if s == nil {
		return false
	}
	_, is := s.doing[Freeze]
	return is
}

// Silences reports whether one of the faults is in progress, or was until lately as in Silences, at a time since the
// start of a window of the given length, at whose end all are undone, and explains that no client has heard of the service for
// as long as silent. It is for a process that does not inject them.
func (s Schedule) Silences(at, window, life, silent time.Duration) bool {
	explains := func(a FaultAction) bool {
		return a.Verb == Restart || a.undoneBy(life) != "" && (a.Verb != Throttle || a.holdsBack(silent, life))
	}
	for _, f := range s {
		if !slices.ContainsFunc(f.Steps, explains) {
			continue
		}
		after := life
		if f.Target.servers() {
			after = max(life, returnTime)
		}
		end := f.End()
		if f.Steps[len(f.Steps)-1].undoneBy(life) != "" {
			end = window
		}
		if at >= f.At && at < end+after {
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
