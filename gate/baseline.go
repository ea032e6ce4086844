package gate

import (
	"fmt"

	"github.com/stampede-bench/stampede/results"
)

// Baseline is what is kept of a file to hold others against it: all figures, and
// neither histograms nor what happened when.
func Baseline(f results.File) results.File {
	f.Gates, f.Verdict, f.Reference, f.Skipped = nil, "", nil, nil
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

// leaner is the distribution without its histogram.
func leaner(d *results.Distribution) *results.Distribution {
	if d == nil {
		return nil
	}
	out := *d
	out.HDR = ""
	return &out
}

// limitOfBaseline is that of a factor of the baseline's figure. What depends on
// time is comparable on the same machine with the same settings only.
func (c court) limitOfBaseline(t Threshold, run results.Run) limit {
	base, found := c.base(run)
	if !found {
		return limit{verdict: results.Inconclusive, why: "the baseline has no such run"}
	}
	v := value(t.figure, base)
	if v == nil {
		return limit{verdict: results.Inconclusive, why: "in the baseline: " + unknown(t.figure)}
	}
	*v *= t.operand.value
	if base.Safety.Violations > 0 {
		return limit{v, results.Invalid, "in the baseline the form broke its promise"}
	}
	if why := c.incomparable(run, base); why != "" && t.figure.Timed {
		return limit{v, results.Invalid, why}
	}
	if why := doubtful(t.figure, base); why != "" {
		return limit{v, results.Invalid, "in the baseline: " + why}
	}
	return limit{value: v}
}

// base is the run of the baseline that is the same, or the same on another server
// of the kind.
func (c court) base(run results.Run) (results.Run, bool) {
	best, found := results.Run{}, 0
	for _, b := range c.baseline.Runs {
		if b.Scenario != run.Scenario || b.Recipe != run.Recipe || b.Form != run.Form || b.Clients != run.Clients || b.Backend.Name != run.Backend.Name {
			continue
		}
		likeness := 1
		if unlike(run, b) == "" {
			likeness += 2
		}
		if b.Backend.URL == run.Backend.URL {
			likeness++
		}
		if likeness > found {
			best, found = b, likeness
		}
	}
	return best, found > 0
}

// incomparable says why times of the two do not compare, "" if they do.
//
// Note: the kernel is not compared. What an update of it costs is among what
// somebody wants to see.
func (c court) incomparable(run, base results.Run) string {
	here, there := c.file.Host, c.baseline.Host
	switch differs := unlike(run, base); {
	case here.OS != there.OS || here.CPU != there.CPU || here.Cores != there.Cores:
		return fmt.Sprintf("another machine: %s, the baseline's is %s", machine(here), machine(there))
	case run.Backend.Started == "" && run.Backend.URL != base.Backend.URL:
		return fmt.Sprintf("another service: the baseline's is %s", base.Backend.URL)
	case differs != "":
		return differs
	}
	return ""
}

func machine(h results.Host) string {
	return fmt.Sprintf("%d × %s, %s", h.Cores, h.CPU, h.OS)
}
