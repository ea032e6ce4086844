package incident_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/incident"
)

// TestFindings checks what is said for each pair of verdicts.
func TestFindings(t *testing.T) {
	const reported = "Reported: all of them. https://example.org/1"
	gate := func(scenario, text string, measured float64, v results.Verdict) results.Gate {
		return results.Gate{Scenario: scenario, Text: text, Measured: &measured, Verdict: v, Why: "the machine was busy"}
	}
	symptom := func(measured float64, v results.Verdict) results.Gate {
		return gate(results.SymptomScenario, "fanout.max >= 16", measured, v)
	}
	fixed := func(measured float64, v results.Verdict) results.Gate {
		return gate(results.FixedScenario, "fanout.max < 16", measured, v)
	}
	for name, c := range map[string]struct {
		gates []results.Gate
		want  []string
	}{
		"shows": {[]results.Gate{symptom(31, results.Pass), fixed(1, results.Pass)},
			[]string{"The symptom shows: a release wakes 31 clients. In the fixed form: 1; each watches one node.", reported}},
		"does not show": {[]results.Gate{symptom(1, results.Fail), fixed(1, results.Pass)},
			[]string{"The symptom does not show: a release wakes 1 clients.", "In the fixed form: 1.", reported}},
		"fixed shows it": {[]results.Gate{symptom(31, results.Pass), fixed(31, results.Fail)},
			[]string{"The fixed form shows it too: a release wakes 31 clients.", reported}},
		"neither as expected": {[]results.Gate{symptom(1, results.Fail), fixed(31, results.Fail)},
			[]string{"The symptom does not show: a release wakes 1 clients.", "The fixed form shows it too: a release wakes 31 clients.", reported}},
		"undecided": {[]results.Gate{symptom(31, results.Invalid), fixed(1, results.Invalid)},
			[]string{"Whether the symptom shows is not decided: the machine was busy.",
				"Whether the fixed form avoids it is not decided: the machine was busy.", reported}},
		"the worst of several runs": {[]results.Gate{symptom(31, results.Pass), symptom(2, results.Fail), fixed(1, results.Pass)},
			[]string{"The symptom does not show: a release wakes 2 clients.", "In the fixed form: 1.", reported}},
		"further thresholds": {[]results.Gate{symptom(31, results.Pass), fixed(1, results.Pass), gate(results.SymptomScenario, "errors == 0", 3, results.Fail)},
			[]string{"The symptom shows: a release wakes 31 clients. In the fixed form: 1; each watches one node.", reported}},
		"not judged": {nil, nil},
	} {
		f := results.File{Gates: c.gates}
		f.Incident = &results.Incident{Source: "https://example.org/1", Reported: "all of them", Symptom: "fanout.max >= 16",
			Shows: "a release wakes {} clients", Fixed: "each watches one node"}
		if diff := cmp.Diff(c.want, incident.Findings(f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAViolationAsTheSymptom checks that an incident whose symptom is a safety violation is told like any other.
func TestAViolationAsTheSymptom(t *testing.T) {
	three, none := 3.0, 0.0
	unsafe := results.Run{}
	unsafe.Safety.Violations = 3
	f := results.File{Runs: []results.Run{unsafe, {}}, Gates: []results.Gate{
		{Scenario: results.SymptomScenario, Figure: figure.Violations, Measured: &three, Verdict: results.Pass},
		{Scenario: results.FixedScenario, Figure: figure.Violations, Measured: &none, Verdict: results.Pass}}}
	f.Incident = &results.Incident{Source: "https://example.org/1", Reported: "all of them", Shows: "broken promises: {}", Fixed: "no relay"}
	want := []string{"The symptom shows: broken promises: 3. In the fixed form: 0; no relay.", "Reported: all of them. https://example.org/1"}
	if diff := cmp.Diff(want, incident.Findings(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNoFindings checks that nothing is said of a file without an incident, nor where safety was violated.
func TestNoFindings(t *testing.T) {
	one := 1.0
	gates := []results.Gate{{Scenario: results.SymptomScenario, Measured: &one, Verdict: results.Pass},
		{Scenario: results.FixedScenario, Measured: &one, Verdict: results.Pass}}
	unsafe := results.Run{}
	unsafe.Safety.Violations = 1
	for name, f := range map[string]results.File{
		"no incident": {Gates: gates},
		"unsafe":      {Gates: gates, Incident: &results.Incident{}, Runs: []results.Run{unsafe}},
	} {
		if lines := incident.Findings(f); lines != nil {
			t.Errorf("%s: %q", name, lines)
		}
	}
}
