package document_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
	"github.com/stampede-bench/stampede/results/levels"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// stormy returns a run with the given number of storms.
func stormy(form string, storms int64, back, before, during time.Duration) results.Run {
	phase := func(name string, n int64, d time.Duration) metrics.Phase {
		return metrics.Phase{Name: name, Service: resulttest.Spread(n, d), Response: resulttest.Spread(n, d)}
	}
	return results.FromRecord(results.Setting{Recipe: "sessions", Form: form, Family: "load", Backend: resulttest.Native(), Clients: 1000, Hold: 50 * time.Millisecond},
		&metrics.Record{
			Duration: 5 * time.Second, Rounds: storms,
			Phases: []metrics.Phase{phase("back", 1000*storms, back/2), phase("over", storms, back),
				phase("ordinary", 40*storms, during), phase("calm", 50*storms, before)},
			Storm:  &metrics.Storm{Made: 40 * storms, Omitted: int64(during/time.Millisecond) * storms},
			Safety: metrics.Safety{Checked: storms},
		})
}

func TestStormTable(t *testing.T) {
	f := resulttest.FileOf(
		stormy("connect", 25, 120*time.Millisecond, 300*time.Microsecond, 21*time.Millisecond),
		stormy("idle", 60, 2*time.Millisecond, 300*time.Microsecond, 310*time.Microsecond),
	)
	wantText(t, f, render.Options{}, "storms.txt")
}

// A level of a sweep shows the medians of the means and of the longest times of its runs. Where a run has no
// time they are not known, and not 0.
func TestSweepOfStormsShowsMeans(t *testing.T) {
	row := func(runs ...results.Run) string {
		s := resulttest.SweepOf(runs...)
		levels.Analyse(&s)
		return strings.Join(document.New(s).Tables[0].Rows[0], " ")
	}
	known := stormy("connect", 25, 120*time.Millisecond, 300*time.Microsecond, 21*time.Millisecond)
	if got := row(known); strings.Contains(got, "0 s") || strings.Contains(got, "n/a") {
		t.Errorf("%s: a time is missing", got)
	}
	unknown := stormy("connect", 25, 120*time.Millisecond, 300*time.Microsecond, 21*time.Millisecond)
	unknown.Latency = map[string]results.Latency{}
	if got := row(unknown); strings.Contains(got, "0 s") || strings.Count(got, "n/a") < 6 {
		t.Errorf("%s: times that are not known", got)
	}
}
