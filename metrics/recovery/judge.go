package recovery

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics/pathname"
)

// report judges what is not settled, by what is known now, and sums up.
func (a *Analysis) report() Report {
	r := Report{Outcomes: []Outcome{}, Unprobed: a.unprobed}
	claimed := a.claimed()
	for _, o := range slices.Backward(a.outcomes) { // a session that is back replaces one that was there when the latest fault came
		if o.final == nil {
			a.judge(o, o.open(), claimed)
		}
	}
	for _, o := range a.outcomes {
		sum := o.final
		if sum == nil {
			sum = a.sum(o)
		}
		if len(o.open()) == 0 && !slices.Contains(a.recent, o) {
			o.final, o.attempts = sum, [kinds][]attempt{}
		}
		r.Outcomes = append(r.Outcomes, *sum)
		r.Outcomes[len(r.Outcomes)-1].late(a, o)
	}
	var of tally
	for _, o := range r.Outcomes {
		of.add(o.Verdict, o.Reason)
	}
	r.Verdict, r.Reason = of.verdict(NoFault)
	return r
}

// late counts what was not back when a later fault hit the client, and that it has now.
func (s *Outcome) late(a *Analysis, o *outcome) {
	for _, r := range o.rows {
		if !r.settled || r.result.Verdict == NotApplicable {
			continue
		}
		for _, d := range r.missing {
			of := &s.Nodes
			if d.watch != "" {
				of = &s.Watches
			}
			if slices.ContainsFunc(a.holdersNear(r.h.origin), func(h *holder) bool { _, has := h.has[d.thing]; return has && h.open > 0 }) {
				of.Late++
			}
		}
	}
}

// claimed returns the holders that replace sessions whose rows are settled.
func (a *Analysis) claimed() map[*holder]*outcome {
	all := map[*holder]*outcome{}
	for _, o := range a.outcomes {
		for _, r := range o.rows {
			if r.settled && r.by != nil {
				all[r.by] = o
			}
		}
	}
	return all
}

// judge decides how the sessions have recovered until now. Holders that replace one are claimed.
func (a *Analysis) judge(o *outcome, rows []*row, claimed map[*holder]*outcome) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *row) bool {
		if r.waits {
			r.result = r.unhit()
		}
		return r.waits
	})
	clients := a.clientsOf(rows)
	of := map[*origin]*conduct{}
	var all []*conduct
	for _, r := range rows {
		c := clients[r.h.origin]
		if of[c] == nil {
			of[c] = &conduct{client: c}
			all = append(all, of[c])
		}
		of[c].rows = append(of[c].rows, r)
	}
	for _, t := range a.attemptsOf(clients, o.attempts[reconnects]) {
		of[t.origin].tried = append(of[t.origin].tried, t.at)
	}
	for by, n := range o.refused {
		if c := a.clientOf(clients, by); c != nil {
			of[c].refused += n
		}
	}
	for _, c := range all {
		a.judgeClient(o, c, claimed)
	}
}

// A conduct is what a client did after a fault that hit it.
type conduct struct {
	client  *origin
	rows    []*row
	tried   []time.Time // to connect
	refused int64       // attempts to resume a session that had ended
}

// A finding is what is found of one row.
type finding struct {
	*row
	*conduct
	fate     Fate
	attached time.Time // when a connection first resumed it, as far as that is known
	by       *holder   // that has what is back: the session itself or the one that replaces it, nil if there is none
	found    []match   // of had
	aside    []bool    // it is back elsewhere
}

