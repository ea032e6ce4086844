package gate

import (
	"fmt"
	"strings"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figures"
)

// What is asked against a baseline where nobody says what. Counts hardly depend
// on the machine; of single runs' times only what is far off shows anything.
const (
	countsWithin     = 1.05
	throughputWithin = 0.8
	tailWithin       = 1.5
)

// Defaults are the thresholds on a baseline where none is given: for each row that
// is in it too the counts over whole rounds, the throughput, and for each phase
// the highest percentile that the baseline has. Naive forms are there to be
// compared with and have none, and loads have no counts.
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
		if err != nil || value(f, base) == nil {
			return
		}
		texts = append(texts, fmt.Sprintf("%s/%s@%d.%s %s %g * %s", row.Recipe, row.Form, row.Clients, figure, op, factor, baselineWord))
	}
	if row.Family != "load" {
		for _, what := range []string{"notifications", "reads", "writes"} {
			ask("whole."+what+"_per_round", figures.AtMost, countsWithin)
		}
	}
	ask("rounds_per_s", figures.AtLeast, throughputWithin)
	for _, phase := range row.Phases {
		ask(tail(phase, base), figures.AtMost, tailWithin)
	}
	return texts
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
