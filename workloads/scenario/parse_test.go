package scenario_test

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/scenario"
)

// keys returns example keys.
func keys() []scenario.Key {
	anything := func(string) error { return nil }
	return []scenario.Key{
		{Name: "recipe", List: true, Check: func(v string) error {
			if v != "lock" && v != "queue" {
				return fmt.Errorf("unknown recipe %q: did you mean %q?", v, "lock")
			}
			return nil
		}},
		{Name: "form", List: true, Check: anything},
		{Name: "backend", List: true, Check: anything},
		{Name: "clients", List: true, Check: func(v string) error {
			if _, err := strconv.Atoi(v); err != nil {
				return fmt.Errorf("clients %s: not a number", v)
			}
			return nil
		}},
		{Name: "hold", Check: func(v string) error {
			_, err := time.ParseDuration(v)
			return err
		}},
		{Name: "rounds", Instead: "duration", Check: anything},
		{Name: "duration", Instead: "rounds", Check: anything},
	}
}

func TestParse(t *testing.T) {
	got, err := scenario.Parse("paper.yaml", []byte(`# a comment
version: 1
about: what it is for
seed: 42
clients: [2, 8]
rounds: 100
backend:
  - native:
  - zookeeper://zk1:2181/bench
scenarios:
  inherits:
    recipe: lock
  replaces:
    recipe: [lock, queue]
    clients: 4
    duration: 1s
    thresholds:
      - put.p99<5ms
      - queue.wasted < 0.5 * lock.wasted
reference:
  source: the paper
  figure: rounds/s
  across: scenarios
  columns: [inherits, replaces]
  rows:
    three servers: [776, 2.5e3]
  differs:
    - the year
thresholds: "*.safety.violations == 0"
`), keys())
	if err != nil {
		t.Fatal(err)
	}
	set := func(line int, key string, values ...string) scenario.Setting {
		return scenario.Setting{Key: key, Values: values, Line: line}
	}
	shared := func(line int, key string, values ...string) scenario.Setting {
		return scenario.Setting{Key: key, Values: values, Line: line, Shared: true}
	}
	backend := shared(7, "backend", "native:", "zookeeper://zk1:2181/bench")
	want := scenario.File{Name: "paper.yaml", About: "what it is for", Seed: "42",
		Scenarios: []scenario.Scenario{
			{Name: "inherits", Line: 11, Settings: []scenario.Setting{
				set(12, "recipe", "lock"), shared(5, "clients", "2", "8"), shared(6, "rounds", "100"), backend}},
			{Name: "replaces", Line: 13, Settings: []scenario.Setting{
				set(14, "recipe", "lock", "queue"), set(15, "clients", "4"), set(16, "duration", "1s"), backend},
				Thresholds: []scenario.ThresholdText{{Text: "put.p99<5ms", Line: 18}, {Text: "queue.wasted < 0.5 * lock.wasted", Line: 19}}},
		},
		Thresholds: []scenario.ThresholdText{{Text: "*.safety.violations == 0", Line: 29}},
		Reference: &results.Reference{Source: "the paper", Figure: results.RoundsPerS, Across: results.AcrossScenarios,
			Columns: []string{"inherits", "replaces"},
			Rows:    []results.ReferenceRow{{Label: "three servers", Figures: []float64{776, 2500}}},
			Differs: []string{"the year"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestScenarioKnowsItsLines(t *testing.T) {
	s := scenario.Scenario{Name: "some", Line: 3, Settings: []scenario.Setting{
		{Key: "hold", Values: []string{"1ms"}, Line: 4}, {Key: "clients", Values: []string{"2", "8"}, Line: 5},
	}}
	without := s.WithoutKey("hold")
	if got := []int{s.LineOf("hold"), s.LineOf("clients"), s.LineOf("form"), without.LineOf("hold")}; !cmp.Equal(got, []int{4, 5, 3, 3}) {
		t.Errorf("lines %v", got)
	}
	if v := s.Values("hold"); !cmp.Equal(v, []string{"1ms"}) || without.Values("hold") != nil || len(without.Values("clients")) != 2 {
		t.Errorf("hold is %v with, %v without it", v, without.Values("hold"))
	}
}

// FuzzParse checks that any file is either parsed or rejected with a line number.
func FuzzParse(f *testing.F) {
	f.Add(string(scenario.Template()))
	for _, name := range scenario.Names() {
		text, _ := scenario.Shipped(name)
		f.Add(string(text))
	}
	for _, text := range []string{"", "---\n", "a: &a [*a]", "version: 1\n<<: {a: b}", "version: 1\nscenarios: {a: {? {b: c} : d}}", "\x00", "%YAML 9",
		"version: 1\nseed: \"1\\n0\"", "version: 1\nscenarios: {a: {clients: \"1\\r\\n0\"}}"} {
		f.Add(text)
	}
	line := regexp.MustCompile(`^f\.yaml:(\d+: .|  ?and \d+ more$| and \d+ more$)`)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := scenario.Parse("f.yaml", []byte(text), keys())
		if err == nil {
			if len(file.Scenarios) == 0 {
				t.Error("read without a fault, and without a scenario")
			}
			return
		}
		var faults *scenario.Faults
		if !errors.As(err, &faults) {
			t.Fatalf("error %v", err)
		}
		for l := range strings.SplitSeq(err.Error(), "\n") {
			if !line.MatchString(l) {
				t.Errorf("a line %q", l)
			}
		}
	})
}
