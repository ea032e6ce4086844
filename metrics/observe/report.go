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
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
)

// A Report is what an Analysis has observed so far.
type Report struct {
	Duration time.Duration `json:"duration_ns"` // from the first message to the last
	Traffic  Traffic       `json:"traffic"`
	// Places are the recognised forms and all other path patterns, those whose changes wake most sessions
	// first, and those that nobody watches by their requests.
	Places []Place `json:"places"`
	// Largest are the writes that woke most sessions, at most ten.
	Largest    []Change         `json:"largest"`
	Events     causality.Events `json:"events"`
	Operations []Operation      `json:"operations"`
	Watchers   []Watcher        `json:"watchers"` // the sessions with most watches, at most ten
	// Standing are the patterns with most armed watches at the end, at most ten.
	Standing []Standing `json:"standing"`
	// Clients are the processes and addresses that have connections, those with most requests first.
	Clients  []client.Row `json:"clients"`
	Churn    Churn        `json:"churn"`
	Rearming Rearming     `json:"rearming"`
}

// Traffic is the sum over all connections.
type Traffic struct {
	Connections int64 `json:"connections"`
	Joined      int64 `json:"joined"`  // connections that were open before the observation began
	Clients     int   `json:"clients"` // local processes, and addresses whose process is not known
	Sessions    int64 `json:"sessions"`
	// ToldApart are the sessions by what told them apart. A session of ZooKeeper's protocol has a number.
	// Those of etcd are what one client has: see the report's documentation.
	ToldApart client.Counts `json:"sessions_by"`
	Resumed   int64         `json:"resumed"`
	Ended     int64         `json:"ended"` // sessions that were closed
	Lost      int64         `json:"lost"`  // sessions that had no connection for longer than their timeout

	Messages      int64 `json:"messages"`
	Bytes         int64 `json:"bytes"` // of messages, both ways
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
	Armed         int64 `json:"watches_armed"`  // requests that armed a watch
	StandingNow   int64 `json:"standing_watches"`
	MostStanding  int64 `json:"most_watches"`             // standing at the same time
	MostLive      int64 `json:"most_live_watches"`        // as of a Place
	MostOfSession int   `json:"most_watches_per_session"` // standing at the same time
	Unfollowed    int64 `json:"unfollowed_watches"`       // beyond the number that is kept

	Beyond Beyond `json:"beyond_limits"`

	// Missed and Unasked are known of the audited sessions, those that were seen from their beginning, until
	// they reconnect or traffic of theirs is missing; of a service that tells of a change before any reply
	// shows it, as ZooKeeper does.
	Audited int64 `json:"audited_sessions"`
	Missed  int64 `json:"missed_watches"`        // that a change has passed without a notification
	Unasked int64 `json:"unasked_notifications"` // that belong to no watch, as one that comes twice

	// Undecoded is the traffic that was not decoded, by cause. Empty if all was.
	Undecoded []traffic.Undecoded `json:"undecoded"`
}

// Beyond is what was observed beyond the limits of what is kept, besides watches. It is counted, and
// nothing else is known of it.
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

	Sessions int   `json:"sessions"`      // that armed watches, the most at the same time
	Askers   int   `json:"requesters"`    // sessions that sent requests, the most at the same time
	Armed    int64 `json:"watches_armed"` // requests that armed a watch
	Watches  int64 `json:"watches"`       // standing now
	// Most is the number of watches that stood at the same time, at most, and Live of those without the
	// ones that cannot fire, because they were set on sequential nodes that were gone. Both are sums over
	// the place's patterns.
	Most      int64 `json:"most_watches"`
	Live      int64 `json:"most_live_watches"`
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
	// Missed and Unasked are as in Traffic, null if no session was audited while it set a watch.
	Missed  *int64 `json:"missed_watches"`
	Unasked *int64 `json:"unasked_notifications"`
}

// Herd reports whether one change wakes several sessions, of which most wait again or lose.
func (p Place) Herd() bool { return p.Form != nil && p.Form.Herd && p.FanoutMax > 1 }

// Watched reports whether a session armed a watch, or was notified.
func (p Place) Watched() bool { return p.Sessions > 0 || p.Notifications > 0 }

// Own reports whether the place is the service's own, and no program writes there: libraries watch
// ZooKeeper's configuration.
func (p Place) Own() bool { return p.Path == "/zookeeper/config" && p.Changes == 0 }

// minRefused is the smallest number of failed writes that are called too many, if they are most: a race for a
// node that some clients make at their start costs little.
const minRefused = 50

// Refused reports whether most writes of the place failed, as of a node that exists or has another version.
func (p Place) Refused() bool { return p.FailedWrites >= minRefused && 2*p.FailedWrites > p.Writes }

// minPolls is the smallest number of reads that are called polling, if they are more than half of
// the requests for a path: a client that reads a node a few times at its start polls nothing.
const minPolls = 10

// Polled reports whether sessions read the same again and again.
func (p Place) Polled() bool { return p.PollsSame >= minPolls && p.PollsSame*2 > p.Requests }

// Herds returns the places at which changes wake herds.
func (r Report) Herds() []Place {
	return slices.DeleteFunc(slices.Clone(r.Places), func(p Place) bool { return !p.Herd() })
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
	var watching []client.Set
	for _, p := range a.patterns {
		watching = append(watching, p.watchers, p.op(drivers.OpWatchTree).by)
	}
	a.table.Resolve(watching)
	defer a.table.Forget()
	length := a.now.Sub(a.from)
	return Report{
		Duration: length, Traffic: a.all.traffic(a), Places: a.report(),
		Largest: a.largestChanges(), Events: a.tracer.Report(length), Clients: a.table.Rows(length),
		Operations: a.all.operations(), Watchers: a.watchers(), Churn: a.all.churn.report(a), Rearming: a.all.rearming.report,
	}
}

