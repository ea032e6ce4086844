package pattern

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// Places returns the places: first those with a form, then the patterns that belong to none.
func (t *Table) Places() (places []observation.Place) {
	t.findTrees()
	taken := map[*Pattern]bool{}
	groups := t.groups()
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(groups))) { // the deepest first
		g := groups[name]
		g.kids = slices.DeleteFunc(slices.Clone(g.kids), func(p *Pattern) bool { return taken[p] }) // siblings look at all
		g.siblings, g.below = siblingsOf(groups, g), t.covered(g.dir, taken)
		if f, of, over := g.recognise(); f.Name != "" {
			for _, p := range of {
				taken[p] = true
			}
			at := placeOf(f, of)
			if over {
				at.Path = of[0].Name
			}
			places = append(places, at)
		}
	}
	for p := range t.All() {
		if taken[p] {
			continue
		}
		if f := recogniseNode(p); f.Name != "" {
			places = append(places, placeOf(f, []*Pattern{p}))
		} else if p.named() {
			places = append(places, placeOf(observation.Form{}, []*Pattern{p}))
		}
	}
	if t.others.named() {
		at := placeOf(observation.Form{}, []*Pattern{t.others})
		at.Beyond = t.others.Places
		at.Sessions = max(at.Sessions, int(at.FanoutMax)) // a watch on a node above wakes sessions, too
		places = append(places, at)
	}
	slices.SortStableFunc(places, func(x, y observation.Place) int {
		return cmp.Or(cmp.Compare(y.FanoutMax, x.FanoutMax), cmp.Compare(y.Notifications, x.Notifications), cmp.Compare(y.Requests, x.Requests))
	})
	return places
}

// findTrees finds the recursive watch that covers each pattern.
func (t *Table) findTrees() {
	for _, p := range t.by {
		p.tree, p.raced = nil, nil
		for up := p.Parent; up != nil && p.tree == nil; up = up.Parent {
			if up.Ops[drivers.OpWatchTree].Requests > 0 {
				p.tree = up
			}
		}
	}
	for _, p := range t.by {
		if p.tree != nil && p.contended() {
			p.tree.raced = append(p.tree.raced, p)
		}
	}
}

// covered returns the patterns that a recursive watch of the node covers, without those that are taken or
// for which sessions race.
func (t *Table) covered(dir *Pattern, taken map[*Pattern]bool) (all []*Pattern) {
	for p := range t.All() {
		if p.tree != nil && p.tree == dir && !p.watchedByOthers() && !taken[p] && !p.contended() && !p.signals() {
			all = append(all, p)
		}
	}
	return all
}

// watchedByOthers reports whether more sessions watch nodes of the pattern itself than keep the recursive watch over them.
func (p *Pattern) watchedByOthers() bool {
	over := p.tree.Op(drivers.OpWatchTree).By
	return p.Watchers.Count()-p.Watchers.Common(over) > over.Count()
}

// groups returns each pattern that has patterns below it.
func (t *Table) groups() map[string]group {
	groups := map[string]group{}
	for p := range t.All() {
		if p.Parent == nil {
			continue
		}
		g := groups[p.Parent.Name]
		g.dir, g.kids = p.Parent, append(g.kids, p)
		groups[p.Parent.Name] = g
	}
	return groups
}

// siblingsOf returns the other groups below the same node.
func siblingsOf(groups map[string]group, g group) (all []group) {
	if g.dir.Parent == nil {
		return nil
	}
	for _, k := range groups[g.dir.Parent.Name].kids {
		if other, ok := groups[k.Name]; ok && k != g.dir {
			all = append(all, other)
		}
	}
	return all
}

