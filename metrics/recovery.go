package metrics

import (
	"maps"
	"slices"
	"time"
)

// A Break is one action of a fault against the service or the clients.
type Break struct {
	At   time.Duration // from the window's beginning
	What string        // "kill member 2, the leader"
}

// A Recovery describes the clients' recovery from one fault, from its first step until the next
// fault or the end of the window. Times are from that step; nil means that the event did not
// happen.
type Recovery struct {
	Break
	Span time.Duration // time for which it was observed

	Noticed     *time.Duration // until the first client was notified that it is disconnected
	Led         *time.Duration // until there was a leader, where a new one was needed
	Reconnected *time.Duration // until the last disconnected client was connected again

	// Effect is the effect of the fault, judged by the same run before it.
	Effect Effect
	// Phase is that of the operations of which none ended during the outage, although those of other
	// phases did; "" if none of any ended.
	Phase string
	// Detectable is the longest gap between grants that is not yet an outage: a multiple of the
	// longest gap before the fault, in each phase. It is 0 if no gap was seen.
	Detectable time.Duration
	// Pause is the length of the gap between grants that the fault caused, and Served is when
	// it ended. Pause is nil unless the effect is an outage; Served is also nil if the gap did
	// not end.
	Pause, Served *time.Duration
	// Stall and LongestStall are the gaps of single clients: the median client's and the
	// longest. They are nil if no longer than gaps before the fault. Usual is the median over
	// the clients of each client's longest gap before the fault.
	Stall, LongestStall *time.Duration
	Usual               time.Duration
	// Back is when throughput over a second first reached nine tenths of the throughput before
	// the fault, or that of the slowest second before it. It is nil unless the effect is an
	// outage or a slowdown.
	Back *time.Duration
	// Before and After are the throughput before and after the fault, per second.
	Before, After float64

	Disconnected int              // clients that were disconnected at least once
	Lost         int              // sessions that the service ended
	GivenUp      int              // sessions that clients ended, disconnected for their time-out
	Errors       map[string]int64 // errors of clients, by sentinel text
	// Counts covers the time until throughput was back and every client was connected, and at
	// least one second; if that never happened, the whole span. It includes the herd of
	// reconnecting clients and the usual load.
	Counts Counts
}

const (
	// recovered is the share of the earlier throughput that counts as recovered.
	recovered = 0.9
	// slowed is the share of the slowest second before the fault below which the second after
	// it is a slowdown.
	slowed = 0.5
	// over is the time over which throughput is measured.
	over = time.Second
	// lookBack is the time before a fault in which throughput is measured.
	lookBack = 5 * time.Second
)

// recovery describes the recovery from one fault. It also returns the time in which the fault
// explains what happened.
func (d *FaultLog) recovery(f fault, until time.Duration, explained []gap) (Recovery, gap) {
	r := Recovery{Break: f.Break, Span: until - f.At, Errors: map[string]int64{}}
	d.connections(&r, f.At, until)
	r.Led = first(d.led, f.At, until)
	all := d.grants()
	felt := gap{from: f.At, to: f.At}
	if r.Reconnected != nil {
		felt.to = f.At + *r.Reconnected
	}
	outage := r.judge(all, f, until, d.disconnections(-1, f.At), explained)
	if g := d.judgePhases(&r, f, until, explained); r.Phase != "" {
		outage = g
	}
	felt.to = max(felt.to, outage.to, d.stalls(&r, f, until, outage, explained))
	r.throughput(all, until, explained)
	last := f.At
	if before := upTo(all, until); len(before) > 0 {
		last = max(last, before[len(before)-1])
	}
	// No gap could have been long enough, or the last one is, and only what comes would tell whose it is.
	if r.Effect == NoEffect && (r.Detectable >= r.Span || until-last > r.Detectable) {
		r.Effect = Unclear
	}
	r.Counts = d.counted(f.At, min(r.settled(), until))
	for _, e := range d.errors {
		if e.at >= f.At && e.at < until {
			r.Errors[e.text]++
		}
	}
	return r, felt
}

// judge determines whether there was an outage. It returns its gap, or the zero gap if there
// was none.
func (r *Recovery) judge(all []time.Duration, f fault, until time.Duration, disconnections []time.Duration, explained []gap) gap {
	var o ordinary
	o.add(all, f.At, explained)
	r.Detectable = o.least()
	if !o.judges() {
		r.Effect = Unclear
		return gap{}
	}
	g := gapOf(all, f, max(o.longest, o.elapsed), until, disconnections)
	if g.lengthAfter(f.At) <= o.least() {
		r.Effect = NoEffect
		return gap{}
	}
	r.Effect = Outage
	pause, served := g.length(), g.to-f.At
	if r.Pause = &pause; !g.open {
		r.Served = &served
	}
	return g
}