// judgeClient decides the rows of one client.
func (a *Analysis) judgeClient(o *outcome, c *conduct, claimed map[*holder]*outcome) {
	used := map[*holder]map[thing]bool{}
	usedOf := func(h *holder) map[thing]bool {
		if used[h] == nil {
			used[h] = map[thing]bool{}
		}
		return used[h]
	}
	var all []*finding
	var ended []*row
	for _, r := range c.rows {
		v := a.alone(o, r, usedOf(r.h))
		v.conduct = c
		all = append(all, v)
		if v.fate == Gone || r.h.open == 0 && backOf(v.found) < len(v.found) {
			ended = append(ended, r)
		}
	}
	by := map[*row]*holder{}
	if len(ended) > 0 {
		by = assign(ended, a.fresh(c, claimed))
	}
	for _, v := range all {
		h := by[v.row]
		if h == nil {
			continue
		}
		if found := pair(v.fault, v.had, h, usedOf(h)); v.fate == Gone || backOf(found) > backOf(v.found) {
			v.fate, v.by, v.found, claimed[h] = Replaced, h, found, o
		} else {
			delete(used, h)
		}
	}
	for _, v := range all {
		v.survive(a)
	}
	others := a.holdersNear(c.client)
	spare := slices.DeleteFunc(slices.Clone(others), func(h *holder) bool { // that have nodes which replace none
		if by := claimed[h]; by != nil && by != o {
			return true
		}
		for w := range h.begun {
			if w.watch == "" && !used[h][w] {
				return false
			}
		}
		return true
	})
	for _, v := range all {
		v.elsewhere(others, spare, usedOf)
	}
	for _, v := range all {
		if v.row.by = nil; v.by != v.h {
			v.row.by = v.by
		}
		v.row.result = a.decide(v, all)
	}
}

// alone finds what the session has back by itself. A connection that ends with the observation does so because the
// program does.
func (a *Analysis) alone(o *outcome, r *row, used map[thing]bool) *finding {
	h, at := r.h, r.fault.At
	v := &finding{row: r, by: h, found: make([]match, len(r.had)), aside: make([]bool, len(r.had)), attached: r.attached}
	if a.byProcess && v.attached.IsZero() {
		v.attached = a.connected(r)
	}
	lapsed := r.fault.Kind == Expired && (a.byProcess || r.attached.IsZero()) // its nodes have ended
	last := func(at time.Time) bool { return a.at.Sub(at) < lateness && at.Sub(r.fault.end()) > lateness }
	broke := r.broke
	switch before := !v.attached.IsZero() && v.attached.Before(r.left); {
	case (r.left.IsZero() || last(r.left)) && (a.byProcess || !lapsed):
		v.fate, broke = Kept, r.struck
	case a.byProcess && (h.open > 0 || last(h.left)) && (r.standing > 0 || last(r.stood) || before):
		v.fate = Kept // by other connections
	case !v.attached.IsZero() && !before:
		v.fate = Resumed
	default:
		v.fate, v.by = Gone, nil
		return v
	}
	again := pair(r.fault, r.had, h, used)
	for i, d := range r.had {
		if v.found[i] = (match{at: at, name: d.path}); d.watch == "" && lapsed || !broke[d.thing].IsZero() && !last(broke[d.thing]) || h.waits(d.thing) {
			v.found[i] = again[i]
		}
	}
	if lapsed && r.fault.precedes(h.granted) {
		v.fate = Replaced
	}
	return v
}

// connected returns since when a client of etcd has had a connection again on which it has asked for nothing: no answer
// shows that it reaches the service, but it stands.
func (a *Analysis) connected(r *row) (since time.Time) {
	for t := range a.taps {
		if t.h == r.h && !t.asks && r.fault.precedes(t.c.At) && (since.IsZero() || t.c.At.Before(since)) {
			since = t.c.At
		}
	}
	return since
}

// survive finds the nodes that outlive a connection to etcd: a lease stands until its time-out has passed.
func (v *finding) survive(a *Analysis) {
	if !a.byProcess || v.fault.Kind == Expired || a.at.Sub(v.left) > v.h.timeout {
		return
	}
	for i, d := range v.had {
		if d.watch == "" {
			v.found[i] = match{at: v.fault.At, name: d.path}
		}
	}
}

// backOf counts what is back.
func backOf(found []match) (n int) {
	for _, m := range found {
		if !m.at.IsZero() {
			n++
		}
	}
	return n
}

