package observe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/metrics"
)

// A Report is what an Analysis has observed so far.
type Report struct {
	Duration time.Duration `json:"duration_ns"` // from the first message to the last
	Traffic  Traffic       `json:"traffic"`
	// Places are the recognised forms and the other path patterns that were watched or changed,
	// those whose changes wake most sessions first.
	Places []Place `json:"places"`
	// Largest are the writes that woke most sessions, at most ten.
	Largest    []Change    `json:"largest"`
	Operations []Operation `json:"operations"`
	Watchers   []Watcher   `json:"watchers"` // the sessions with most watches, at most ten
	// Standing are the patterns with most armed watches at the end, at most ten.
	Standing []Standing `json:"standing"`
	Churn    Churn      `json:"churn"`
	Rearming Rearming   `json:"rearming"`
}

// Traffic is the sum over all connections.
type Traffic struct {
	Connections int64 `json:"connections"`
	Joined      int64 `json:"joined"` // connections that were open before the observation began
	Clients     int   `json:"clients"`
	Sessions    int64 `json:"sessions"`
	Resumed     int64 `json:"resumed"`
	Ended       int64 `json:"ended"` // sessions that were closed
	Lost        int64 `json:"lost"`  // sessions that had no connection for longer than their timeout

	Messages      int64 `json:"messages"`
	Requests      int64 `json:"requests"`
	Reads         int64 `json:"reads"`
	Writes        int64 `json:"writes"`
	FailedWrites  int64 `json:"failed_writes"`
	Notifications int64 `json:"notifications"`
	Rearms        int64 `json:"rearms"` // requests that armed watches again after a reconnect

	Changes       int64 `json:"changes"`        // writes that caused notifications
	FanoutP50     int64 `json:"fanout_p50"`     // sessions that a change woke
	FanoutMax     int64 `json:"fanout_max"`     //
	UnseenWriters int64 `json:"unseen_writers"` // changes whose writer was not observed, e.g. an expiry
	StandingNow   int   `json:"standing_watches"`
	Unfollowed    int64 `json:"unfollowed_watches"` // beyond the number that is kept

	Beyond Beyond `json:"beyond_limits"`

	// Undecoded is the traffic that was not decoded, by cause. Empty if all was.
	Undecoded []traffic.Undecoded `json:"undecoded"`
}

// Beyond is what was observed beyond the limits of what is kept, besides watches. It is counted, and nothing else
// is known of it.
type Beyond struct {
	Connections int64 `json:"connections"` // their messages are counted
	Sessions    int64 `json:"sessions"`    // their messages are counted
	Nodes       int64 `json:"nodes"`       // ephemeral or sequential nodes whose order is not followed
	Requests    int64 `json:"requests"`    // their latency and the effect of their replies are not known
	Paths       int64 `json:"paths"`       // messages that named too long a path; they are counted
	// Early are changes, writes and notifications that were decided before everything was known of them.
	Early int64 `json:"decided_early"`
}

// Any reports whether anything was beyond the limits.
func (b Beyond) Any() bool { return b != Beyond{} }

// A Place is a path pattern, with the form that was recognised there.
type Place struct {
	Path string `json:"path"` // the pattern, of the watched nodes
	Form *Form  `json:"form"` // null if none was recognised

	Sessions  int   `json:"sessions"`     // that armed watches, the most at the same time
	Watches   int64 `json:"watches"`      // standing now
	Most      int64 `json:"most_watches"` // standing at the same time, at most: the sum over the place's patterns
	Changes   int64 `json:"changes"`
	FanoutP50 int64 `json:"fanout_p50"` // sessions that a change wakes
	FanoutMax int64 `json:"fanout_max"`

	Notifications int64 `json:"notifications"`
	// Useful and Wasted are null where it is not known what the sessions waited for.
	Useful       *int64 `json:"useful"`
	Wasted       *int64 `json:"wasted"`
	ReadsAfter   int64  `json:"reads_after"`         // between a notification and what the session did next
	LostAfter    int64  `json:"failed_writes_after"` // the races that it lost
	SettledP90   *int64 `json:"settled_p90_ns"`      // from a change to the rest of the last session that it woke
	Requests     int64  `json:"requests"`
	Reads        int64  `json:"reads"`
	Writes       int64  `json:"writes"`
	FailedWrites int64  `json:"failed_writes"`
	PollsSame    int64  `json:"polls_unchanged"` // reads that repeated an earlier one and returned the same
	Polls        int64  `json:"polls"`
	PollEvery    *int64 `json:"poll_interval_p50_ns"` // between a read and the one before that returned the same
	LatencyP90   *int64 `json:"latency_p90_ns"`
	OfPatterns   int    `json:"patterns"` // path patterns that belong to the place
}