// judgePhases judges the operations of each phase by themselves, if all together show no outage: those
// of one may have gone on. It returns the longest gap of an outage.
func (d *FaultLog) judgePhases(r *Recovery, f fault, until time.Duration, explained []gap) (outage gap) {
	if r.Effect != NoEffect {
		return gap{}
	}
	for _, phase := range slices.Sorted(maps.Keys(d.operated)) {
		moments := slices.Sorted(slices.Values(d.operated[phase]))
		var of Recovery
		g := of.judge(moments, f, until, d.disconnections(-1, f.At), explained)
		r.Detectable = max(r.Detectable, of.Detectable)
		if of.Effect == Outage && g.length() > outage.length() {
			outage, r.Effect, r.Phase, r.Pause, r.Served = g, Outage, phase, of.Pause, of.Served
		}
	}
	return outage
}

// stalls determines how long single clients waited: longer than any client before the fault, or
// for the whole outage. It returns when the last such wait ended.
func (d *FaultLog) stalls(r *Recovery, f fault, until time.Duration, outage gap, explained []gap) (end time.Duration) {
	var o ordinary
	var usual, gaps []time.Duration
	for _, moments := range d.served {
		var own ordinary
		own.add(moments, f.At, explained)
		usual = append(usual, max(own.longest, own.elapsed))
		o.gaps, o.longest, o.elapsed = o.gaps+own.gaps, max(o.longest, own.longest), max(o.elapsed, own.elapsed)
	}
	o.gaps /= len(d.served) // a cause that delays one client delays all: their gaps are not independent
	r.Usual, _ = middleAndMost(usual)
	settle := max(o.longest, o.elapsed)
	for client, moments := range d.served {
		g := gapOf(moments, f, settle, until, append(d.disconnections(client, f.At), outage.from))
		if o.judges() && g.lengthAfter(f.At) > o.least() || r.Effect == Outage && g.length() >= outage.length() {
			gaps, end = append(gaps, g.length()), max(end, g.to)
		} else {
			gaps = append(gaps, 0)
		}
	}
	middle, longest := middleAndMost(gaps)
	r.Stall, r.LongestStall = known(middle), known(longest)
	return end
}

// known returns nil for 0.
func known(d time.Duration) *time.Duration {
	if d == 0 {
		return nil
	}
	return &d
}

// throughput compares throughput before and after the fault.
func (r *Recovery) throughput(all []time.Duration, until time.Duration, explained []gap) {
	from := max(0, r.At-lookBack)
	for _, e := range explained {
		from = max(from, min(e.to, r.At))
	}
	r.Before, r.After = rate(all, from, r.At), rate(all, r.At, until)
	slowest, seen := slowestSecond(all, from, r.At)
	if r.Effect == NoEffect && r.At-from >= 2*over && r.At+over <= until && rate(all, r.At, r.At+over) < slowed*slowest {
		r.Effect = Slowdown
	}
	want := recovered * r.Before
	if seen {
		want = min(want, slowest)
	}
	switch {
	case r.Before == 0:
	case r.Effect == Slowdown:
		r.Back = backAt(all, r.At, r.At, until, want)
	case r.Served != nil:
		r.Back = backAt(all, r.At, r.At+*r.Served, until, want)
	}
}

// settled returns when all clients had recovered, at least one second after the fault, or the
// end of the span if that never happened.
func (r *Recovery) settled() time.Duration {
	end := r.At + over
	if r.Disconnected > 0 && r.Reconnected == nil || (r.Effect == Outage || r.Effect == Slowdown) && r.Back == nil {
		return r.At + r.Span
	}
	for _, t := range []*time.Duration{r.Back, r.Reconnected} {
		if t != nil {
			end = max(end, r.At+*t)
		}
	}
	return end
}

// first returns the first moment in the span, relative to its beginning.
func first(moments []time.Duration, from, until time.Duration) *time.Duration {
	for _, m := range moments {
		if m >= from && m < until {
			m -= from
			return &m
		}
	}
	return nil
}

// upTo returns the moments before until.
func upTo(moments []time.Duration, until time.Duration) []time.Duration {
	i, _ := slices.BinarySearch(moments, until)
	return moments[:i]
}

// rate returns the number of moments per second.
func rate(moments []time.Duration, from, until time.Duration) float64 {
	if until <= from {
		return 0
	}
	i, _ := slices.BinarySearch(moments, from)
	j, _ := slices.BinarySearch(moments, until)
	return float64(j-i) / (until - from).Seconds()
}

// slowestSecond returns the number of moments in the second of the span that has fewest; false
// if the span is shorter than a second.
func slowestSecond(moments []time.Duration, from, until time.Duration) (float64, bool) {
	if until-from < over {
		return 0, false
	}
	slowest := min(rate(moments, from, from+over), rate(moments, until-over, until))
	i, _ := slices.BinarySearch(moments, from)
	for _, m := range moments[i:] {
		if m++; m+over > until { // the slowest second begins just after a moment
			break
		}
		slowest = min(slowest, rate(moments, m, m+over))
	}
	return slowest, true
}

