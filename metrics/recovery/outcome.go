package recovery

import (
	"cmp"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// An outcome is a fault and what it hit.
type outcome struct {
	fault    Fault
	began    time.Time // when it first hit a session; zero if it has not
	late     bool      // it was reported too late to know what stood
	rows     []*row
	until    time.Time // when later faults had hit all of its clients; zero if they have not
	peaks    [kinds]metrics.Burst
	attempts [kinds][]attempt
	refused  map[*origin]int64 // attempts to resume a session that had ended
	final    *Outcome          // when nothing can change it any more
}

// end returns when clients could begin to recover.
func (o *outcome) end() time.Time { return latest(o.began, o.fault.end()) }

// precedes reports whether something came after the fault had hit a session.
func (o *outcome) precedes(at time.Time) bool { return !o.began.IsZero() && !at.Before(o.began) }

// hit returns the rows whose sessions the fault has hit: one that loses a reply may wait for that.
func (o *outcome) hit() []*row {
	return slices.DeleteFunc(slices.Clone(o.rows), func(r *row) bool { return r.waits })
}

// open returns the rows that are not settled.
func (o *outcome) open() []*row {
	return slices.DeleteFunc(slices.Clone(o.rows), func(r *row) bool { return r.settled })
}

// A row is a session that a fault has hit.
type row struct {
	o      *outcome
	h      *holder
	client string
	fault  Fault          // as it has hit the session: a reply is lost later than the fault was set
	waits  bool           // for that loss
	had    []*item        // nodes and watches
	most   map[string]int // nodes of a pattern at once, before the fault
	// standing is how many of the connections are open that the session had before the fault, and stood when one of them
	// ended last.
	standing int
	stood    time.Time
	// What the fault has led to: later breaks are others.
	left     time.Time           // when a connection first ended, one of etcd that is older than the fault
	broke    map[thing]time.Time // watches that ended with a connection, or by the fault
	struck   map[thing]time.Time // those of them that the fault itself has ended
	attached time.Time           // when a connection first resumed it: the service has answered
	lost     *request            // a write whose reply was lost, nil if there is none
	decided  bool                // the client has read what it wrote, or has repeated it
	twice    []Write
	probe    *Probe        // that was made after the fault, nil if none was
	by       *holder       // that replaces it, when settled
	settled  bool          // a later fault has hit the client
	missing  []*item       // what was not back when that was decided
	waited   time.Duration // until the end, or until a later fault hit the client
	result   Session
}

// begun returns when the session began to be without what the fault took from it.
func (r *row) begun() time.Time { return latest(r.left, r.fault.At) }

// lostAt returns when it lost a thing.
func (r *row) lostAt(w thing) time.Time {
	switch broke := r.broke[w]; {
	case !broke.IsZero():
		return broke
	case w.watch == "" && r.fault.Kind == Expired: // and no connection, if sessions have no number
		return r.fault.At
	}
	return r.begun()
}

// breaks reports whether a connection that ends now may end because of the fault: since that was over, less than the
// session's time-out has passed.
func (r *row) breaks() bool {
	return r != nil && !r.settled && r.h.a.at.Sub(r.fault.end()) <= cmp.Or(r.h.timeout, unknown)
}

// An item is a thing that a session had when the fault began.
type item struct {
	thing
	fold       string
	sequential bool      // the service has numbered the node
	line       bool      // the watch is on a sequential node
	exists     bool      // the watch was armed without a read of the value
	taken      time.Time // when a node of the very same name was created again; zero if none was
	by         *holder   // by whom
	changes    []change  // of what it watched
}

// kind names a watch as the request that armed it: what fires is the same after exists as after a read of the data.
func (d *item) kind() string {
	if d.exists {
		return onExists
	}
	return d.watch
}

// A change is a write of what a session had watched before a fault.
type change struct {
	path  string
	list  bool // of the children of the path
	value bool // only the value shows it
	seen
	by *holder
}

// A look is what a client has looked at: a node, or what is below it.
type look struct {
	path  string
	below bool
}

// A looked is what a client has seen last of a look: which nodes are there, and their values.
type looked struct{ nodes, values seen }

// A seen is when something was seen, and its position, 0 if that is not known.
type seen struct {
	at  time.Time
	pos int64
}

// maxChanges is how many changes are kept of one watch.
const maxChanges = 64

// beginFault has a fault hit its sessions.
func (a *Analysis) beginFault(f Fault) {
	o := &outcome{fault: f, late: f.At.Before(a.at), refused: map[*origin]int64{}}
	if a.began.IsZero() {
		a.began = f.At
	}
	a.at = latest(a.at, f.At)
	hit := a.hits(f)
	if f.Kind == LostReply {
		a.arm(o, hit)
		a.outcomes = append(a.outcomes, o)
		return
	}
	for _, earlier := range slices.Backward(a.outcomes) {
		a.settle(earlier, hit)
	}
	a.outcomes = append(a.outcomes, o)
	for _, h := range hit {
		o.rows = append(o.rows, a.newRow(o, h))
	}
	a.strikes(o, f.At)
	a.want()
}

// strikes records that a fault hits sessions at a time.
func (a *Analysis) strikes(o *outcome, at time.Time) {
	if o.began.IsZero() {
		o.began = at
		for i := range o.peaks {
			o.peaks[i].From = at
		}
	}
	if !a.struck.Equal(at) {
		a.recent, a.struck = nil, at
	}
	if !slices.Contains(a.recent, o) {
		a.recent = append(a.recent, o)
	}
}

// want notes of which paths the rows need to know what becomes.
func (a *Analysis) want() {
	clear(a.wanted)
	clear(a.above)
	for _, o := range a.outcomes {
		for _, r := range o.rows {
			for _, d := range r.had {
				a.wanted[d.path] = append(a.wanted[d.path], d)
				for _, p := range ancestors(d.path) {
					a.above[p] = true
				}
			}
		}
	}
}

// hits returns the sessions that a fault hits, in the order in which they became known.
func (a *Analysis) hits(f Fault) (all []*holder) {
	hit, clients := map[*holder]bool{}, map[string]bool{}
	for _, id := range f.Sessions {
		hit[a.numbered[id]] = true
	}
	for _, address := range f.Clients {
		clients[address] = true
	}
	for t := range a.taps {
		if f.Sessions == nil && f.Clients == nil || clients[t.c.Client] {
			hit[t.h] = true
		}
	}
	for _, h := range a.holders {
		if hit[h] && h.closed.IsZero() {
			all = append(all, h)
		}
	}
	return all
}

// newRow notes what a session has when a fault hits it.
func (a *Analysis) newRow(o *outcome, h *holder) *row {
	r := &row{o: o, h: h, client: h.client, fault: o.fault, standing: h.open, most: map[string]int{}, broke: map[thing]time.Time{}}
	for w, s := range h.has {
		d := &item{thing: w, fold: pathname.Fold(w.path), sequential: s.sequential, exists: s.exists}
		d.line = w.watch != "" && a.inLine(w.path, d.fold)
		r.had = append(r.had, d)
		if c := h.counts[d.fold]; w.watch == "" && c != nil {
			r.most[d.fold] = c.most
		}
	}
	slices.SortFunc(r.had, func(x, y *item) int { return x.compare(y.thing) })
	switch {
	case o.fault.Kind == Expired:
		h.revoked(0)
	case o.fault.Kind.endsWatches():
		r.strike()
	}
	r.inherit(h.owed)
	h.owed = nil
	h.renew()
	h.row = r
	return r
}

// inherit adds what an earlier fault took and was not back when this one came.
func (r *row) inherit(owed []*item) {
	for _, d := range owed {
		if slices.ContainsFunc(r.had, func(o *item) bool { return o.thing == d.thing }) {
			continue
		}
		if r.struck == nil {
			r.struck = map[thing]time.Time{}
		}
		d.taken, d.by = time.Time{}, nil
		r.had = append(r.had, d)
		r.struck[d.thing], r.broke[d.thing] = r.fault.At, r.fault.At
		if d.watch == "" {
			r.most[d.fold]++
		}
	}
}

// strike ends the watches that the fault has ended. What the wire says of their ends comes later, and changes nothing.
func (r *row) strike() {
	r.struck = map[thing]time.Time{}
	left := map[string]int{}
	for _, path := range r.fault.Watches {
		left[path]++
	}
	for _, d := range r.had {
		if d.watch != "" && left[d.path] > 0 {
			left[d.path]--
			r.struck[d.thing], r.broke[d.thing] = r.fault.At, r.fault.At
			r.h.end(d.thing)
		}
	}
}

// settle decides the rows of an outcome whose clients a later fault hits: one of their sessions, or one that may
// replace it. Within its time-out, a session has time to come back: if it is hit, the later fault is judged by what is missing; if it
// is not, it is not decided yet.
func (a *Analysis) settle(o *outcome, hit []*holder) {
	due := map[*origin]bool{}
	for _, h := range hit {
		mine := h.row != nil && h.row.o == o
		if mine || o.precedes(h.opened) {
			for _, c := range a.neighbours(h.origin) {
				due[c] = true
			}
		}
	}
	var rows []*row
	for _, r := range o.open() {
		if due[r.h.origin] && !r.waits {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	a.judge(o, rows, a.claimed())
	for _, r := range rows {
		if r.undecided() && r.result.Reason == "" {
			r.result.Verdict, r.result.Reason = NotApplicable, TooSoon
		}
		if h := cmp.Or(r.by, r.h); len(r.missing) > 0 && a.at.Sub(r.fault.end()) < cmp.Or(r.h.timeout, unknown) {
			if !slices.Contains(hit, h) {
				r.by = nil
				continue
			}
			if r.result.Reason == "" && !r.result.wrong() {
				r.result.Verdict, r.result.Reason = NotApplicable, TooSoon
			}
			if why := r.result.Reason; why == TooSoon || why == Ongoing {
				h.owed = r.missing
			}
		}
		r.settled, r.had, r.broke, r.struck = true, nil, nil, nil
	}
	if len(o.open()) == 0 {
		o.until = a.at
	}
}

// undecided reports whether a connection that the fault breaks may have ended, and the end is not seen yet.
func (r *row) undecided() bool {
	return r.fault.Kind == Disconnected && r.fault.Until.IsZero() && r.left.IsZero() && r.h.a.at.Sub(r.fault.At) < lateness
}

// changed records a write of a node, which may change the list that it is in.
func (a *Analysis) changed(by *holder, path string, list bool, pos int64) {
	if len(a.wanted) == 0 {
		return
	}
	now := seen{a.at, pos}
	for _, d := range a.wanted[path] {
		if d.sees(path) {
			d.add(change{path, false, !list && !d.exists, now, by})
		}
	}
	up := pathname.Parent(path)
	for _, p := range ancestors(path) {
		for _, d := range a.wanted[p] {
			switch {
			case d.sees(path):
				d.add(change{path, false, !list, now, by})
			case list && p == up && (d.watch == onChildren || d.watch == persistent && !a.byProcess):
				d.add(change{p, true, false, now, by})
			}
		}
	}
}

func (d *item) add(c change) {
	if len(d.changes) < maxChanges {
		d.changes = append(d.changes, c)
	}
}

// look records that a client has seen the state of a node, or of those below it.
func (a *Analysis) look(h *holder, s drivers.Sight) {
	at := look{string(s.Path), s.Below}
	if len(a.wanted) == 0 || !a.wants(at) {
		return
	}
	l, before := h.looks[at]
	if !before && len(h.looks) >= a.limits.begun {
		h.beyond = true
		return
	}
	if l.nodes = (seen{a.at, s.Pos}); s.Values {
		l.values = l.nodes
	}
	h.looks[at] = l
}

// wants reports whether a look may show a change of what a session had watched.
func (a *Analysis) wants(l look) bool {
	wanted := func(path string) bool { return len(a.wanted[path]) > 0 }
	return wanted(l.path) || l.below && a.above[l.path] || slices.ContainsFunc(ancestors(l.path), wanted)
}

// writes reports whether the holder may repeat the lost write of a session: it is that of the session, or a later one
// of its client.
func (a *Analysis) writes(h *holder, r *row) bool {
	return h == r.h || r.h.open == 0 && r.fault.precedes(h.opened) && slices.Contains(a.neighbours(h.origin), r.h.origin)
}

// recreates records that a client has created a node. So it knows that a removal of it whose reply was lost was
// executed.
func (a *Analysis) recreates(h *holder, path string) {
	for _, r := range a.lost {
		r.decided = r.decided || r.lost.op == drivers.OpDelete && r.lost.path == path && a.writes(h, r)
	}
}

// reads records that a client has read a node or the list that it is in. So it knows whether a write of it whose reply was
// lost was executed.
func (a *Analysis) reads(h *holder, s drivers.Sight) {
	for _, r := range a.lost {
		at := r.lost.path
		r.decided = r.decided || a.writes(h, r) && (a.covers(s, at) || s.Below && string(s.Path) == pathname.Parent(at))
	}
}

// repeats notes which lost write a request repeats.
func (a *Analysis) repeats(t *tap, q *request) {
	for _, r := range a.lost {
		if q.op.IsWrite() && !r.decided && q.like == r.lost.like && a.writes(t.h, r) {
			q.repeats, r.decided = r, true
			return
		}
	}
}

// repeated records that a write was executed that may repeat a lost one.
func (a *Analysis) repeated(q *request) {
	if r := q.repeats; r != nil && !r.settled {
		r.twice = append(r.twice, Write{Op: q.op.String(), Path: pathname.Text(r.lost.path), After: q.at.Sub(r.lost.at)})
	}
}

// The kinds of attempts that are counted.
const (
	reconnects = iota
	rearms
	retries
	kinds
)

// An attempt is a connection, or a request that was made before.
type attempt struct {
	at     time.Time
	origin *origin
	h      *holder // nil if it is not known
	server string
}

// count counts attempts: before the first fault for the steady rate, then for the faults since which no other has begun.
func (a *Analysis) count(kind int, n int64) {
	if a.began.IsZero() {
		a.steady[kind] += n
		return
	}
	for _, o := range a.recent {
		o.peaks[kind].Add(a.at, n)
	}
}

// refuse records that an attempt to resume a session was refused, since it had ended.
func (a *Analysis) refuse(by *origin) {
	for _, o := range a.outcomes {
		if o.until.IsZero() {
			o.refused[by]++
		}
	}
}

// attempt records an attempt after the latest faults.
func (a *Analysis) attempt(kind int, by *origin, h *holder, server string) {
	for _, o := range a.recent {
		if len(o.attempts[kind]) < a.limits.attempts {
			o.attempts[kind] = append(o.attempts[kind], attempt{a.at, by, h, server})
		}
	}
}

// peakOf returns the busiest moments after a fault beside the rate before the first.
func (a *Analysis) peakOf(o *outcome, kind int) Peak {
	p := o.peaks[kind]
	all := Peak{Total: p.Total, Second: p.Second, Tenth: p.Tenth}
	if before := a.began.Sub(a.from); !a.from.IsZero() && before > 0 {
		rate := float64(a.steady[kind]) / before.Seconds()
		all.Steady = &rate
	}
	return all
}
