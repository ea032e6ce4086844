package recovery

import (
	"fmt"
	"strings"
	"time"
)

// A Format formats figures as the document does that a sentence is for. Package results/units has its functions.
type Format struct {
	Duration func(time.Duration) string // "214 ms"
	Count    func(int64) string         // "2 140"
}

// share formats a part of a whole: "2 of 6".
func (f Format) share(n, all int64) string { return f.Count(n) + " of " + f.Count(all) }

// things formats a number of things: "1 write", "2 writes".
func (f Format) things(n int64, noun string) string {
	return f.Count(n) + " " + number(n, noun, noun+"s")
}

// number returns the word that goes with a number.
func number(n int64, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// Sentence says in one sentence how the program recovered from the faults.
func (r Report) Sentence(f Format) string {
	switch {
	case len(r.Outcomes) == 1:
		return r.Outcomes[0].Sentence(f)
	case r.Verdict == NotApplicable:
		return "n/a: " + string(r.Reason) + "."
	}
	var of tally
	var worst *Outcome
	for i, o := range r.Outcomes {
		if of.add(o.Verdict, o.Reason); o.Verdict != NotApplicable && (worst == nil || o.Verdict.rank() < worst.Verdict.rank()) {
			worst = &r.Outcomes[i]
		}
	}
	s := fmt.Sprintf("%s: it recovered from %s faults", strings.ToUpper(string(r.Verdict)), f.share(of.recovered, int64(len(r.Outcomes))))
	if worst.Verdict != Recovers {
		s += "; " + worst.began() + ", " + strings.Join(worst.clauses(f), "; ")
	}
	if n := of.unjudged; n > 0 {
		s += fmt.Sprintf("; %s %s no verdict: %s", f.things(n, "fault"), number(n, "has", "have"), of.why(""))
	}
	return s + "."
}

// Sentence says in one sentence how the program recovered from the fault.
func (o Outcome) Sentence(f Format) string {
	if o.Verdict == NotApplicable {
		return "n/a: " + string(o.Reason) + "."
	}
	return fmt.Sprintf("%s: %s, %s.", strings.ToUpper(string(o.Verdict)), o.began(), strings.Join(o.clauses(f), "; "))
}

// began says after what: "after its session expired".
func (o Outcome) began() string {
	switch o.Fault.Kind {
	case Expired:
		return "after its " + o.noun("lease") + " expired"
	case Disconnected:
		if o.Kept == o.Judged() && o.Fault.Until.After(o.Fault.At) {
			return "while no byte came"
		}
		return "after its connection broke"
	case LostReply:
		return "after a reply was lost"
	case ServerFailed:
		return "after a server failed"
	case WatchCanceled:
		return "after the service cancelled its watch"
	case WatchCompacted:
		return "after its watch fell behind a compaction"
	case StreamBroken:
		return "after the stream of its watch broke"
	}
	return "after its messages were delayed"
}

// noun returns "session", or another noun if the sessions have no number.
func (o Outcome) noun(other string) string {
	if len(o.Rows) > 0 && o.Rows[0].ID == 0 {
		return other
	}
	return "session"
}

// String names it in a sentence.
func (m Missing) String() string {
	switch m.Watch {
	case onChildren:
		return "the children of " + m.Path
	case recursive:
		return "all below " + m.Path
	}
	return m.Path
}

// clauses say what is back, what is not, and how.
func (o Outcome) clauses(f Format) (all []string) {
	add := func(format string, v ...any) { all = append(all, fmt.Sprintf(format, v...)) }
	sessions := f.things(o.Judged(), o.noun("client"))
	if n := o.Kept; n > 0 {
		add("%s of %s stayed connected", f.Count(n), sessions)
	}
	if n := o.Resumed; n > 0 {
		verb := number(n, "was resumed", "were resumed")
		if o.noun("client") == "client" {
			verb = "connected again"
		}
		add("%s of %s %s within %s", f.Count(n), sessions, verb, f.Duration(o.Resuming.Longest))
	}
	if n := o.Registered.Sessions; n > 0 {
		add("%s of %s registered again within %s", f.Count(n), sessions, f.Duration(o.Registered.Longest))
	}
	missing := func(what string, t Things) {
		if len(t.Missing) == 0 {
			return
		}
		more := ""
		if n := len(t.Missing) - 1; n > 0 {
			more = fmt.Sprintf(" (and %s more)", f.things(int64(n), "path"))
		}
		first, name := t.Missing[0], t.Missing[0].String()
		if first.Partly {
			what, name = "arm every watch on", first.Path
		}
		add("%s did not %s %s again%s", f.share(first.Times, o.Judged()), what, name, more)
	}
	missing("register", o.Nodes)
	if n := o.Watching.Sessions; n > 0 && len(o.Watches.Missing) == 0 {
		add("%s watched again within %s%s", f.share(n, o.Judged()), f.Duration(o.Watching.Longest), o.revision(f))
	}
	missing("watch", o.Watches)
	for _, of := range []struct {
		noun string
		Things
	}{{"nodes", o.Nodes}, {"watches", o.Watches}} {
		if n := of.Late; n > 0 {
			add("%s missing %s %s back after a later fault", f.share(n, of.Had-of.Back), of.noun, number(n, "was", "were"))
		}
	}
	if n := o.Nodes.Duplicated; n > 0 {
		add("%s too many %s registered", f.things(n, "node"), number(n, "was", "were"))
	}
	if n := o.Repeated; n > 0 {
		add("%s %s done twice", f.things(n, "write"), number(n, "was", "were"))
	}
	unnoticed := int64(0)
	if p := o.Probe; p != nil {
		unnoticed = p.Missed
		all := f.things(p.Noticed+p.Missed, o.noun("client"))
		if n := p.Noticed; n > 0 {
			add("%s of %s noticed the change of %s within %s", f.Count(n), all, p.Path, f.Duration(p.Within.Longest))
		}
		if n := p.Missed; n > 0 {
			add("%s of %s missed the change of %s", f.Count(n), all, p.Path)
		}
	}
	if n := o.Missed - unnoticed; n > 0 {
		add("%s made meanwhile %s missed", f.things(n, "change"), number(n, "was", "were"))
	}
	if n := o.GaveUp; n > 0 {
		add("%s gave up", f.share(n, o.Judged()))
	}
	if n := o.Gone - o.GaveUp; n > 0 {
		what := "opened no new session"
		if o.noun("client") == "client" {
			what = "did not connect again"
		}
		add("%s %s in %s", f.share(n, o.Judged()), what, f.Duration(o.Observed))
		if n := o.Refused; n > 0 {
			add("%s to resume an ended session %s refused", f.things(n, "attempt"), number(n, "was", "were"))
		}
	}
	if s := o.InStep; s != nil {
		add("%s retried in step, every %s", f.things(s.Clients, "client"), f.Duration(s.Period))
	}
	return all
}

// revision says from which revision watches of etcd are back that the fault has ended.
func (o Outcome) revision(f Format) string {
	switch n := o.FromRevision; {
	case !o.Fault.Kind.endsWatches():
		return ""
	case n == 1 && o.Sessions == 1:
		return fmt.Sprintf(", from revision %s", f.Count(o.Rows[0].Revision))
	case n == o.Watching.Sessions:
		return ", from a revision of their own"
	case n == 0:
		return ", from the current revision"
	default:
		return fmt.Sprintf(", %s of them from the current revision", f.Count(o.Watching.Sessions-n))
	}
}