// elsewhere finds nodes that are not back with the session itself or the one that replaces it: another session of the
// client has one like it, or any session has one of the very same name. That of another client counts for a session
// that goes on: the other one leads now.
func (v *finding) elsewhere(others, spare []*holder, used func(*holder) map[thing]bool) {
	for i, d := range v.had {
		ours := d.by != nil && (v.by != nil || slices.Contains(others, d.by))
		if d.watch == "" && v.found[i].at.IsZero() && ours && !d.sequential {
			v.found[i], v.aside[i] = match{at: d.taken, name: d.path}, true
			used(d.by)[d.thing] = true
		}
	}
	for _, h := range spare {
		if h == v.h || h == v.by {
			continue
		}
		var left []*item
		var at []int
		for i, d := range v.had {
			if d.watch == "" && v.found[i].at.IsZero() {
				left, at = append(left, d), append(at, i)
			}
		}
		if len(left) == 0 {
			return
		}
		for i, m := range pair(v.fault, left, h, used(h)) {
			if !m.at.IsZero() {
				v.found[at[i]], v.aside[at[i]] = m, true
			}
		}
	}
}

// mostMissing is how many names are reported of what is missing, mostPatterns of how many they are chosen, and mostRows
// how many sessions are reported.
const mostMissing, mostPatterns, mostRows = 10, 512, 100

// decide judges one session.
func (a *Analysis) decide(v *finding, all []*finding) Session {
	f, h := v.fault, v.h
	s := Session{
		ID: h.id, Process: h.origin.process.Name, PID: h.origin.process.ID, Client: v.row.client, Fate: v.fate,
		Refused: v.refused, DoneTwice: append([]Write{}, v.twice...),
	}
	if v.fate == Resumed {
		s.Resume = v.attached.Sub(v.begun())
	}
	if v.row.by != nil {
		s.By = v.row.by.id
	}
	gap := f.precedes(h.origin.gap) || v.by != nil && f.precedes(v.by.origin.gap)
	hidden := a.full || gap || h.beyond || v.by != nil && v.by.beyond
	anew := false // a watch is back from the current revision on
	v.missing = nil
	changes := map[change]bool{} // whether it was missed
	alike := map[thing]bool{}    // watches that are back, without their ordinals
	for i, d := range v.had {
		of, took := &s.Nodes, &s.Register
		if d.watch != "" {
			of, took = &s.Watches, &s.Watch
		}
		back := v.found[i].at
		if back.IsZero() && d.line && v.by != h {
			continue // it began to wait anew
		}
		of.Had++
		if back.IsZero() {
			if v.missing = append(v.missing, d); d.watch == "" {
				of.miss(d, false)
			}
		} else {
			of.Back++
			alike[thing{d.watch, d.path, 0}] = true
			*took = max(*took, back.Sub(v.lostAt(d.thing)))
		}
		if revision := v.found[i].revision; d.watch != "" && back.After(f.At) {
			anew = anew || revision == 0
			if s.Revision == 0 || revision < s.Revision {
				s.Revision = revision
			}
		}
		if v.aside[i] {
			of.Elsewhere++
		}
		v.gap(d, back, changes)
	}
	for _, d := range v.missing {
		if d.watch != "" {
			s.Watches.miss(d, alike[thing{d.watch, d.path, 0}])
		}
	}
	for _, missed := range changes {
		if s.Changes++; missed {
			s.Missed++
		}
	}
	if anew {
		s.Revision = 0
	}
	if s.Probe = v.noticed(a, hidden); s.Probe != nil {
		s.Changes++
		if !s.Probe.Noticed {
			s.Missed++
		}
	}
	s.Nodes.Duplicated = v.duplicated(a.at)
	complete := s.Nodes.Back+s.Watches.Back == s.Nodes.Had+s.Watches.Had
	begun := v.begun()
	if v.fate == Kept { // its connection ends with the program, if it does
		begun = f.At
	}
	v.row.waited = a.at.Sub(begun)
	if end := cmp.Or(v.by, h).closed; !end.IsZero() {
		s.Lived, v.row.waited = max(end.Sub(f.end()), 0), end.Sub(begun)
	}
	s.GaveUp = !complete && a.gaveUp(v)
	switch {
	case v.o.late:
		s.Verdict, s.Reason = NotApplicable, Beyond
	case f.Kind.endsWatches() && len(v.struck) == 0:
		s.Verdict, s.Reason = NotApplicable, NoWatch
	case s.Nodes.Had+s.Watches.Had == 0 && (v.lost == nil || v.fate == Gone):
		s.Verdict, s.Reason = NotApplicable, NothingHad
	case complete && !s.wrong():
		s.Verdict = Recovers
	case !complete && !a.at.After(f.end()):
		s.Verdict, s.Reason = NotApplicable, Ongoing
	case !complete && ended(v, all) && s.Lived < cmp.Or(h.timeout, unknown):
		s.Verdict, s.Reason, s.Fate = NotApplicable, Ended, Closed
	case !complete && hidden:
		s.Verdict, s.Reason = NotApplicable, Incomplete
		if !gap {
			s.Reason = Beyond
		}
	case s.Nodes.Back+s.Watches.Back == 0 && !complete:
		s.Verdict = NotRecovered
	default:
		s.Verdict = RecoversPartly
	}
	s.Nodes.cut()
	s.Watches.cut()
	return s
}

