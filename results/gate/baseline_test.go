package gate_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
)

const (
	timed   = "predecessor.handoff.p99 <= 1.2 * baseline"
	counted = "predecessor.whole.notifications_per_round <= 1.05 * baseline"
)

// askedInTheURL lets the URL say what a flag said.
func askedInTheURL(f *results.File) { f.Runs[0].Backend.URL = "native:?session-timeout=10s" }

func TestAgainstABaseline(t *testing.T) {
	slower := func(f *results.File) { *f.Runs[0].Latency["handoff"].Response.P99 /= 2 } // the baseline was faster
	for name, c := range map[string]struct {
		text    string
		change  func(base *results.File)
		verdict results.Verdict
		why     string
	}{
		"the same":                {timed, func(*results.File) {}, results.Pass, ""},
		"slower":                  {timed, slower, results.Regression, ""},
		"more notifications":      {counted, func(f *results.File) { f.Runs[0].Cost.Whole.Notifications = 900 }, results.Regression, ""},
		"no such run":             {timed, func(f *results.File) { f.Runs[0].Clients = 8 }, results.Inconclusive, "the baseline has no such run"},
		"too few in the baseline": {timed, func(f *results.File) { f.Runs[0].Latency["handoff"].Response.P99 = nil }, results.Inconclusive, "in the baseline: too few observations"},
		"another processor":       {timed, func(f *results.File) { f.Host.CPU = "other" }, results.Invalid, "another machine: 2 × some, linux, the baseline's is 2 × other, linux"},
		"another kernel":          {timed, func(f *results.File) { f.Host.Kernel = "6.2" }, results.Pass, ""},
		"counts on another":       {counted, func(f *results.File) { f.Host.Cores = 64 }, results.Pass, ""},
		"another hold":            {timed, func(f *results.File) { f.Runs[0].Settings = map[string]string{"hold": "0s", "background": ""} }, results.Invalid, "hold is 1ms, in the baseline 0s"},
		"another durability":      {timed, func(f *results.File) { f.Runs[0].Backend.Durability = "fsync" }, results.Invalid, "durability is memory, in the baseline fsync"},
		"the same by a URL":       {timed, askedInTheURL, results.Pass, ""},
		"encrypted": {timed, func(f *results.File) { f.Runs[0].Backend.URL, f.Runs[0].Backend.TLS = "native:?tls=true", true },
			results.Invalid, "TLS is none, in the baseline yes"},
		"sessions on the leader": {timed, func(f *results.File) { f.Runs[0].Backend.Servers, f.Runs[0].Backend.SessionsOn = 3, "leader" },
			results.Invalid, "sessions only on is none, in the baseline leader"},
		"a background":             {timed, func(f *results.File) { f.Runs[0].Settings = map[string]string{"hold": "1ms", "background": "1 client"} }, results.Invalid, "background is none, in the baseline 1 client"},
		"counts with another hold": {counted, func(f *results.File) { f.Runs[0].Settings = map[string]string{"hold": "0s", "background": ""} }, results.Pass, ""},
		"doubtful":                 {timed, func(f *results.File) { f.Runs[0].Doubts = []results.Warning{{Code: "cpu-stolen", Text: "why"}} }, results.Invalid, "in the baseline: why"},
		"void":                     {counted, func(f *results.File) { f.Runs[0].Safety.Violations = 1 }, results.Invalid, "in the baseline the form violated safety"},
	} {
		t.Run(name, func(t *testing.T) {
			base := file(herding("predecessor", 32))
			c.change(&base)
			lines, v := judged(t, c.text, file(herding("predecessor", 32)), &base)
			if v != c.verdict || len(lines) != 1 || !strings.HasSuffix(lines[0], strings.TrimSuffix(": "+string(c.verdict)+": "+c.why, ": ")) {
				t.Errorf("%s, %q; want %s: %s", v, lines, c.verdict, c.why)
			}
		})
	}
}