// An Operation is one kind of request, over all paths.
type Operation struct {
	Name     string `json:"name"`
	Requests int64  `json:"requests"`
	P50      *int64 `json:"p50_ns"` // from the request to its reply, where the source saw both
	P99      *int64 `json:"p99_ns"`
}

// A Watcher is a session with many watches.
type Watcher struct {
	Client        string `json:"client"` // host:port
	Watches       int    `json:"watches"`
	Notifications int64  `json:"notifications"`
}

// maxWatchers is how many sessions a Report lists.
const maxWatchers = 10

// Report decides what is still open and returns what was observed. Call it when the observation
// has ended.
func (a *Analysis) Report() Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	watchers, standing := a.watchers(), a.standing() // finish ends watches
	a.finish()
	r := a.reportNow()
	r.Watchers, r.Standing = watchers, standing
	return r
}

func (a *Analysis) reportNow() Report {
	return Report{
		Duration: a.now.Sub(a.from), Traffic: a.all.traffic(a), Places: a.report(),
		Largest: slices.Clone(a.largest), Operations: a.all.operations(), Watchers: a.watchers(),
		Churn: a.all.churn.report(a), Rearming: a.all.rearming.report,
	}
}

func (t *totals) traffic(a *Analysis) Traffic {
	r := Traffic{
		Connections: t.connections, Joined: t.joined, Clients: len(t.clients), Sessions: t.sessions,
		Resumed: t.resumed, Ended: t.ended, Lost: t.lost, Messages: t.messages, Requests: t.requests,
		Reads: t.reads, Writes: t.writes, FailedWrites: t.failed, Notifications: t.notifications, Rearms: t.rearms,
		Changes: t.triggers, UnseenWriters: t.foreign, StandingNow: a.watches, Unfollowed: t.unfollowed,
		Undecoded: t.coverage.List(), Beyond: t.beyond,
	}
	r.Beyond.Early += a.meter.Early()
	r.FanoutP50, r.FanoutMax = t.fanout.Quantile(50), t.fanout.Max()
	return r
}

// report returns the places: first those with a form, then the patterns that belong to none.
func (a *Analysis) report() (places []Place) {
	taken := map[*pattern]bool{}
	groups := a.groups()
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(groups))) { // the deepest first
		g := groups[name]
		g.kids = slices.DeleteFunc(slices.Clone(g.kids), func(p *pattern) bool { return taken[p] }) // siblings look at all
		g.siblings = siblingsOf(groups, g)
		if f, of := g.recognise(); f.Name != "" {
			for _, p := range of {
				taken[p] = true
			}
			places = append(places, placeOf(f, of))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.patterns)) {
		p := a.patterns[name]
		if taken[p] {
			continue
		}
		if f := recogniseNode(p); f.Name != "" {
			places = append(places, placeOf(f, []*pattern{p}))
		} else if p.events != (pattern{}).events || len(p.watchers) > 0 || p.polls > 0 {
			places = append(places, placeOf(Form{}, []*pattern{p}))
		}
	}
	if o := a.others; len(o.watchers) > 0 || o.changes > 0 || o.polls > 0 || o.notifications() > 0 {
		places = append(places, placeOf(Form{}, []*pattern{a.others}))
	}
	slices.SortStableFunc(places, func(x, y Place) int {
		return cmp.Or(cmp.Compare(y.FanoutMax, x.FanoutMax), cmp.Compare(y.Notifications, x.Notifications))
	})
	return places
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
func placeOf(f Form, of []*pattern) Place {
	r := Place{OfPatterns: len(of)}
	fanout, settled := metrics.Tally{}, newDurations()
	latency, polled, watchers := newDurations(), newDurations(), sessions{}
	var useful, wasted, most int64
	known := f.Name != ""
	for i, p := range of {
		n := p.notifications()
		if i == 0 || n > most {
			r.Path, most = p.name, n
		}
		r.Notifications += n
		r.Watches += p.standing
		r.Most += p.mostStanding
		r.Changes += p.changes
		r.ReadsAfter, r.LostAfter = r.ReadsAfter+p.readsAfter, r.LostAfter+p.lostAfter
		r.Polls, r.PollsSame = r.Polls+p.polls, r.PollsSame+p.unchanged
		maps.Copy(watchers, p.watchers)
		for op := range p.ops {
			n := p.ops[op].requests
			r.Requests += n
			switch o := drivers.Op(op); {
			case o.IsRead():
				r.Reads += n
			case o.IsWrite():
				r.Writes, r.FailedWrites = r.Writes+n, r.FailedWrites+p.ops[op].failed
			}
			latency.Merge(orEmpty(p.ops[op].latency))
		}
		fanout.Add(p.fanout)
		settled.Merge(orEmpty(p.settle))
		polled.Merge(orEmpty(p.interval))
		u, w, ok := f.kind.useful(p)
		useful, wasted, known = useful+u, wasted+w, known && ok
	}
	r.Sessions = watchers.mostAtOnce()
	r.FanoutP50, r.FanoutMax = fanout.Quantile(50), fanout.Max()
	r.PollEvery = quantile(polled, 50)
	r.SettledP90, r.LatencyP90 = quantile(settled, 90), quantile(latency, 90)
	if known {
		r.Useful, r.Wasted = &useful, &wasted
	}
	f.Herd = r.wakesInVain(f.kind)
	if f.Name != "" {
		r.Form = &f
	}
	return r
}

