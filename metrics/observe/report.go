package observe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
)

// maxWatchers is how many sessions a Report lists.
const maxWatchers = 10

// Report decides what is still open and returns what was observed. Call it when the observation
// has ended.
func (a *Analysis) Report() observation.Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	watchers, standing := a.watchers(), a.standing() // finish ends watches
	a.finish()
	r := a.reportNow()
	r.Watchers, r.Standing = watchers, standing
	return r
}

func (a *Analysis) reportNow() observation.Report {
	var watching []client.Set
	for _, p := range a.patterns {
		watching = append(watching, p.watchers, p.op(drivers.OpWatchTree).by)
	}
	a.table.Resolve(watching)
	defer a.table.Forget()
	length := a.now.Sub(a.from)
	return observation.Report{
		Duration: length, Traffic: a.all.traffic(a), Places: a.report(),
		Largest: a.largestChanges(), Events: a.tracer.Report(length), Clients: a.table.Rows(length),
		Operations: a.all.operations(), Watchers: a.watchers(), Churn: a.churn(), Rearming: a.all.rearming.Sum,
	}
}

func (t *totals) traffic(a *Analysis) observation.Traffic {
	by := a.table.Counts()
	r := observation.Traffic{
		Connections: t.connections, Joined: t.joined, Clients: a.table.Clients(),
		Sessions: by.Total(), ToldApart: by, Resumed: t.resumed, Ended: t.ended, Lost: t.lost, Messages: t.messages, Requests: t.requests,
		Reads: t.reads, Writes: t.writes, FailedWrites: t.failed, Notifications: t.notifications, Rearms: t.rearms,
		Changes: t.triggers, UnseenWriters: t.foreign, Armed: t.armed, StandingNow: a.watches.now, Unfollowed: t.unfollowed, Unjoined: a.lone.Unjoined(),
		Audited: t.audited, Missed: t.missed, Unproven: t.unproven, Unasked: t.unasked, MostStanding: a.watches.most, MostLive: a.live.most, MostOfSession: t.mostOfSession, Bytes: t.bytes,
		Undecoded: t.coverage.List(), Beyond: t.beyond,
	}
	r.Beyond.Early += a.meter.Early() + a.tracer.Early()
	r.FanoutP50, r.FanoutMax = t.fanout.Quantile(50), t.fanout.Max()
	return r
}

// largestChanges returns the largest changes with the processes of their writers.
func (a *Analysis) largestChanges() (all []observation.Change) {
	for _, r := range a.largest {
		if r.by != nil {
			r.Process = r.by.Origin().Process
		}
		all = append(all, r.Change)
	}
	return all
}

// report returns the places: first those with a form, then the patterns that belong to none.
func (a *Analysis) report() (places []observation.Place) {
	a.findTrees()
	taken := map[*pattern]bool{}
	groups := a.groups()
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(groups))) { // the deepest first
		g := groups[name]
		g.kids = slices.DeleteFunc(slices.Clone(g.kids), func(p *pattern) bool { return taken[p] }) // siblings look at all
		g.siblings, g.below = siblingsOf(groups, g), a.covered(g.dir, taken)
		if f, of, over := g.recognise(); f.Name != "" {
			for _, p := range of {
				taken[p] = true
			}
			at := placeOf(f, of)
			if over {
				at.Path = of[0].name
			}
			places = append(places, at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.patterns)) {
		p := a.patterns[name]
		if taken[p] {
			continue
		}
		if f := recogniseNode(p); f.Name != "" {
			places = append(places, placeOf(f, []*pattern{p}))
		} else if p.named() {
			places = append(places, placeOf(observation.Form{}, []*pattern{p}))
		}
	}
	if a.others.named() {
		places = append(places, placeOf(observation.Form{}, []*pattern{a.others}))
	}
	slices.SortStableFunc(places, func(x, y observation.Place) int {
		return cmp.Or(cmp.Compare(y.FanoutMax, x.FanoutMax), cmp.Compare(y.Notifications, x.Notifications), cmp.Compare(y.Requests, x.Requests))
	})
	return places
}

// findTrees finds the recursive watch that covers each pattern.
func (a *Analysis) findTrees() {
	for _, p := range a.patterns {
		p.tree = nil
		for up := p.parent; up != nil && p.tree == nil; up = up.parent {
			if up.ops[drivers.OpWatchTree].requests > 0 {
				p.tree = up
			}
		}
	}
}

// covered returns the patterns that a recursive watch of the node covers, without those that are taken or
// for which sessions race.
func (a *Analysis) covered(dir *pattern, taken map[*pattern]bool) (all []*pattern) {
	for _, name := range slices.Sorted(maps.Keys(a.patterns)) {
		if p := a.patterns[name]; p.tree != nil && p.tree == dir && !p.watchedByOthers() && !taken[p] && !p.contended() && !p.signals() {
			all = append(all, p)
		}
	}
	return all
}

// watchedByOthers reports whether more sessions watch nodes of the pattern itself than keep the recursive watch over them.
func (p *pattern) watchedByOthers() bool {
	over := p.tree.op(drivers.OpWatchTree).by
	return p.watchers.Count()-p.watchers.Common(over) > over.Count()
}

// groups returns each pattern that has patterns below it.
func (a *Analysis) groups() map[string]group {
	groups := map[string]group{}
	for _, name := range slices.Sorted(maps.Keys(a.patterns)) {
		p := a.patterns[name]
		if p.parent == nil {
			continue
		}
		g := groups[p.parent.name]
		g.dir, g.kids = p.parent, append(g.kids, p)
		groups[p.parent.name] = g
	}
	return groups
}

