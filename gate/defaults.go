package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// What is asked against a baseline where nobody says what. Two runs of the same
// thing differ by chance, their speed by a sixth from day to day on a machine that
// others use, too: what is three times as far off shows something, and times of
// runs shorter than a second show nothing. A herd is farther off than any chance;
// what is nearer takes pairs of runs to show.
const (
	countsWithin     = 1.25
	countsMore       = 0.5 // of a round, where a quarter of the count is less
	throughputWithin = 0.6
	tailWithin       = 2
	longEnough       = 900 * time.Millisecond
)

// Defaults are the thresholds on a baseline where none is given: for each row that
// is in it too the counts over whole rounds, and of runs that are long enough the
// throughput, and for each phase the highest percentile that the baseline has.
// Naive forms are there to be compared with and have none, and loads have no
// counts.
func Defaults(rows []Row, baseline results.File) (all []Threshold) {
	done := map[string]bool{}
	for _, row := range rows {
		base, found := baseRow(row, baseline)
		name := row.Scenario + " " + row.Recipe + "/" + row.Form + fmt.Sprint(row.Clients)
		if !found || row.Family == "naive" || done[name] {
			continue
		}
		done[name] = true
		for _, text := range defaults(row, base) {
			t, err := Parse(text, row.Scenario, rows)
			if err != nil {
				panic(err) // it was made of names that there are
			}
			all = append(all, t)
		}
	}
	return all
}

// baseRow is the baseline's run that is as the row says.
func baseRow(row Row, baseline results.File) (results.Run, bool) {
	for _, b := range baseline.Runs {
		if b.Scenario == row.Scenario && b.Recipe == row.Recipe && b.Form == row.Form && b.Clients == row.Clients {
			return b, true
		}
	}
	return results.Run{}, false
}

func defaults(row Row, base results.Run) (texts []string) {
	ask := func(figure string, op figures.Op, factor float64) {
		f, err := figures.Parse(figure, row.Phases)
		if err != nil || value(f, base) == nil || factor == 0 {
			return
		}
		texts = append(texts, fmt.Sprintf("%s/%s@%d.%s %s %.3g * %s", row.Recipe, row.Form, row.Clients, figure, op, factor, baselineWord))
	}
	if row.Family != "load" {
		for _, what := range []string{"notifications", "reads", "writes"} {
			figure := "whole." + what + "_per_round"
			ask(figure, figures.AtMost, allowance(figure, base))
		}
	}
	if base.DurationNS < longEnough {
		return texts
	}
	ask("rounds_per_s", figures.AtLeast, throughputWithin)
	for _, phase := range row.Phases {
		ask(tail(phase, base), figures.AtMost, tailWithin)
	}
	return texts
}

// allowance is the factor of a count, 0 if there is none since it is 0 itself.
func allowance(figure string, base results.Run) float64 {
	f, err := figures.Parse(figure, nil)
	if err != nil {
		return 0
	}
	v := value(f, base)
	if v == nil || *v == 0 {
		return 0
	}
	return max(countsWithin, (*v+countsMore) / *v)
}

// tail is the highest percentile of the phase that the run has up to p99, by
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
