package observe

import (
	"cmp"
	"maps"
	"time"

	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/pattern"
	"github.com/stampede-bench/stampede/metrics/polling"
)

// An activity is what one client does and waits for, by all sessions that are known to be its own: a client of
// etcd's JSON gateway is notified by one connection and asks by another.
type activity struct {
	key      any               // of the client, nil until one is known; see [client.Session.Key]
	sessions int               // that share it and have not ended
	links    int               // open connections
	over     bool              // its session was closed
	told     int64             // notifications
	writes   int64             // requests
	children map[string]*child // ephemeral nodes, by path
	waits    map[string]*wait  // by the node at which it waits
	others   map[string]*wait  // for anything else, by the node of the notification
	newest   *wait             // nil if it is over
	before   string            // node of the wait before the newest
	races    map[string]bool   // single ephemeral nodes that it could not create, because another session had
	stock    stock
	lists    *listing                   // its latest list of a line
	polls    polling.Reads              // its latest unwatched reads
	rounds   polling.Rounds             // in which it asks by writing
	woke     *wake                      // its latest notification
	tried    map[*pattern.Pattern]bool  // it has tried to create or set a node of these
	serial   int64                      // in the order of their beginnings, from 1
	work     *causality.Work            // nil if it is at rest
	beside   map[*pattern.Pattern]int64 // races that it lost just after others of its process or host were notified there
	freed    string                     // the node of whose deletion it was told last
	orphan   *orphan                    // nil if it has a connection
	broken   map[watchKey]bool          // watches that ended with their connection and were not armed again
	brokenAt time.Time
	answers  []answered // the latest, of a client of etcd
}

func (a *Analysis) newActivity() *activity {
	a.serials++
	return &activity{
		sessions: 1, serial: a.serials, children: map[string]*child{},
		waits: map[string]*wait{}, others: map[string]*wait{},
		races: map[string]bool{}, tried: map[*pattern.Pattern]bool{},
	}
}

// gone reports whether nothing answers for the client's nodes any more but their time-out.
func (c *activity) gone() bool { return c.over || c.links == 0 }

// linked counts connections that begin or end to serve the session.
func (s *session) linked(n int) {
	s.connections += n
	s.links += n
}

// leave ends the session's part in its activity, and the activity with the last one.
func (s *session) leave(a *Analysis) {
	s.links -= s.connections
	if s.sessions--; s.sessions > 0 {
		return
	}
	s.settle(a)
	s.work.End()
	for _, c := range s.children {
		a.remove(c, 0)
	}
	a.forget(s.activity)
	// Removed children and items of queues refer to their owner.
	s.children, s.waits, s.others, s.races, s.polls, s.lists, s.answers = nil, nil, nil, nil, polling.Reads{}, nil, nil
}

func (a *Analysis) forget(c *activity) {
	if a.clients[c.key] == c {
		delete(a.clients, c.key)
	}
}

// unite lets the session share the activity of its client, as far as it is known by now who that is. Where a
// process turns out to have several, each of its sessions has one of its own from then on. A session that has ended shares nothing:
// its process may be known only then.
func (a *Analysis) unite(s *session) {
	if a.byMeter[s.probe] != s {
		return
	}
	key := s.of.Key()
	_, was := s.key.(*client.Origin)
	_, is := key.(*client.Origin)
	of := a.clients[key]
	switch {
	case was && s.key != key:
		for _, other := range a.sharing(s) {
			other.leave(a)
			other.activity = a.newActivity()
			other.links = other.connections
			a.unite(other)
		}
	case of == nil:
		a.forget(s.activity)
		a.clients[key], s.key = s.activity, key
		if !is { // the key is that of the session alone
			return
		}
		for _, other := range a.byMeter {
			if other.of.Key() == key {
				other.join(a, s.activity)
			}
		}
	case of != s.activity:
		for _, other := range a.sharing(s) {
			other.join(a, of)
		}
	}
}

// sharing returns the sessions with the same activity.
func (a *Analysis) sharing(s *session) (all []*session) {
	if s.sessions == 1 {
		return []*session{s}
	}
	for _, other := range a.byMeter {
		if other.activity == s.activity {
			all = append(all, other)
		}
	}
	return all
}

// join makes the session share another activity, which takes over its own if no other session has that.
func (s *session) join(a *Analysis, to *activity) {
	from := s.activity
	if from == to {
		return
	}
	if process, _ := to.key.(*client.Origin); process == nil && to.links == 0 {
		a.all.resumed++
		s.activity = to
		s.reconnect()
		s.activity = from
	}
	from.sessions, to.sessions = from.sessions-1, to.sessions+1
	from.links, to.links = from.links-s.connections, to.links+s.connections
	s.activity = to
	for k, w := range s.watches {
		s.rearmedBroken(a, k, w.at)
	}
	if from.sessions > 0 {
		return
	}
	for _, c := range from.children {
		c.owner = to
	}
	maps.Copy(to.children, from.children)
	maps.Copy(to.waits, from.waits)
	maps.Copy(to.others, from.others)
	maps.Copy(to.races, from.races)
	maps.Copy(to.tried, from.tried)
	to.answers = append(to.answers, from.answers...)
	to.answers = to.answers[max(0, len(to.answers)-maxAnswered):]
	to.told, to.writes = to.told+from.told, to.writes+from.writes
	to.newest = cmp.Or(to.newest, from.newest)
	to.lists = cmp.Or(to.lists, from.lists)
	to.takeRace(a, from)
	if to.work == nil {
		to.work = from.work
	} else {
		from.work.End()
	}
	a.forget(from)
}
