package observe

import (
	"cmp"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/pattern"
)

// maxWatchers is how many sessions a Report lists.
const maxWatchers = 10

// Report decides what is still open and returns what was observed. Call it when the observation
// has ended.
func (a *Analysis) Report() observation.Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.confirmOld(-1)
	watchers, standing := a.watchers(), a.standing() // finish ends watches
	a.finish()
	r := a.reportNow()
	r.Watchers, r.Standing = watchers, standing
	return r
}

func (a *Analysis) reportNow() observation.Report {
	var watching []client.Set
	for p := range a.patterns.All() {
		watching = append(watching, p.Watchers, p.Op(drivers.OpWatchTree).By)
	}
	a.table.Resolve(watching)
	defer a.table.Forget()
	length := a.now.Sub(a.from)
	return observation.Report{
		Duration: length, Traffic: a.all.traffic(a), Places: a.patterns.Places(),
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
		Changes: t.triggers, UnseenWriters: t.foreign, Armed: t.armed, StandingNow: a.watches.Now, Unfollowed: t.unfollowed, Unjoined: a.lone.Unjoined(),
		Audited: t.audited, Unjudged: t.unjudged, Missed: t.Missed, Unproven: t.Unproven, Unasked: t.Unasked, MostStanding: a.watches.Most, MostLive: a.live.Most, MostOfSession: t.mostOfSession, Bytes: t.bytes,
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
	ages := map[*pattern.Pattern][]time.Duration{}
	for _, s := range a.byMeter {
		for _, w := range s.watches {
			ages[w.pattern] = append(ages[w.pattern], max(a.now.Sub(w.at), 0))
		}
	}
	for p, of := range ages {
		slices.Sort(of)
		last := len(of) - 1
		all = append(all, observation.Standing{Path: p.Name, Watches: int64(len(of)), AgeP50: of[last/2], Oldest: of[last]})
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