// miss adds the name of a thing that is missing. Several watches on a path have one name.
func (t *Things) miss(d *item, partly bool) {
	m := Missing{Path: pathname.Text(d.path), fold: d.fold, Watch: d.kind(), Times: 1, Partly: partly}
	if n := len(t.Missing); n == 0 || t.Missing[n-1] != m {
		t.Missing = append(t.Missing, m)
	}
}

// cut keeps the first names that are missing.
func (t *Things) cut() {
	if t.Missing == nil {
		t.Missing = []Missing{}
	}
	slices.SortFunc(t.Missing, func(x, y Missing) int {
		return cmp.Or(cmp.Compare(y.Times, x.Times), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Watch, y.Watch))
	})
	t.Missing = t.Missing[:min(len(t.Missing), mostMissing)]
}

// gap adds the changes that others made until the session watched again, and says of each whether it has not seen it
// since. What a client changes itself it knows; whether a write was executed whose reply was lost is another question,
// see [Write].
func (v *finding) gap(d *item, back time.Time, changes map[change]bool) {
	for _, c := range d.changes {
		if c.by == v.h || c.by == v.by || c.at.Before(v.broke[d.thing]) || !back.IsZero() && c.at.After(back) {
			continue
		}
		changes[c] = v.by == nil || !v.by.beyond && !v.by.sees(c)
	}
}

// sees reports whether the holder has seen a state that shows the change, after it.
func (h *holder) sees(c change) bool {
	shows := func(at look) bool {
		l, looked := h.looks[at]
		s := l.nodes
		if c.value {
			s = l.values
		}
		if s.pos > 0 && c.pos > 0 {
			return s.pos >= c.pos
		}
		return looked && !s.at.Before(c.at)
	}
	below := func(path string) bool { return shows(look{path, true}) }
	switch {
	case c.list:
		return below(c.path)
	case shows(look{c.path, false}):
		return true
	}
	return h.a.byProcess && (below(c.path) || slices.ContainsFunc(ancestors(c.path), below))
}

// duplicated counts the nodes that the client has beside those that it had. Only names that the service or the client
// numbers can be there twice: a node of another name is another node. A session that was resumed has its nodes: it has
// too many if it registers all of them again as soon as it is.
func (v *finding) duplicated(at time.Time) (n int64) {
	if v.by == nil || v.fate == Kept {
		return 0
	}
	had, soon := map[string]int{}, map[string]int{}
	for _, d := range v.had {
		if d.watch == "" {
			had[d.fold]++
		}
	}
	for w, b := range v.by.begun {
		if w.watch == "" && (v.fate != Resumed || b.at.Sub(v.attached) < enough) {
			soon[b.fold]++
		}
	}
	seen := map[string]bool{}
	for i, d := range v.had {
		numbered := d.sequential || !v.found[i].at.IsZero() && v.found[i].name != d.path
		c := v.by.counts[d.fold]
		if d.watch != "" || seen[d.fold] || !numbered || c == nil || v.aside[i] || soon[d.fold] < had[d.fold] {
			continue
		}
		seen[d.fold] = true
		if end := v.by.closed; !end.IsZero() && end.Before(at) {
			at = end
		}
		if at.After(c.at) {
			c.pass(at)
		}
		n += int64(c.excess(v.most[d.fold]))
	}
	return n
}