// wakesInVain reports whether changes wake several sessions of which most wait again or lose.
func (p Place) wakesInVain(k kind) bool {
	return k != news && p.FanoutMax > 1 && p.Wasted != nil && *p.Wasted > *p.Useful
}

func (p *pattern) notifications() (n int64) {
	for _, e := range p.events {
		n += e
	}
	return n
}

// empty is merged where nothing was recorded.
var empty = hdrhistogram.New(1, 2, digits)

func orEmpty(h *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	return cmp.Or(h, empty)
}

// quantile returns a percentile of a histogram of microseconds, in nanoseconds; nil if it has no
// value.
func quantile(h *hdrhistogram.Histogram, percent float64) *int64 {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	v := h.ValueAtQuantile(percent) * int64(time.Microsecond)
	return &v
}

func (t *totals) operations() (all []Operation) {
	for op, h := range t.latency {
		if h != nil {
			all = append(all, Operation{drivers.Op(op).String(), h.TotalCount(), quantile(h, 50), quantile(h, 99)})
		}
	}
	return all
}

func (a *Analysis) watchers() (all []Watcher) {
	for _, s := range a.byMeter {
		if len(s.watches) > 0 {
			all = append(all, Watcher{s.client, len(s.watches), s.notifications})
		}
	}
	slices.SortFunc(all, func(x, y Watcher) int {
		return cmp.Or(cmp.Compare(y.Watches, x.Watches), cmp.Compare(x.Client, y.Client))
	})
	return all[:min(len(all), maxWatchers)]
}

// Project returns how many sessions a change of the place wakes now and would wake if n clients
// used it, and how long they would take to settle. A herd wakes the same share of the
// sessions; any other form that gives turns wakes as many as now. It returns false for a place
// without a form or without a change.
func (p Place) Project(n int) (now, then int64, settled time.Duration, ok bool) {
	if p.Form == nil || p.Changes == 0 || p.Sessions == 0 || p.FanoutMax == 0 {
		return 0, 0, 0, false
	}
	now, then = p.FanoutMax, p.FanoutMax
	grows := p.Form.Herd || p.Form.kind == news
	if grows && p.Sessions > 1 {
		// A session that holds or has changed the node is not woken by itself.
		own := int64(p.Sessions) - min(p.FanoutMax, int64(p.Sessions))
		then = max(now, int64(n)-own)
	}
	if p.SettledP90 != nil {
		settled = time.Duration(float64(*p.SettledP90) * float64(then) / float64(now))
	}
	return now, then, settled, true
}

// Standing are the watches of one path pattern that are armed at the end of the observation.
type Standing struct {
	Path    string        `json:"path"`
	Watches int64         `json:"watches"`
	AgeP50  time.Duration `json:"age_p50_ns"` // since they were armed
	Oldest  time.Duration `json:"oldest_ns"`
}

// maxStanding is how many path patterns a Report lists.
const maxStanding = 10

// oldestAge is the largest age that the median is exact to.
const oldestAge = 1000 * time.Hour

// standing returns the patterns with most armed watches. It looks at every watch, so it is made for
// the end of the observation only.
func (a *Analysis) standing() (all []Standing) {
	ages := map[*pattern]*hdrhistogram.Histogram{}
	oldest := map[*pattern]time.Duration{}
	for _, s := range a.byMeter {
		for _, w := range s.watches {
			if ages[w.pattern] == nil {
				ages[w.pattern] = hdrhistogram.New(1, int64(oldestAge/time.Millisecond), digits)
			}
			age := max(a.now.Sub(w.at), 0)
			_ = ages[w.pattern].RecordValue(min(int64(age/time.Millisecond), int64(oldestAge/time.Millisecond))) // in range
			oldest[w.pattern] = max(oldest[w.pattern], age)
		}
	}
	for p, h := range ages {
		all = append(all, Standing{p.name, h.TotalCount(), min(time.Duration(h.ValueAtQuantile(50))*time.Millisecond, oldest[p]), oldest[p]})
	}
	slices.SortFunc(all, func(x, y Standing) int {
		return cmp.Or(cmp.Compare(y.Watches, x.Watches), cmp.Compare(x.Path, y.Path))
	})
	return all[:min(len(all), maxStanding)]
}
