package client

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Set is a set of sessions. Parts of one client count as one.
type Set map[*Session]bool

// Add adds a session.
func (s *Set) Add(one *Session) {
	if *s == nil {
		*s = Set{}
	}
	(*s)[one] = true
}

// units returns what the sessions count as.
func (s Set) units() map[*Session]bool {
	units := make(map[*Session]bool, len(s))
	for one := range s {
		units[one.Unit()] = true
	}
	return units
}

// Count returns how many sessions they are.
func (s Set) Count() int { return len(s.units()) }

// MostAtOnce returns how many of the sessions there were at the same time.
func (s Set) MostAtOnce() (most int) {
	type edge struct {
		at    time.Time
		count int
		of    *Session
	}
	var edges []edge
	now := map[*Session]int{}
	for one := range s {
		edges = append(edges, edge{one.from, 1, one.Unit()})
		if !one.to.IsZero() {
			edges = append(edges, edge{one.to, -1, one.Unit()})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { // ends first
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.count, b.count))
	})
	for _, e := range edges {
		if now[e.of] += e.count; now[e.of] == 0 {
			delete(now, e.of)
		}
		most = max(most, len(now))
	}
	return most
}

// Common returns how many of the sessions are also among others.
func (s Set) Common(others Set) (n int) {
	also := others.units()
	for one := range s.units() {
		if also[one] {
			n++
		}
	}
	return n
}

// Unjoined returns how many notifications the sessions got of which it is not known by which connections their
// clients act.
func (s Set) Unjoined() (n int64) {
	for one := range s {
		if !one.Reacts() {
			n += one.told
		}
	}
	return n
}

// IsSubsetOf reports whether all sessions are among others.
func (s Set) IsSubsetOf(others Set) bool { return s.Common(others) == s.Count() }

// WokenTogether records that one change has woken the sessions: those of one process are of different
// clients.
func (s Set) WokenTogether() {
	first := map[*Origin]*Session{}
	for one := range s {
		r := one.root()
		if f := first[r.origin]; f != nil && f != r {
			r.origin.apart = true
		}
		first[r.origin] = r
	}
}

// watchedBy records that the sessions watch one path pattern: those of one process that do so at the same
// time are of different clients.
func (s Set) watchedBy() {
	of := map[*Origin]Set{}
	for one := range s {
		if o := one.root().origin; o.may() {
			all := of[o]
			all.Add(one)
			of[o] = all
		}
	}
	for o, all := range of {
		o.apart = o.apart || all.MostAtOnce() > 1
	}
}

// Say says that so many sessions do something, which it gets as one does it and as several do.
func Say(sessions int, does, do string) string {
	if sessions == 1 {
		return "1 session " + does
	}
	return fmt.Sprintf("%d sessions %s", sessions, do)
}