// patience is how many times its longest pause a client may be silent until it has given up, and unknown the time-out of
// a session whose time-out is not known.
const patience, unknown = 4, 10 * time.Second

// gaveUp reports whether the client has not tried to connect for long.
func (a *Analysis) gaveUp(v *finding) bool {
	h := v.h
	if h.open > 0 || v.by != nil && v.by.open > 0 || !h.closed.IsZero() || v.by != nil && !v.by.closed.IsZero() {
		return false
	}
	last, longest := h.left, time.Duration(0)
	for _, at := range v.tried {
		if at.After(last) {
			longest, last = max(longest, at.Sub(last)), at
		}
	}
	for _, o := range a.neighbours(v.conduct.client) {
		last = latest(last, o.tried)
	}
	return a.at.Sub(last) > max(cmp.Or(h.timeout, unknown), patience*longest)
}

// ended reports whether the program has ended in order: it has closed this session, and every other one that did not end
// with the fault.
func ended(v *finding, all []*finding) bool {
	end := cmp.Or(v.by, v.h)
	if end.closed.IsZero() || v.h.origin.open+end.origin.open > 0 {
		return false
	}
	replaced := map[*holder]bool{}
	for _, o := range all {
		replaced[o.h] = o.by != o.h
	}
	for h := range end.origin.holders {
		if h.closed.IsZero() && !replaced[h] && v.fault.precedes(h.left) {
			return false
		}
	}
	return true
}

// A tally sums verdicts up.
type tally struct {
	recovered, partly, not, unjudged int64
	reasons                          map[Reason]int64
}

func (t *tally) add(v Verdict, why Reason) {
	switch v {
	case Recovers:
		t.recovered++
	case RecoversPartly:
		t.partly++
	case NotRecovered:
		t.not++
	default:
		if t.unjudged++; t.reasons == nil {
			t.reasons = map[Reason]int64{}
		}
		t.reasons[why]++
	}
}

// verdict returns the verdict over all, or why there is none.
func (t *tally) verdict(none Reason) (Verdict, Reason) {
	switch {
	case t.partly > 0, t.recovered > 0 && t.not > 0:
		return RecoversPartly, ""
	case t.recovered > 0:
		return Recovers, ""
	case t.not > 0:
		return NotRecovered, ""
	}
	return NotApplicable, t.why(none)
}

// why returns the most frequent reason why there is no verdict, the given one without any.
func (t *tally) why(none Reason) Reason {
	if len(t.reasons) == 0 {
		return none
	}
	return slices.MinFunc(slices.Sorted(maps.Keys(t.reasons)), func(x, y Reason) int {
		return cmp.Compare(t.reasons[y], t.reasons[x])
	})
}