// TestTheLikestRunOfABaseline checks that two services of one kind are distinguished by their
// addresses, and that the run with the same address is preferred.
func TestTheLikestRunOfABaseline(t *testing.T) {
	given := herding("predecessor", 32)
	given.Backend.Started, given.Backend.URL = "", "zookeeper://here"
	elsewhere := given
	elsewhere.Backend.URL = "zookeeper://there"
	elsewhere.Cost.Whole.Notifications = 1
	base := file(elsewhere, given)
	if lines, v := judged(t, timed, file(given), &base); v != results.Pass {
		t.Errorf("%s, %q", v, lines)
	}
	base = file(elsewhere)
	if lines, v := judged(t, timed, file(given), &base); v != results.Invalid || !strings.HasSuffix(lines[0], "another service: the baseline's is zookeeper://there") {
		t.Errorf("%s, %q", v, lines)
	}
}

// TestDefaults checks that the default thresholds cover what is in the baseline, except naive
// forms.
func TestDefaults(t *testing.T) {
	f := file(herding("predecessor", 2), herding("one-node", 2), herding("predecessor", 32))
	base := file(herding("predecessor", 2), herding("one-node", 2))
	var texts []string
	defaults := gate.Defaults(gate.Rows(f.Runs), base)
	for _, th := range defaults {
		texts = append(texts, th.Text)
	}
	want := []string{
		"lock/predecessor@2.whole.notifications_per_round <= 1.5 * baseline",
		"lock/predecessor@2.whole.reads_per_round <= 1.25 * baseline",
		"lock/predecessor@2.whole.writes_per_round <= 1.25 * baseline",
		"lock/predecessor@2.rounds_per_s >= 0.6 * baseline",
		"lock/predecessor@2.acquire.response.p50 <= 2 * baseline",
		"lock/predecessor@2.handoff.response.p99 <= 2 * baseline",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if gates, v := gate.Judge(f, defaults, &base); v != results.Pass || len(gates) != len(want) {
		t.Errorf("%s of %d gates", v, len(gates))
	}
	base.Runs[0].ThroughputPerS *= 2
	if _, v := gate.Judge(f, defaults, &base); v != results.Regression {
		t.Errorf("half as fast as the baseline is %s", v)
	}
	base.Runs[0].DurationNS = 100 * time.Millisecond
	base.Runs[0].Cost.Whole.Notifications = 0
	if left := gate.Defaults(gate.Rows(f.Runs), base); len(left) != 2 || left[0].Text != want[1] || left[1].Text != want[2] {
		t.Errorf("of a short run without notifications: %+v", left)
	}
}

// TestDefaultsOfNaiveForms checks that a naive form is judged where no other form of its recipe is measured, and against
// itself passes.
func TestDefaultsOfNaiveForms(t *testing.T) {
	f := file(herding("one-node", 4))
	for _, base := range []results.File{f, file(herding("predecessor", 4), herding("one-node", 4))} {
		all := gate.Defaults(gate.Rows(f.Runs), base)
		if gates, v := gate.Judge(f, all, &base); len(all) == 0 || v != results.Pass || len(gates) != len(all) {
			t.Errorf("%d thresholds, %s", len(all), v)
		}
	}
	both := file(herding("predecessor", 4), herding("one-node", 4))
	for _, th := range gate.Defaults(gate.Rows(both.Runs), both) {
		if strings.Contains(th.Text, "one-node") {
			t.Errorf("beside another form: %s", th.Text)
		}
	}
}

// TestDefaultsOfAnotherBackend checks that a baseline without such a run gives no thresholds, whether the number of
// clients or the backend differs; another address of the same kind is such a run.
func TestDefaultsOfAnotherBackend(t *testing.T) {
	f := file(herding("predecessor", 2))
	for name, c := range map[string]struct {
		change func(r *results.Run)
		some   bool
	}{
		"the same":        {func(*results.Run) {}, true},
		"another URL":     {func(r *results.Run) { r.Backend.URL = "native://there?consistency=sync" }, true},
		"other clients":   {func(r *results.Run) { r.Clients = 3 }, false},
		"another backend": {func(r *results.Run) { r.Backend.Name, r.Backend.URL = "etcd", "etcd:" }, false},
	} {
		base := file(herding("predecessor", 2))
		c.change(&base.Runs[0])
		if all := gate.Defaults(gate.Rows(f.Runs), base); (len(all) > 0) != c.some {
			t.Errorf("%s: %d thresholds", name, len(all))
		}
	}
}

// TestDefaultsFindAHerd checks that one more notification per round, the smallest herd, is not
// attributed to chance.
func TestDefaultsFindAHerd(t *testing.T) {
	f, base := file(herding("predecessor", 32)), file(herding("predecessor", 32))
	f.Runs[0].Cost.Whole.Notifications *= 2
	gates, v := gate.Judge(f, gate.Defaults(gate.Rows(f.Runs), base), &base)
	if v != results.Regression || gates[0].Verdict != results.Regression {
		t.Errorf("%s: %+v", v, gates)
	}
}

// TestMissing checks that there is an invalid gate for each run and for each phase that only the baseline has, and for
// each figure that only its run has: what was not measured has not passed.
func TestMissing(t *testing.T) {
	base := file(herding("predecessor", 4), herding("predecessor", 8), herding("one-node", 4), herding("predecessor", 4), herding("predecessor", 8))
	base.Runs[2].Scenario = "night"
	base.Runs[3].Backend.URL, base.Runs[3].Backend.Name = "etcd:", "etcd"
	base.Runs[4].Repetition = 2
	f := file(herding("predecessor", 4))
	f.Runs[0].Phases = []string{"acquire"}
	var got []string
	for _, g := range gate.Missing(f.Runs, base) {
		if g.Verdict != results.Invalid || g.Run != -1 || g.Measured != nil {
			t.Errorf("%+v", g)
		}
		got = append(got, g.Scenario+" "+g.Text+" "+g.Subject)
	}
	want := []string{
		" lock/predecessor@4.handoff: as in the baseline lock/predecessor, 4 clients, native:",
		" lock/predecessor@8: as in the baseline lock/predecessor, 8 clients, native:",
		"night lock/one-node@4: as in the baseline night: lock/one-node, 4 clients, native:",
		" lock/predecessor@4: as in the baseline lock/predecessor, 4 clients, etcd:",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if gates := gate.Missing(base.Runs, base); len(gates) > 0 {
		t.Errorf("of the baseline itself: %+v", gates)
	}
	f = file(herding("predecessor", 8))
	f.Runs[0].Cost.WholeRounds = 0
	f.Runs[0].Latency = map[string]results.Latency{}
	if gates, v := gate.Judge(f, gate.Defaults(gate.Rows(f.Runs), base), &base); v != results.Invalid || len(gates) != 6 {
		t.Errorf("without figures that the baseline has: %s, %+v", v, gates)
	}
}

// TestBaseline checks that a baseline has every figure of its file, is much smaller, and is
// deterministic.
func TestBaseline(t *testing.T) {
	r := herding("predecessor", 32)
	r.Herd.Timeline = &results.Timeline{Notifications: make([]float64, 100)}
	r.Intervals = make([]results.Interval, 100)
	r.Background = &results.Background{Latency: map[string]results.Latency{"read": {Response: &results.Distribution{Max: 7, HDR: "HISTFAAA"}}}}
	f := file(r)
	f.Kind, f.Started = results.KindRun, time.Unix(1, 0).UTC()
	f.Gates, f.Verdict = []results.Gate{{Text: "errors==0"}}, results.Pass
	text := func(f results.File) string {
		var b bytes.Buffer
		if err := results.WriteJSON(&b, f); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := text(f)
	base := gate.Baseline(f)
	if text(f) != before {
		t.Error("the file itself was made lean")
	}
	if text(base) != text(gate.Baseline(f)) || text(base) != text(gate.Baseline(base)) {
		t.Error("not always the same")
	}
	if got := text(base); strings.Contains(got, "HISTF") || strings.Contains(got, "errors==0") || 4*len(got) > len(before) {
		t.Errorf("%d bytes of %d: %s", len(got), len(before), got)
	}
	gates := gate.Defaults(gate.Rows(f.Runs), base)
	if _, v := gate.Judge(f, gates, &base); v != results.Pass || len(gates) == 0 {
		t.Errorf("a file against its own baseline: %s", v)
	}
}
