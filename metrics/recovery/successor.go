package recovery

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// compare orders things by what they are and by their paths.
func (w thing) compare(v thing) int {
	return cmp.Or(strings.Compare(w.watch, v.watch), strings.Compare(w.path, v.path), cmp.Compare(w.ordinal, v.ordinal))
}

// A match says when a thing was back, and by which name.
type match struct {
	at       time.Time // zero if it is not back
	name     string
	revision int64 // from which a watch of etcd is back, 0 for the current one
}

// pair finds for each thing that a session had one that a holder has begun after the fault: of the same name, else of
// one that differs in numbers and identifiers only. Each is found once; used are those that were found before, and
// those found now.
func pair(f Fault, had []*item, h *holder, used map[thing]bool) []match {
	found := make([]match, len(had))
	left := map[thing]int{} // those of no equal name, by pattern
	for i, d := range had {
		if b, again := h.begun[d.thing]; again && !used[d.thing] && f.precedes(b.at) {
			found[i] = match{b.at, d.path, b.revision}
			used[d.thing] = true
		} else {
			left[thing{d.watch, d.fold, 0}]++
		}
	}
	if len(left) == 0 {
		return found
	}
	others := map[thing][]thing{}
	for w, b := range h.begun {
		if like := (thing{w.watch, b.fold, 0}); left[like] > 0 && !used[w] && f.precedes(b.at) {
			others[like] = append(others[like], w)
		}
	}
	for _, all := range others {
		slices.SortFunc(all, func(x, y thing) int { return cmp.Or(h.begun[x].at.Compare(h.begun[y].at), x.compare(y)) })
	}
	for i, d := range had {
		like := thing{d.watch, d.fold, 0}
		if all := others[like]; found[i].at.IsZero() && len(all) > 0 {
			b := h.begun[all[0]]
			found[i] = match{b.at, all[0].path, b.revision}
			used[all[0]] = true
			others[like] = all[1:]
		}
	}
	return found
}

// A class has sessions that had, or holders that have begun, things of the same patterns.
type class[T any] struct {
	like map[thing]int
	all  []T
}

// classes groups by the patterns of things, in the order of the first of each.
func classes[T any](all []T, things func(T) map[thing]int) (found []*class[T]) {
	known := map[string]*class[T]{}
	for _, one := range all {
		like := things(one)
		var names []string
		for w := range like {
			names = append(names, w.watch+" "+w.path)
		}
		slices.Sort(names)
		key := strings.Join(names, "\n")
		if known[key] == nil {
			known[key] = &class[T]{like: like}
			found = append(found, known[key])
		}
		known[key].all = append(known[key].all, one)
	}
	return found
}

// mostCouples is how many couples of classes are compared. If there are more, the names of nodes decide alone.
const mostCouples = 1 << 16

// assign says which holder replaces which session, first those with most patterns in common; of equal ones, those with
// a node of the same name, then in their order.
func assign(ended []*row, fresh []*holder) map[*row]*holder {
	type couple struct {
		ended  *class[*row]
		fresh  *class[*holder]
		common int
	}
	var couples []couple
	from := classes(ended, func(r *row) map[thing]int {
		like := map[thing]int{}
		for _, d := range r.had {
			if !d.line {
				like[thing{d.watch, d.fold, 0}]++
			}
		}
		return like
	})
	to := classes(fresh, func(h *holder) map[thing]int { return h.folds })
	if len(from)*len(to) > mostCouples {
		from, to = []*class[*row]{{all: ended}}, []*class[*holder]{{all: fresh}}
	}
	for _, f := range to {
		for _, e := range from {
			c := couple{ended: e, fresh: f}
			for w := range e.like {
				if f.like[w] > 0 {
					c.common++
				}
			}
			couples = append(couples, c)
		}
	}
	slices.SortStableFunc(couples, func(x, y couple) int { return cmp.Compare(y.common, x.common) })
	by := map[*row]*holder{}
	taken := map[*holder]bool{}
	for _, c := range couples {
		named := map[thing]*holder{}
		for _, h := range c.fresh.all {
			for w := range h.begun {
				if w.watch == "" && !taken[h] {
					named[w] = h
				}
			}
		}
		take := func(r *row, h *holder) {
			if h != nil && by[r] == nil && !taken[h] {
				by[r], taken[h] = h, true
			}
		}
		for _, r := range c.ended.all {
			for _, d := range r.had {
				take(r, named[d.thing])
			}
		}
		next := slices.Clone(c.fresh.all)
		for _, r := range c.ended.all {
			for by[r] == nil && len(next) > 0 {
				take(r, next[0])
				next = next[1:]
			}
		}
	}
	return by
}