// sum adds up the rows of an outcome.
func (a *Analysis) sum(o *outcome) *Outcome {
	s := &Outcome{Fault: o.fault, Sessions: int64(len(o.rows)), Rows: []Session{}}
	s.Observed = max(a.at.Sub(o.end()), 0)
	if !o.until.IsZero() {
		s.Observed = max(o.until.Sub(o.end()), 0)
	}
	var of tally
	var resuming, registered, watching, noticing sample
	refused, clients := map[*origin]bool{}, a.clientsOf(o.rows)
	for _, r := range o.rows {
		w := r.result
		if c := clients[r.h.origin]; !refused[c] {
			refused[c] = true
			s.Refused += w.Refused
		}
		of.add(w.Verdict, w.Reason)
		s.Rows = append(s.Rows, w)
		if r.probe != nil && s.Probe == nil {
			s.Probe = &Probed{At: r.probe.At, Path: pathname.Text(r.probe.Path)}
		}
		if w.Verdict == NotApplicable { // what it has back says nothing
			if w.Fate == Closed {
				s.Closed++
			}
			continue
		}
		switch w.Fate {
		case Kept:
			s.Kept++
		case Resumed:
			s.Resumed++
			resuming.add(w.Resume)
		case Replaced:
			s.Replaced++
		default:
			s.Gone++
		}
		if w.GaveUp {
			s.GaveUp++
		}
		s.Nodes.add(w.Nodes)
		s.Watches.add(w.Watches)
		registered.back(w.Nodes, w.Register, r.waited)
		watching.back(w.Watches, w.Watch, r.waited)
		if w.Watches.Had > 0 && w.Watches.Back == w.Watches.Had && w.Watch > 0 && w.Revision > 0 {
			s.FromRevision++
		}
		s.Repeated += int64(len(w.DoneTwice))
		s.Probe.add(w.Probe, &noticing)
		s.Changes, s.Missed = s.Changes+w.Changes, s.Missed+w.Missed
	}
	s.Recovered, s.Partly, s.Not, s.Unjudged = of.recovered, of.partly, of.not, of.unjudged
	s.Verdict, s.Reason = of.verdict(NothingHit)
	s.Nodes.cut()
	s.Watches.cut()
	s.Resuming, s.Registered, s.Watching = resuming.times(), registered.times(), watching.times()
	if s.Probe != nil {
		s.Probe.Within = noticing.times()
	}
	s.Reconnects, s.Rearmed, s.Retries = a.peakOf(o, reconnects), a.peakOf(o, rearms), a.peakOf(o, retries)
	s.InStep = a.inStep(o)
	slices.SortStableFunc(s.Rows, func(x, y Session) int { return cmp.Compare(x.Verdict.rank(), y.Verdict.rank()) })
	s.Rows = s.Rows[:min(len(s.Rows), mostRows)]
	return s
}

// rank orders verdicts, the worst first.
func (v Verdict) rank() int {
	return slices.Index([]Verdict{NotRecovered, RecoversPartly, NotApplicable, Recovers}, v)
}

// add adds the things of one session, by the patterns of those that are missing.
func (t *Things) add(o Things) {
	t.Had, t.Back, t.Elsewhere, t.Duplicated = t.Had+o.Had, t.Back+o.Back, t.Elsewhere+o.Elsewhere, t.Duplicated+o.Duplicated
	counted := map[Missing]bool{}
	for _, m := range o.Missing {
		one := Missing{Path: m.fold, Watch: m.Watch, Times: 1, Partly: m.Partly}
		if counted[one] {
			continue
		}
		counted[one] = true
		same := func(x Missing) bool { x.Times = 1; return x == one }
		if i := slices.IndexFunc(t.Missing, same); i >= 0 {
			t.Missing[i].Times++
		} else if len(t.Missing) < mostPatterns {
			t.Missing = append(t.Missing, one)
		}
	}
}

// A sample has how long sessions took, and of those that did not come back for how long that was observed.
type sample struct{ took, waited []time.Duration }

func (s *sample) add(took time.Duration) { s.took = append(s.took, took) }

// back adds a session, unless it had nothing or has lost nothing.
func (s *sample) back(of Things, took, waited time.Duration) {
	switch {
	case of.Back < of.Had:
		s.waited = append(s.waited, waited)
	case of.Had > 0 && took > 0:
		s.add(took)
	}
}

// times returns the distribution over all sessions. Those that did not come back have taken longer than all others: what
// is known is that they took at least as long as they were observed.
func (s *sample) times() Times {
	slices.Sort(s.took)
	t := Times{Sessions: int64(len(s.took)), NotBack: int64(len(s.waited))}
	least := time.Duration(0)
	if t.NotBack > 0 {
		least = slices.Min(s.waited)
	}
	if len(s.took) > 0 {
		t.Longest = s.took[len(s.took)-1]
		least = max(least, t.Longest)
	}
	at := func(percent int) time.Duration {
		if i := t.rank(percent); i < len(s.took) {
			return s.took[i]
		}
		return least
	}
	t.P50, t.P99, t.Max = at(50), at(99), at(100)
	return t
}

// rank returns which session, from 0 in the order of their times, took as long as a percentile.
func (t Times) rank(percent int) int { return max(0, (int(t.Sessions+t.NotBack)*percent+99)/100-1) }

// AtLeast reports whether a percentile is a lower bound: it is the time of a session that did not come back.
func (t Times) AtLeast(percent int) bool { return t.NotBack > 0 && t.rank(percent) >= int(t.Sessions) }