// siblingsOf returns the other groups below the same node.
func siblingsOf(groups map[string]group, g group) (all []group) {
	if g.dir.parent == nil {
		return nil
	}
	for _, k := range groups[g.dir.parent.name].kids {
		if other, ok := groups[k.name]; ok && k != g.dir {
			all = append(all, other)
		}
	}
	return all
}

// placeOf adds the patterns of one place up. Its path is that of the pattern with most
// notifications.
func placeOf(f observation.Form, of []*pattern) observation.Place {
	r := observation.Place{OfPatterns: len(of)}
	var latency, polled, settled metrics.CoarseHistogram
	watchers, askers, lone, followers, tried := client.Set{}, client.Set{}, client.Set{}, client.Set{}, client.Set{}
	var useful, wasted, most, missed, unasked int64
	audited := false
	known := f.Name != ""
	for i, p := range of {
		n := p.notifications()
		if i == 0 || n > most {
			r.Path, most = p.name, n
		}
		r.Notifications += n
		r.Watches += p.watches.now
		r.Most += p.watches.most
		r.Live += p.live.most
		r.PollsSame += p.unchanged
		maps.Copy(lone, p.lone)
		maps.Copy(followers, p.followers)
		maps.Copy(tried, p.op(drivers.OpCreate).by)
		maps.Copy(tried, p.op(drivers.OpSet).by)
		maps.Copy(watchers, p.watchers)
		if p.tree != nil {
			maps.Copy(watchers, p.tree.op(drivers.OpWatchTree).by)
		}
		for op := range p.ops {
			n := p.ops[op].requests
			r.Requests += n
			r.Armed += p.ops[op].watched
			r.Polls += p.ops[op].repeats
			maps.Copy(askers, p.ops[op].by)
			switch o := drivers.Op(op); {
			case o.IsRead():
				r.Reads += n
			case o.IsWrite():
				r.Writes, r.FailedWrites = r.Writes+n, r.FailedWrites+p.ops[op].failed
			}
			latency.Merge(p.ops[op].latency)
		}
		audited, missed, unasked = audited || p.audited, missed+p.missed, unasked+p.unasked
		r.Unproven += p.unproven
		polled.Merge(p.interval)
		u, w, ok := p.useful(f.WaitFor)
		useful, wasted, known = useful+u, wasted+w, known && ok
	}
	r.Unjoined = lone.Unjoined()
	r.Sessions, r.Askers = watchers.MostAtOnce(), askers.MostAtOnce()
	if f.WaitFor == observation.Turn {
		r.Followers = followers.Count() - followers.Common(tried) // some have tried later
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

// named reports whether a request or a notification named a path of the pattern.
func (p *pattern) named() bool {
	return p.notifications() > 0 || slices.ContainsFunc(p.ops[:], func(o opCounts) bool { return o.requests > 0 })
}

func (p *pattern) notifications() (n int64) {
	for _, e := range p.events {
		n += e
	}
	return n
}

func (t *totals) operations() (all []observation.Operation) {
	for op := range t.latency {
		if h := &t.latency[op]; h.Count() > 0 {
			all = append(all, observation.Operation{Name: drivers.Op(op).String(), Requests: h.Count(), P50: h.Percentile(50), P99: h.Percentile(99)})
		}
	}
	return all
}

func (a *Analysis) watchers() (all []observation.Watcher) {
	for _, s := range a.byMeter {
		if len(s.watches) > 0 {
			all = append(all, observation.Watcher{Client: s.client, Watches: len(s.watches), Notifications: s.notifications})
		}
	}
	slices.SortFunc(all, func(x, y observation.Watcher) int {
		return cmp.Or(cmp.Compare(y.Watches, x.Watches), cmp.Compare(x.Client, y.Client))
	})
	return all[:min(len(all), maxWatchers)]
}

// maxStanding is how many path patterns a Report lists.
const maxStanding = 10

// standing returns the patterns with most armed watches. It looks at every watch, so it is made for
// the end of the observation only.
func (a *Analysis) standing() (all []observation.Standing) {
	ages := map[*pattern][]time.Duration{}
	for _, s := range a.byMeter {
		for _, w := range s.watches {
			ages[w.pattern] = append(ages[w.pattern], max(a.now.Sub(w.at), 0))
		}
	}
	for p, of := range ages {
		slices.Sort(of)
		last := len(of) - 1
		all = append(all, observation.Standing{Path: p.name, Watches: int64(len(of)), AgeP50: of[last/2], Oldest: of[last]})
	}
	slices.SortFunc(all, func(x, y observation.Standing) int {
		return cmp.Or(cmp.Compare(y.Watches, x.Watches), cmp.Compare(x.Path, y.Path))
	})
	return all[:min(len(all), maxStanding)]
}

// churn returns how many sessions, or leases, were opened and closed.
func (a *Analysis) churn() client.Churn {
	c := a.all.churn
	c.MostAtOnce = cmp.Or(a.all.mostLeases, a.all.mostSessions)
	return c
}

// wakesInVain reports whether changes wake several sessions of which most wait again or lose. Where it is not known
// what they do, it follows from the form: only one can have its turn.
func wakesInVain(p observation.Place, to observation.Want) bool {
	if p.Unjoined > 0 {
		return to == observation.Turn && p.FanoutP50 > 1
	}
	return p.FanoutMax > 1 && p.Wasted != nil && *p.Wasted > *p.Useful
}
