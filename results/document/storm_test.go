package document_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
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
	var b bytes.Buffer
	f := resulttest.FileOf(
		stormy("connect", 25, 120*time.Millisecond, 300*time.Microsecond, 21*time.Millisecond),
		stormy("idle", 60, 2*time.Millisecond, 300*time.Microsecond, 310*time.Microsecond),
	)
	if err := render.WriteText(&b, f, render.Options{}); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "testdata/storms.txt", b.Bytes())
	checkWidth(t, b.String())
}