// placeOf adds the patterns of one place up. Its path is that of the pattern with most
// notifications.
func placeOf(f observation.Form, of []*Pattern) observation.Place {
	r := observation.Place{OfPatterns: len(of)}
	var latency, polled, settled metrics.CoarseHistogram
	watchers, askers, lone := client.Set{}, client.Set{}, client.Set{}
	var useful, wasted, most, missed, unasked int64
	audited, raced := false, false
	known, by := f.Name != "", waitingForTurns(of)
	for i, p := range of {
		n := p.notifications()
		if i == 0 || n > most {
			r.Path, most = p.Name, n
		}
		r.Notifications += n
		r.Watches += p.Watches.Now
		r.Most += p.Watches.Most
		r.Live += p.Live.Most
		r.PollsSame += p.Unchanged
		r.Rounds.Merge(p.Rounds)
		maps.Copy(lone, p.Lone)
		maps.Copy(watchers, p.Watchers)
		if p.tree != nil {
			maps.Copy(watchers, p.tree.Op(drivers.OpWatchTree).By)
		}
		for op := range p.Ops {
			n := p.Ops[op].Requests
			r.Requests += n
			r.Armed += p.Ops[op].Watched
			r.Polls += p.Ops[op].Repeats
			maps.Copy(askers, p.Ops[op].By)
			switch o := drivers.Op(op); {
			case o.IsRead():
				r.Reads += n
			case o.IsWrite():
				r.Writes, r.FailedWrites = r.Writes+n, r.FailedWrites+p.Ops[op].Failed
			}
			latency.Merge(p.Ops[op].Latency)
		}
		audited, missed, unasked = audited || p.Audited, missed+p.Missed, unasked+p.Unasked
		r.Unproven += p.Unproven
		polled.Merge(p.Interval)
		u, w, ok := p.Useful(f.WaitFor, by)
		useful, wasted, known = useful+u, wasted+w, known && ok
	}
	r.Unjoined = lone.Unjoined()
	r.Sessions, r.Askers = watchers.MostAtOnce(), askers.MostAtOnce()
	if f.WaitFor == observation.Turn {
		r.Followers = followers(of, by)
	}
	if c := contestIn(of); len(c.racers) > 1 && (f.WaitFor == observation.News || f.WaitFor == observation.Unknown) {
		if u, w := c.shares(of); w > u {
			useful, wasted, known, raced, f = u, w, true, true, c.form()
		}
	}
	if lost := mayRace(of); lost > 0 && (f.WaitFor == observation.News || f.WaitFor == observation.Turn && r.Unjoined == 0 && wasted <= useful) {
		known, f.WaitFor = false, observation.Unknown
		f.Evidence += fmt.Sprintf("; just after its changes sessions of the same processes or hosts, which watch nothing, lost %d races", lost)
	}
	for e := range effectsOf(of) {
		r.ReadsAfter, r.LostAfter = r.ReadsAfter+e.reads, r.LostAfter+e.lost
		settled.Merge(e.settle)
	}
	fanout := fanoutOf(of...)
	r.Changes, r.FanoutP50, r.FanoutMax = fanout.Count(), fanout.Quantile(50), fanout.Max()
	r.PollEvery = polled.Percentile(50)
	r.SettledP90, r.LatencyP90 = settled.Percentile(90), latency.Percentile(90)
	if r.Unjoined > 0 {
		r.SettledP90 = nil
	} else if known {
		r.Useful, r.Wasted = &useful, &wasted
		if raced || f.WaitFor == observation.Turn {
			r.OfOwnChanges = ofOwnChanges(of)
		}
	}
	if audited {
		r.Missed, r.Unasked = &missed, &unasked
	}
	f.Herd = wakesInVain(r, f.WaitFor)
	if f.Name != "" {
		r.Form = &f
	}
	return r
}

// wakesInVain reports whether changes wake several sessions of which most wait again or lose. Where it is not known
// what they do, it follows from the form: only one can have its turn.
func wakesInVain(p observation.Place, to observation.Want) bool {
	if p.Unjoined > 0 {
		return to == observation.Turn && p.FanoutP50 > 1
	}
	return p.FanoutMax > 1 && p.Wasted != nil && *p.Wasted > *p.Useful
}
