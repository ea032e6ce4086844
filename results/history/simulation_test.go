package history

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/stampede-bench/stampede/internal/golden"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A trial is how series of 60 values are made: noise of 2 % with correlated neighbours, outliers, and a
// step at a random place or a drift over the whole series.
type trial struct {
	rho, step, drift float64
	spikes           bool
}

const (
	length = 60
	sd     = 0.02
)

// series returns one series, and the place of its step.
func (t trial) series(random *rand.Rand) (values []float64, at int) {
	at = 2*fewest + random.IntN(length-3*fewest+1)
	noise := sd * random.NormFloat64()
	for i := range length {
		v := noise + t.drift*float64(i)/length
		if i >= at {
			v += math.Log1p(t.step)
		}
		if t.spikes && random.Float64() < 0.05 {
			v += 0.2 * random.ExpFloat64()
		}
		values = append(values, v)
		noise = t.rho*noise + sd*math.Sqrt(1-t.rho*t.rho)*random.NormFloat64()
	}
	return values, at
}

// A tally is what was found in a number of series.
type tally struct {
	series, alarms, found, placed, prompt, drifts int
}

func (t trial) tally(series int, limit float64) tally {
	random, n := rand.New(rand.NewPCG(1, 2)), tally{series: series}
	for range series {
		values, at := t.series(random)
		n.add(detect(values, limit), at)
	}
	return n
}

// add counts the changes of a series whose step is at the given place. A change belongs to the step if it
// was seen after the step and lies less than five places before it.
func (n *tally) add(changes []Change, at int) {
	if len(changes) == 0 {
		return
	}
	n.alarms++
	for _, c := range changes {
		if c.Drift() {
			n.drifts++
			break
		}
	}
	for _, c := range changes {
		if c.Drift() || c.Seen <= at || c.At < at-fewest {
			continue
		}
		n.found++
		if c.At >= at-2 && c.At <= at+2 {
			n.placed++
		}
		if c.Seen <= at+fewest {
			n.prompt++
		}
		return
	}
}

// unchanged are series in which nothing changes.
func unchanged() []trial {
	return []trial{{}, {rho: 0.3}, {rho: 0.5}, {spikes: true}, {rho: 0.3, spikes: true}, {rho: 0.5, spikes: true}}
}

// alarms returns the number of series without a change, and those in which one is found.
func alarms(each int, limit float64) (alarms, series int) {
	for _, t := range unchanged() {
		n := t.tally(each, limit)
		alarms, series = alarms+n.alarms, series+n.series
	}
	return alarms, series
}

// tooMany reports whether so many alarms show, with 95 % confidence, that their share is above 5 %.
func tooMany(alarms, series int) bool {
	return distuv.Binomial{N: float64(series), P: 0.05}.CDF(float64(alarms)-1) > 0.95
}

// TestFalseAlarms checks that changes are found in at most 5 % of the series without one, although each
// series is judged again after every value.
func TestFalseAlarms(t *testing.T) {
	if found, of := alarms(40, limit); tooMany(found, of) {
		t.Errorf("changes in %d of %d series without one", found, of)
	}
}

// TestFalseAlarmsAreSeen checks that TestFalseAlarms fails with a limit that is too high.
func TestFalseAlarmsAreSeen(t *testing.T) {
	if found, of := alarms(40, 0.05); !tooMany(found, of) {
		t.Errorf("changes in only %d of %d series", found, of)
	}
}

// TestSimulation writes the table of docs/history.md.
func TestSimulation(t *testing.T) {
	testenv.SkipIfRaced(t)
	testenv.SkipIfShort(t)
	const each = 500
	var b bytes.Buffer
	fmt.Fprintln(&b, "| 500 series of 60 values, noise 2 % | any change | the step found | within 2 places | within 5 values | a drift |")
	fmt.Fprintln(&b, "|---|--:|--:|--:|--:|--:|")
	for _, row := range []struct {
		name string
		trial
	}{
		{"no change", trial{}}, {"no change, ρ 0.3", trial{rho: 0.3}}, {"no change, ρ 0.5", trial{rho: 0.5}},
		{"no change, spikes", trial{spikes: true}}, {"no change, spikes, ρ 0.3", trial{rho: 0.3, spikes: true}}, {"no change, spikes, ρ 0.5", trial{rho: 0.5, spikes: true}},
		{"step of 3 %", trial{step: 0.03}}, {"step of 3 %, ρ 0.5", trial{step: 0.03, rho: 0.5}},
		{"step of 5 %", trial{step: 0.05}}, {"step of 5 %, ρ 0.3", trial{step: 0.05, rho: 0.3}}, {"step of 5 %, ρ 0.5", trial{step: 0.05, rho: 0.5}},
		{"step of 10 %", trial{step: 0.1}}, {"step of 10 %, ρ 0.5", trial{step: 0.1, rho: 0.5}},
		{"step of 20 %", trial{step: 0.2}}, {"step of 20 %, spikes, ρ 0.5", trial{step: 0.2, rho: 0.5, spikes: true}},
		{"drift of 10 %", trial{drift: 0.1}}, {"drift of 20 %", trial{drift: 0.2}}, {"drift of 20 %, ρ 0.5", trial{drift: 0.2, rho: 0.5}},
	} {
		n := row.tally(each, limit)
		step := "| – | – | – "
		if row.step > 0 {
			step = "| " + share(n.found) + " | " + share(n.placed) + " | " + share(n.prompt) + " "
		}
		fmt.Fprintf(&b, "| %s | %s %s| %s |\n", row.name, share(n.alarms), step, share(n.drifts))
		if row.step == 0 && row.drift == 0 && tooMany(n.alarms, each) {
			t.Errorf("%s: changes in %d of %d series", row.name, n.alarms, each)
		}
	}
	golden.Compare(t, "testdata/simulation.md", b.Bytes())
}

func share(n int) string { return fmt.Sprintf("%.1f %%", float64(n)/5) }

// TestPageHasTheTables checks that docs/history.md shows the tables that TestSimulation and TestBound hold
// against the code.
func TestPageHasTheTables(t *testing.T) {
	page, err := os.ReadFile("../../docs/history.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"testdata/simulation.md", "testdata/bound.md"} {
		table, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(page, table) {
			t.Errorf("docs/history.md does not have the table of %s", file)
		}
	}
}