// holdersNear returns the holders of an origin and of those that may be of the same client, in the order in which they became
// known.
func (a *Analysis) holdersNear(o *origin) (all []*holder) {
	for _, near := range a.neighbours(o) {
		all = slices.AppendSeq(all, maps.Keys(near.holders))
	}
	slices.SortFunc(all, func(x, y *holder) int { return cmp.Compare(x.serial, y.serial) })
	return all
}

// clientsOf says for the origin of each row of which client it is: its own, or the process of the same host that has
// rows, if its own is not known.
func (a *Analysis) clientsOf(rows []*row) map[*origin]*origin {
	clients := map[*origin]*origin{}
	for _, r := range rows {
		clients[r.h.origin] = r.h.origin
	}
	for o := range clients {
		for _, other := range a.neighbours(o) {
			if _, has := clients[other]; has && o.process == (traffic.Process{}) && other.process != o.process {
				clients[o] = other
				break
			}
		}
	}
	return clients
}

// clientOf returns the client that made an attempt, nil if it is none of those.
func (a *Analysis) clientOf(clients map[*origin]*origin, by *origin) *origin {
	if c := clients[by]; c != nil {
		return c
	}
	for _, near := range a.neighbours(by) {
		if c := clients[near]; c != nil {
			return c
		}
	}
	return nil
}

// attemptsOf returns the attempts of some clients.
func (a *Analysis) attemptsOf(clients map[*origin]*origin, attempts []attempt) (all []attempt) {
	for _, t := range attempts {
		if t.origin = a.clientOf(clients, t.origin); t.origin != nil {
			all = append(all, t)
		}
	}
	return all
}

// fresh returns the holders that may replace sessions of a client: those that it opened after the fault, and those of
// processes of the same program that came when its own had ended.
func (a *Analysis) fresh(c *conduct, claimed map[*holder]*outcome) []*holder {
	first := slices.MinFunc(c.rows, func(x, y *row) int { return x.fault.At.Compare(y.fault.At) })
	all := a.holdersNear(c.client)
	for _, other := range a.origins {
		if c.client.open == 0 && a.lives.follows(other.process, c.client.process) {
			all = slices.AppendSeq(all, maps.Keys(other.holders))
		}
	}
	all = slices.DeleteFunc(all, func(h *holder) bool { return claimed[h] != nil || !first.fault.precedes(h.opened) })
	slices.SortFunc(all, func(x, y *holder) int { return cmp.Compare(x.serial, y.serial) })
	return all
}

// lives are what is known of processes, in the order in which they came.
type lives map[traffic.Process]*life

// A life is that of a process.
type life struct {
	came  int // its place in the order, from 1
	ended int // that of the first process that came when it had ended, 0 if that is not known
}

// add adds a process, and notes which others of its program have ended: these it may have followed, such as one that was
// started again. One of two that run at the same time does not follow the other.
func (l lives) add(p traffic.Process, ended func(traffic.Process) bool) {
	if p == (traffic.Process{}) || l[p] != nil || ended == nil {
		return
	}
	now := &life{came: len(l) + 1}
	for q, other := range l {
		if other.ended == 0 && q.Name == p.Name && ended(q) {
			other.ended = now.came
		}
	}
	l[p] = now
}

// follows reports whether a process came when another one of its program had ended.
func (l lives) follows(p, earlier traffic.Process) bool {
	now, before := l[p], l[earlier]
	return now != nil && before != nil && p.Name == earlier.Name && before.ended > 0 && now.came >= before.ended
}