// backAt returns the first moment, relative to the fault, that begins a second with the wanted
// rate; nil if there is none.
func backAt(moments []time.Duration, fault, from, until time.Duration, want float64) *time.Duration {
	i, _ := slices.BinarySearch(moments, from)
	for _, m := range moments[i:] {
		if m+over > until {
			return nil
		}
		if rate(moments, m, m+over) >= want {
			back := m - fault
			return &back
		}
	}
	return nil
}

func middleAndMost(all []time.Duration) (middle, most time.Duration) {
	if len(all) == 0 {
		return 0, 0
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}

// An Effect is the measurable effect of a fault on the clients.
type Effect string

const (
	// Outage: a gap between grants began at the fault and was longer than an ordinary gap can
	// be: see outageFactor.
	Outage Effect = "outage"
	// Slowdown: no such gap, but in the second after the fault there were fewer than half as
	// many grants as in the slowest second before it, and at least two seconds before it were
	// observed.
	Slowdown Effect = "slowdown"
	// NoEffect: the data show neither, compared with the same run before the fault.
	NoEffect Effect = "none"
	// Unclear: there is no basis for a judgement, because too little happened before the fault, an outage was in
	// progress when it came, it was observed for no longer than Detectable, or a longer gap that began later had not
	// ended at the end.
	Unclear Effect = "unclear"
)

// A gap is a time without a grant. An open gap had not ended at the end of the observation.
type gap struct {
	from, to time.Duration
	open     bool
}

func (g gap) length() time.Duration { return g.to - g.from }

// lengthAfter returns the length of the part of the gap after t.
func (g gap) lengthAfter(t time.Duration) time.Duration { return g.to - max(g.from, t) }

// An ordinary summarizes the gaps before a fault. The gap at the fault is judged by it.
type ordinary struct {
	gaps    int
	longest time.Duration
	elapsed time.Duration // length of the gap in progress when the fault came
}

// An outage is a gap longer than outageFactor times the longest ordinary gap. If fewer than
// fewGaps / outageFactor gaps were seen, the factor is larger in proportion, because the
// longest of a few gaps says little about how long an ordinary gap can be.
const (
	outageFactor = 3
	fewGaps      = 200
)

// least returns the longest gap that is not yet an outage, or 0 if no gap was seen.
func (o ordinary) least() time.Duration {
	if o.gaps == 0 {
		return 0
	}
	return time.Duration(max(outageFactor, fewGaps/float64(o.gaps)) * float64(max(o.longest, o.elapsed)))
}

// judges reports whether o is a basis for a judgement: gaps were seen, and no outage was in
// progress.
func (o ordinary) judges() bool {
	return o.gaps > 0 && ordinary{gaps: o.gaps, longest: o.longest}.least() >= o.elapsed
}

// add counts the gaps before a fault that no earlier fault explains. explained is in order of
// time.
func (o *ordinary) add(moments []time.Duration, fault time.Duration, explained []gap) {
	before := append([]time.Duration{0}, upTo(moments, fault)...) // the beginning of the window counts as a grant
	o.elapsed = max(o.elapsed, fault-before[len(before)-1])
	for _, e := range explained {
		i, _ := slices.BinarySearch(before, e.from)
		o.count(before[:i])
		i, _ = slices.BinarySearch(before, e.to)
		before = before[i:]
	}
	o.count(before)
}

func (o *ordinary) count(moments []time.Duration) {
	for i := 1; i < len(moments); i++ {
		o.gaps++
		o.longest = max(o.longest, moments[i]-moments[i-1])
	}
}

// gapAt returns the gap that contains the moment at.
func gapAt(moments []time.Duration, at, until time.Duration) gap {
	g := gap{to: until, open: true}
	i, _ := slices.BinarySearch(moments, at+1)
	if i > 0 {
		g.from = moments[i-1]
	}
	if i < len(moments) && moments[i] < until {
		g.to, g.open = moments[i], false
	}
	return g
}

// gapOf returns the longest of the gaps that a fault can explain: the gap in progress when its injection
// begins; those that begin before the injection is complete and the operations in progress have ended, for
// which settle allows; and those in which a client was notified that its session broke, or was connected
// again. A busy machine may note the last grant long after the notification, so only the gap before the
// reconnect is sure to be the whole outage.
func gapOf(moments []time.Duration, f fault, settle, until time.Duration, disconnections []time.Duration) gap {
	longest := gapAt(moments, f.At, until)
	try := func(at time.Duration) {
		if g := gapAt(moments, at, until); g.lengthAfter(f.At) > longest.lengthAfter(f.At) {
			longest = g
		}
	}
	i, _ := slices.BinarySearch(moments, f.At)
	for _, m := range upTo(moments[i:], min(f.done+settle, until)) {
		try(m)
	}
	for _, at := range disconnections {
		if at >= f.At && at < until {
			try(at)
		}
	}
	return longest
}
