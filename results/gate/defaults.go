package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// The default thresholds on a baseline. Two runs with the same setting differ by chance; on a
// machine shared with others, their speed differs by a sixth from day to day. A difference three
// times as large is significant, but times of runs shorter than a second are not. A herd exceeds
// any chance difference. Smaller changes take pairs of runs to detect.
const (
	countsWithin     = 1.25
	countsMore       = 0.5 // per round, for counts so small that a quarter is less
	throughputWithin = 0.6
	tailWithin       = 2
	longEnough       = 900 * time.Millisecond
)

// Defaults returns the thresholds that apply to a baseline if none are given. For each row that is
// also in the baseline these are the counts over whole rounds and, if the baseline's run is long
// enough, the throughput and, for each phase, the highest percentile that the baseline has. Naive
// forms have none, since they exist only for comparison, and loads have no counts.
func Defaults(rows []Row, baseline results.File) (all []Threshold) {
	done, compared := map[string]bool{}, map[string]bool{}
	for _, row := range rows {
		compared[row.Recipe] = compared[row.Recipe] || row.Family != naive
	}
	for _, row := range rows {
		base, found := baseRow(row, baseline)
		name := row.Scenario + " " + row.Recipe + "/" + row.Form + fmt.Sprint(row.Clients) // a selector names no backend
		if !found || row.Family == naive && compared[row.Recipe] || done[name] {
			continue
		}
		done[name] = true
		for _, text := range defaults(row, base) {
			t, err := Parse(text, row.Scenario, rows)
			if err != nil {
				panic(err) // it consists of known names
			}
			all = append(all, t)
		}
	}
	return all
}

// naive is the family of naive forms.
const naive = "naive"

// baseRow returns the first run of the baseline for the row.
func baseRow(row Row, baseline results.File) (results.Run, bool) {
	i := slices.IndexFunc(Rows(baseline.Runs), row.sameSubject)
	if i < 0 {
		return results.Run{}, false
	}
	return baseline.Runs[i], true
}

func defaults(row Row, base results.Run) (texts []string) {
	ask := func(name string, op figure.Op, factor float64) {
		f, err := figure.Parse(name, row.Phases)
		if err != nil || !f.Read(base).Known() || factor == 0 {
			return
		}
		texts = append(texts, fmt.Sprintf("%s/%s@%d.%s %s %.3g * %s", row.Recipe, row.Form, row.Clients, name, op, factor, baselineWord))
	}
	if row.Family != "load" {
		for _, f := range figure.Known(nil, figure.WholeCosts()...) {
			ask(f.Name, figure.AtMost, allowance(f, base))
		}
	}
	if base.DurationNS < longEnough {
		return texts
	}
	ask("rounds_per_s", figure.AtLeast, throughputWithin)
	for _, phase := range row.Phases {
		ask(tail(phase, base), figure.AtMost, tailWithin)
	}
	return texts
}

// allowance returns the allowed factor of a count, or 0 if there is none because the count is 0.
func allowance(f figure.Figure, base results.Run) float64 {
	is := f.Read(base)
	if !is.Known() || is.Value == 0 {
		return 0
	}
	return max(countsWithin, (is.Value+countsMore)/is.Value)
}

// tail returns the name of the highest percentile of the phase, up to p99, that the run has; of its
// response times if it has these.
func tail(phase string, r results.Run) string {
	times, d := ".response.", r.Latency[phase].Response
	if d == nil {
		times, d = ".service.", r.Latency[phase].Service
	}
	percentile := "p50"
	switch {
	case d != nil && d.P99 != nil:
		percentile = "p99"
	case d != nil && d.P90 != nil:
		percentile = "p90"
	}
	return strings.Join([]string{phase, times, percentile}, "")
}
