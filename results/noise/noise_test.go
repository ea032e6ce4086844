package noise_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/noise"
)

func calibrated(cores, pairs int, settings ...string) results.Calibration {
	c := results.Calibration{Head: results.Head{Host: results.Host{Cores: float64(cores)}, Started: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}, Pairs: pairs}
	for _, s := range settings {
		c.Settings = append(c.Settings, results.Noise{Setting: s, Figures: []results.FigureNoise{{Figure: "rounds_per_s", Ratios: []float64{0.9, 1.1, 1.02, 0.97}}}})
	}
	return c
}

func keep(t *testing.T, f noise.File, all ...results.Calibration) {
	t.Helper()
	for _, c := range all {
		if err := f.Keep(c); err != nil {
			t.Fatal(err)
		}
	}
}

// A new calibration replaces the one of the same machine and setting, and no other.
func TestKeptIsFound(t *testing.T) {
	f := noise.File(filepath.Join(t.TempDir(), "of", "noise.json"))
	keep(t, f, calibrated(2, 20, "lock", "queue"), calibrated(4, 30, "lock"), calibrated(2, 40, "lock"))
	for _, c := range []struct {
		cores, pairs int
		setting      string
	}{{2, 40, "lock"}, {2, 20, "queue"}, {4, 30, "lock"}, {4, 0, "queue"}, {8, 0, "lock"}} {
		floor, known, err := f.Find(results.Host{Cores: float64(c.cores)}, c.setting)
		if err != nil || known != (c.pairs > 0) || floor.Pairs != c.pairs {
			t.Errorf("%s on %d cores: %d pairs, %v, %v; want %d", c.setting, c.cores, floor.Pairs, known, err, c.pairs)
		}
	}
}

// The newest ceiling of a client library is found on the machine where it was measured, and existing
// floors remain.
func TestCeilingsAreKept(t *testing.T) {
	f := noise.File(filepath.Join(t.TempDir(), "noise.json"))
	of := func(cores int, client string, perSecond float64) results.Calibration {
		return results.Calibration{Head: results.Head{Host: results.Host{Cores: float64(cores)}}, Ceilings: []results.Ceiling{{Client: client, RequestsPerS: perSecond}}}
	}
	keep(t, f, calibrated(2, 20, "lock"), of(2, "lean", 100), of(2, "go-zookeeper", 50), of(4, "lean", 200), of(2, "lean", 110))
	for _, c := range []struct {
		cores  int
		client string
		want   float64
	}{{2, "lean", 110}, {2, "go-zookeeper", 50}, {4, "lean", 200}, {4, "go-zookeeper", 0}, {8, "lean", 0}} {
		if got := f.Ceiling(results.Host{Cores: float64(c.cores)}, c.client); got != c.want {
			t.Errorf("%s on %d cores: %v, not %v", c.client, c.cores, got, c.want)
		}
	}
	if _, known, err := f.Find(results.Host{Cores: 2}, "lock"); !known || err != nil {
		t.Errorf("the floor is gone: %v", err)
	}
}

func TestNothingIsKnownAtFirst(t *testing.T) {
	f := noise.File(filepath.Join(t.TempDir(), "noise.json"))
	if _, known, err := f.Find(results.Host{}, "lock"); known || err != nil {
		t.Errorf("%v, %v", known, err)
	}
}

func TestFileOfSomethingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "noise.json")
	const want = ": not a file of this stampede's calibrate: remove it, or name another with --noise"
	for _, text := range []string{"{}", "hello", `{"schema": 3}`, `{"schema": 99}`,
		fmt.Sprintf(`{"schema": %d, "runs": []}`, results.Schema)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := noise.File(path).Find(results.Host{}, "lock")
		if err == nil || err.Error() != path+want {
			t.Errorf("%s: %v", text, err)
		}
		if err := noise.File(path).Keep(calibrated(2, 20, "lock")); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: kept there: %v", text, err)
		}
		if left, _ := os.ReadFile(path); string(left) != text {
			t.Errorf("%s was overwritten", text)
		}
	}
}

func TestShare(t *testing.T) {
	f := noise.File(filepath.Join(t.TempDir(), "noise.json"))
	keep(t, f, calibrated(2, 20, "lock"))
	floor, _, _ := f.Find(results.Host{Cores: 2}, "lock")
	ten, forty := floor.Share("rounds_per_s", 10), floor.Share("rounds_per_s", 40)
	if !(0 < forty && forty < ten && ten < 0.11) {
		t.Errorf("%v of 10 pairs, %v of 40", ten, forty)
	}
	if got := floor.Share("errors", 10); got != 0 {
		t.Errorf("%v of a figure that is not known", got)
	}
	if got := noise.Share([]float64{0, 0, 0}, 10); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("%v, which JSON has no word for", got)
	}
}

// The floors of a machine are separate from those of others, and the noise of a pair is a difference that
// few pairs exceed in either direction.
func TestFloorsOfAMachine(t *testing.T) {
	f := noise.File(filepath.Join(t.TempDir(), "noise.json"))
	keep(t, f, calibrated(2, 20, "lock", "queue"), calibrated(4, 30, "lock"))
	floors, err := f.FloorsOf(results.Host{Cores: 2})
	if err != nil || len(floors) != 2 || floors[0].Setting != "lock" || floors[1].Setting != "queue" {
		t.Errorf("%+v, %v", floors, err)
	}
	if got := noise.OfPair([]float64{1, 1.1, 0.8}); math.Abs(got-0.25) > 1e-9 {
		t.Errorf("noise %v, want that of the pair that differs most, 0.25", got)
	}
}

func TestSamplesOfTheSame(t *testing.T) {
	one := results.Run{Recipe: "lock", Form: "predecessor", Clients: 8, Settings: map[string]string{"duration": "1s", "in-flight": "1"}}.Sample()
	for _, c := range []struct {
		change func(*results.Sample)
		want   bool
	}{
		{func(*results.Sample) {}, true},
		{func(s *results.Sample) { s.DurationNS = 1050 * time.Millisecond }, true}, // a window ends with a round
		{func(s *results.Sample) { s.Settings = map[string]string{"duration": "2s", "in-flight": "1"} }, false},
		{func(s *results.Sample) { s.Settings = map[string]string{"duration": "1s", "in-flight": "4"} }, false},
		{func(s *results.Sample) { s.Clients = 9 }, false},
		{func(s *results.Sample) { s.Form = "one-node" }, false},
	} {
		other := one
		c.change(&other)
		if one.Like(other) != c.want || other.Like(one) != c.want {
			t.Errorf("%+v like %+v: want %v", one, other, c.want)
		}
	}
}
