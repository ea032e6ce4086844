package document_test

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/render"
	"github.com/stampede-bench/stampede/results/resulttest"
)

// passed returns a run of a scenario with the given duration.
func passed(scenario, form string, clients int, took time.Duration) results.Run {
	r := resulttest.Sample{Form: form, Family: "recipe", Clients: clients, Rounds: 200, Notif: 2, Reads: 3, Writes: 2, Handoff: time.Millisecond, Acquire: time.Millisecond, Fanout: int64(clients), Wasted: 0}.Run(resulttest.Native())
	r.Scenario, r.Recipe, r.DurationNS = scenario, "double-barrier", took
	r.ThroughputPerS = 200 / took.Seconds()
	return r
}

func paper(across, figure string) *results.Reference {
	return &results.Reference{Source: "a paper, table 3", Figure: figure, Across: across,
		Differs: []string{"their machines are of another year"}}
}

// If clients are the columns, the runs of a scenario stand below the reference's row with the
// scenario's name.
func TestBesideAcrossClients(t *testing.T) {
	f := resulttest.FileOf(passed("200-barriers", "ready", 50, 1300*time.Millisecond), passed("200-barriers", "ready", 100, 2600*time.Millisecond),
		passed("others", "ready", 50, 3*time.Second), passed("200-barriers", "ready", 3, time.Second))
	f.Scenario = "paper-barriers"
	f.Reference = paper(results.AcrossClients, results.Seconds)
	f.Reference.Columns = []string{"50", "100", "200"}
	f.Reference.Rows = []results.ReferenceRow{{Label: "200-barriers", Figures: []float64{9.4, 19.8, 41}}, {Label: "400-barriers", Figures: []float64{16.4, 34.1, 62}}}
	f.Interrupted = true
	wantText(t, f, render.Options{}, "beside-clients.txt")
}

// If scenarios are the columns, one of our rows has the runs that differ only in the scenario.
func TestBesideAcrossScenarios(t *testing.T) {
	f := resulttest.FileOf(passed("writes", "mix", 250, time.Second), passed("reads", "mix", 250, time.Second/4), passed("reads", "mix", 9, time.Second))
	other := passed("writes", "mix", 250, 2*time.Second)
	other.Backend = results.Backend(drivers.Info{Name: "etcd", URL: "etcd:"})
	f.Runs = append(f.Runs, other)
	f.Scenario = "paper-throughput"
	f.Reference = paper(results.AcrossScenarios, results.RoundsPerS)
	f.Reference.Columns = []string{"writes", "reads"}
	f.Reference.Rows = []results.ReferenceRow{{Label: "3 servers", Figures: []float64{21000, 87000}}}
	wantText(t, f, render.Options{}, "beside-scenarios.txt")
}

// In this mix, half of the writes create a node.
func TestBesideCreates(t *testing.T) {
	f := mixFile(mixing(resulttest.Native(), results.Mix{Keys: 1000, KeysBy: "uniform", SizeBytes: 1000, Creates: 0.5})...)
	f.Runs = append(f.Runs, passed("creates", "ready", 8, time.Second))
	for i := range f.Runs {
		f.Runs[i].Scenario = "creates"
	}
	f.Scenario = "paper-create"
	f.Reference = paper(results.AcrossClients, results.CreatesPerS)
	f.Reference.Columns = []string{"8", "64"}
	f.Reference.Rows = []results.ReferenceRow{{Label: "3 servers", Figures: []float64{776, 2740}}}
	wantText(t, f, render.Options{}, "beside-creates.txt")
}
