package gate

import (
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/results"
)

// Baseline returns the part of a file that serves as a baseline: all figures, without histograms
// and time lines.
func Baseline(f results.File) results.File {
	f.Gates, f.Verdict, f.Reference, f.Incident, f.Skipped = nil, "", nil, nil, nil
	runs := make([]results.Run, len(f.Runs))
	for i, r := range f.Runs {
		r.Latency = lean(r.Latency)
		r.Herd.Fanout, r.Herd.Drain, r.Herd.Timeline = leaner(r.Herd.Fanout), leaner(r.Herd.Drain), nil
		r.Generator.Lag = leaner(r.Generator.Lag)
		if r.Background != nil {
			b := *r.Background
			b.Latency = lean(b.Latency)
			r.Background = &b
		}
		r.Intervals = []results.Interval{}
		runs[i] = r
	}
	f.Runs = runs
	return f
}

func lean(all map[string]results.Latency) map[string]results.Latency {
	out := make(map[string]results.Latency, len(all))
	for phase, l := range all {
		l.Service, l.Response = leaner(l.Service), leaner(l.Response)
		out[phase] = l
	}
	return out
}

// leaner returns the distribution without its histogram.
func leaner(d *results.Distribution) *results.Distribution {
	if d == nil {
		return nil
	}
	out := *d
	out.HDR = ""
	return &out
}

// Missing returns a gate for each run that only the baseline has, and for each phase that only the baseline's run has.
// They are invalid: what was not measured has not passed. A figure that the baseline's run alone has is judged by its
// threshold.
func Missing(runs []results.Run, baseline results.File) (gates []results.Gate) {
	rows := Rows(runs)
	seen := map[string]bool{}
	miss := func(of Row, what, why string) {
		text := fmt.Sprintf("%s/%s@%d%s: as in the baseline", of.Recipe, of.Form, of.Clients, what)
		if key := of.String() + what; !seen[key] {
			seen[key] = true
			gates = append(gates, results.Gate{Text: text, Scenario: of.Scenario, Subject: of.String(), Run: -1, Verdict: results.Invalid, Why: why})
		}
	}
	for i, base := range Rows(baseline.Runs) {
		has := false
		for at, r := range runs {
			if !rows[at].sameSubject(base) {
				continue
			}
			has = true
			for _, phase := range base.Phases {
				if baseline.Runs[i].Latency[phase].Count > 0 && !slices.Contains(r.Phases, phase) {
					miss(base, "."+phase, "only the baseline has this phase")
				}
			}
		}
		if !has {
			miss(base, "", "only the baseline has this run")
		}
	}
	return gates
}

// limitOfBaseline returns the limit of a threshold on the baseline's figure. A figure that depends
// on time is comparable only on the same machine with the same settings.
func (c evaluation) limitOfBaseline(t Threshold, at int) limit {
	run := c.file.Runs[at]
	base, found := c.base(at)
	if !found {
		return none(results.Inconclusive, "the baseline has no such run")
	}
	is := t.figure.Read(base).Times(t.operand.value).Named("in the baseline")
	l := limit{Reading: is}
	switch why := c.incomparable(run, base); {
	case !is.Known():
		l.verdict, l.why = results.Inconclusive, is.Unknown
	case base.Safety.Violations > 0:
		l.verdict, l.why = results.Invalid, "in the baseline the form violated safety"
	case why != "" && t.figure.Timed():
		l.verdict, l.why = results.Invalid, why
	}
	return l
}

// base returns the baseline's run with the same subject as that at the index. If there are several, it
// prefers one with the same conditions, then one at the same address.
func (c evaluation) base(at int) (results.Run, bool) {
	run, best, found := c.file.Runs[at], results.Run{}, 0
	for i, row := range Rows(c.baseline.Runs) {
		b := c.baseline.Runs[i]
		if !c.rows[at].sameSubject(row) {
			continue
		}
		likeness := 1
		if unlike(run, b) == "" {
			likeness += 2
		}
		if b.Backend.Address() == run.Backend.Address() {
			likeness++
		}
		if likeness > found {
			best, found = b, likeness
		}
	}
	return best, found > 0
}

// incomparable says why times of the two runs are not comparable. It returns "" if they are.
//
// Note: it does not compare kernels, since the cost of a kernel update is one of the things that a
// baseline should reveal.
func (c evaluation) incomparable(run, base results.Run) string {
	here, there := c.file.Host, c.baseline.Host
	switch differs := unlike(run, base); {
	case here.OS != there.OS || here.CPU != there.CPU || here.Cores != there.Cores:
		return fmt.Sprintf("another machine: %s, the baseline's is %s", here.Machine(), there.Machine())
	case run.Backend.Started == "" && run.Backend.Address() != base.Backend.Address():
		return fmt.Sprintf("another service: the baseline's is %s", base.Backend.Address())
	case differs != "":
		return differs
	}
	return ""
}