func (t *totals) traffic(a *Analysis) Traffic {
	by := a.table.Counts()
	r := Traffic{
		Connections: t.connections, Joined: t.joined, Clients: a.table.Clients(),
		Sessions: by.Total(), ToldApart: by, Resumed: t.resumed, Ended: t.ended, Lost: t.lost, Messages: t.messages, Requests: t.requests,
		Reads: t.reads, Writes: t.writes, FailedWrites: t.failed, Notifications: t.notifications, Rearms: t.rearms,
		Changes: t.triggers, UnseenWriters: t.foreign, Armed: t.armed, StandingNow: a.watches.now, Unfollowed: t.unfollowed,
		Audited: t.audited, Missed: t.missed, Unasked: t.unasked, MostStanding: a.watches.most, MostLive: a.live.most, MostOfSession: t.mostOfSession, Bytes: t.bytes,
		Undecoded: t.coverage.List(), Beyond: t.beyond,
	}
	r.Beyond.Early += a.meter.Early() + a.tracer.Early()
	r.FanoutP50, r.FanoutMax = t.fanout.Quantile(50), t.fanout.Max()
	return r
}

// largestChanges returns the largest changes with the processes of their writers.
func (a *Analysis) largestChanges() (all []Change) {
	for _, r := range a.largest {
		if r.by != nil {
			r.Process = r.by.Origin().Process
		}
		all = append(all, r.Change)
	}
	return all
}

// report returns the places: first those with a form, then the patterns that belong to none.
func (a *Analysis) report() (places []Place) {
	a.findTrees()
	taken := map[*pattern]bool{}
	groups := a.groups()
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(groups))) { // the deepest first
		g := groups[name]
		g.kids = slices.DeleteFunc(slices.Clone(g.kids), func(p *pattern) bool { return taken[p] }) // siblings look at all
		g.siblings, g.below = siblingsOf(groups, g), a.covered(g.dir, taken)
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
		} else if p.named() {
			places = append(places, placeOf(Form{}, []*pattern{p}))
		}
	}
	if a.others.named() {
		places = append(places, placeOf(Form{}, []*pattern{a.others}))
	}
	slices.SortStableFunc(places, func(x, y Place) int {
		return cmp.Or(cmp.Compare(y.FanoutMax, x.FanoutMax), cmp.Compare(y.Notifications, x.Notifications), cmp.Compare(y.Requests, x.Requests))
	})
	return places
}

// findTrees finds the recursive watch that covers each pattern. That of etcd's clients is on the prefix
// of the keys.
func (a *Analysis) findTrees() {
	for _, p := range a.patterns {
		p.tree = nil
		for up := p.parent; up != nil && p.tree == nil; up = up.parent {
			for _, over := range []*pattern{up, a.patterns[up.name+"/"]} {
				if over != nil && over.ops[drivers.OpWatchTree].requests > 0 {
					p.tree = over
				}
			}
		}
	}
}

// covered returns the patterns that a recursive watch of the node covers, without those that are taken or
// for which sessions race.
func (a *Analysis) covered(dir *pattern, taken map[*pattern]bool) (all []*pattern) {
	for _, name := range slices.Sorted(maps.Keys(a.patterns)) {
		if p := a.patterns[name]; p.tree != nil && (p.tree == dir || p.tree.parent == dir) && !taken[p] && !p.contended() {
			all = append(all, p)
		}
	}
	return all
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
	latency, polled, watchers, askers := newDurations(), newDurations(), client.Set{}, client.Set{}
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
		r.Changes += p.changes
		r.ReadsAfter, r.LostAfter = r.ReadsAfter+p.readsAfter, r.LostAfter+p.lostAfter
		r.PollsSame += p.unchanged
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
			latency.Merge(orEmpty(p.ops[op].latency))
		}
		audited, missed, unasked = audited || p.audited, missed+p.missed, unasked+p.unasked
		fanout.Add(p.fanout)
		settled.Merge(orEmpty(p.settle))
		polled.Merge(orEmpty(p.interval))
		u, w, ok := f.kind.useful(p)
		useful, wasted, known = useful+u, wasted+w, known && ok
	}
	r.Sessions, r.Askers = watchers.MostAtOnce(), askers.MostAtOnce()
	r.FanoutP50, r.FanoutMax = fanout.Quantile(50), fanout.Max()
	r.PollEvery = quantile(polled, 50)
	r.SettledP90, r.LatencyP90 = quantile(settled, 90), quantile(latency, 90)
	if known {
		r.Useful, r.Wasted = &useful, &wasted
	}
	if audited {
		r.Missed, r.Unasked = &missed, &unasked
	}
	if f.over {
		r.Path = of[0].name
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

// empty is merged where nothing was recorded.
var empty = hdrhistogram.New(1, 2, digits)

func orEmpty(h *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	return cmp.Or(h, empty)
}

// quantile returns a percentile of a histogram of microseconds, in nanoseconds; nil if it has too few
// values.
func quantile(h *hdrhistogram.Histogram, percent float64) *int64 {
	v, known := metrics.Percentile(h, percent)
	if !known {
		return nil
	}
	v *= int64(time.Microsecond)
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

// Fewer watches than minStanding cost a server little memory, and younger ones than minAge may be
// those of clients that wait for their turn.
const (
	minStanding = 1000
	minAge      = time.Minute
)

// Many reports whether many watches have stood for long.
func (s Standing) Many() bool { return s.Watches >= minStanding && s.AgeP50 >= minAge }

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
