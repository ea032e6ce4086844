package gate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/gate"
)

// rows returns the runs that stampede run lock barrier --clients 2,32 would do.
func rows() (all []gate.Row) {
	for _, clients := range []int{2, 32} {
		for _, form := range []gate.Row{
			{Recipe: "lock", Form: "predecessor", Family: "recipe", Phases: []string{"acquire", "handoff", "release"}},
			{Recipe: "lock", Form: "one-node", Family: "naive", Phases: []string{"acquire", "handoff", "release"}},
			{Recipe: "barrier", Form: "watch", Family: "recipe", Phases: []string{"open", "pass"}},
			{Recipe: "barrier", Form: "poll", Family: "naive", Phases: []string{"open", "pass"}},
		} {
			form.URL, form.Clients = "native:", clients
			all = append(all, form)
		}
	}
	return all
}

func TestParse(t *testing.T) {
	const value, run, baseline = "value", "run", "baseline"
	for text, of := range map[string]string{
		"acquire.p99<50ms": value, "*.safety.violations==0": value, "lock.notifications_per_round <= 1.05": value,
		"predecessor.handoff.service.p50 < 5 ms": value, "lock/predecessor@32.handoff.p99<5ms": value, "naive.wasted>50%": value,
		"naive@32.wasted > 0.5": value, "rounds_per_s >= 100/s": value, "*@2.pass.p50<1s": value,
		"predecessor.handoff.p99 < 0.5 * one-node.handoff.p99": run, "lock/predecessor.handoff.p99 < one-node.handoff.p90": run,
		"recipe.rounds_per_s > 0.9 * naive.rounds_per_s": run, "acquire.response.p99 < 2 * acquire.service.p99": run,
		"predecessor@32.handoff.p99 < 2 * predecessor@2.handoff.p99": run,
		"handoff.p99 <= 1.2 * baseline":                              baseline, "handoff.p99<=baseline": baseline,
	} {
		got, err := gate.Parse(text, "", rows())
		if err != nil || got.Text != text || got.IsAbsolute() != (of == value) || got.NeedsBaseline() != (of == baseline) {
			t.Errorf("%s: absolute %v, needs the baseline %v, %v", text, got.IsAbsolute(), got.NeedsBaseline(), err)
		}
	}
}

// TestParseSaysWhatIsWrong checks that typing errors, and thresholds that apply to no run, are
// reported before anything runs.
func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"acquire.p99":                        `"acquire.p99": want METRIC < LIMIT, or another of <= > >= ==, such as acquire.p99<50ms`,
		"aquire.p99<5ms":                     `"aquire.p99<5ms": unknown metric "aquire.p99": did you mean "acquire.p99"?`,
		"lok.acquire.p99<5ms":                `"lok.acquire.p99<5ms": unknown run "lok": did you mean "lock"?`,
		"lock/predecesor.acquire.p99<5ms":    `"lock/predecesor.acquire.p99<5ms": unknown run "lock/predecesor": did you mean "lock/predecessor"?`,
		"lock.pass.p99<5ms":                  `"lock.pass.p99<5ms": unknown metric "pass.p99": stampede help thresholds shows which there are`,
		"lock.acquire.p95<5ms":               `"lock.acquire.p95<5ms": unknown metric "acquire.p95": did you mean "acquire.p90"?`,
		"lock.notifcations_per_round<=1":     `"lock.notifcations_per_round<=1": unknown metric "notifcations_per_round": did you mean "notifications_per_round"?`,
		"queue.put.p99<5ms":                  `"queue.put.p99<5ms": unknown metric "queue.put.p99": stampede help thresholds shows which there are`,
		"queue.rounds_per_s>5":               `"queue.rounds_per_s>5": unknown run "queue": there is *, lock, predecessor, lock/predecessor, recipe, one-node, lock/one-node, naive, barrier, watch, barrier/watch, poll, barrier/poll`,
		"lock@64.acquire.p99<5ms":            `"lock@64.acquire.p99<5ms": no run of lock has 64 clients: there is 2, 32`,
		"lock@many.acquire.p99<5ms":          `"lock@many.acquire.p99<5ms": "lock@many": want a number of clients behind @, such as lock@32`,
		"@32.acquire.p99<5ms":                `"@32.acquire.p99<5ms": "@32": want a number of clients behind @, such as lock@32`,
		"acquire.p99<5":                      `"acquire.p99<5": acquire.response.p99 "5": want a duration such as 50ms`,
		"acquire.p99<1.2*basline":            `"acquire.p99<1.2*basline": unknown operand "basline": did you mean "baseline"?`,
		"acquire.p99<fast*baseline":          `"acquire.p99<fast*baseline": "fast" is no factor: want NUMBER * METRIC, or NUMBER * baseline`,
		"acquire.p99<-1*baseline":            `"acquire.p99<-1*baseline": "-1" is no factor: want NUMBER * METRIC, or NUMBER * baseline`,
		"acquire.p99<2*one-nod.acquire.p99":  `"acquire.p99<2*one-nod.acquire.p99": unknown run "one-nod": did you mean "one-node"?`,
		"acquire.p99<one-node.rounds_per_s":  `"acquire.p99<one-node.rounds_per_s": acquire.response.p99 and rounds_per_s are of different kinds and have no ratio`,
		"lock.rounds_per_s>watch.rounds":     `"lock.rounds_per_s>watch.rounds": rounds_per_s and rounds are of different kinds and have no ratio`,
		"rounds_per_s>0.5*lock.rounds_per_s": `"rounds_per_s>0.5*lock.rounds_per_s": beside lock/predecessor, 2 clients, native: there are 2 runs of lock: name one, as RECIPE/FORM@CLIENTS`,
		"generator.skipped<1":                `"generator.skipped<1": runs have generator.skipped only with arrivals at a rate, as with --rate`,
		"lock.missed<1%":                     `"lock.missed<1%": runs have missed only with the recipe fanout`,
		"rounds_per_s>2*rate.offered":        `"rounds_per_s>2*rate.offered": runs have rate.offered only with arrivals at a rate, as with --rate`,
		"barrier.pass.p99<one-node.wasted":   `"barrier.pass.p99<one-node.wasted": pass.response.p99 and wasted are of different kinds and have no ratio`,
	} {
		if _, err := gate.Parse(text, "", rows()); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestParseInAScenario checks that a scenario's threshold applies to its own runs.
func TestParseInAScenario(t *testing.T) {
	all := rows()
	for i := range all {
		all[i].Scenario = all[i].Recipe + "s"
	}
	if _, err := gate.Parse("acquire.p99<5ms", "locks", all); err != nil {
		t.Error(err)
	}
	if _, err := gate.Parse("acquire.p99<5ms", "barriers", all); err == nil {
		t.Error("a figure of another scenario is taken")
	}
	// A run has partners only within its scenario.
	if _, err := gate.Parse("watch.rounds_per_s > predecessor.rounds_per_s", "", all); err == nil || !strings.Contains(err.Error(), "beside barriers: barrier/watch, 2 clients, native: there is no run of predecessor") {
		t.Errorf("error %v", err)
	}
}

func TestOpposite(t *testing.T) {
	for text, want := range map[string]string{
		"acquire.p99 > 1s": "acquire.p99 <= 1s", "errors>=10": "errors < 10", "rounds_per_s<5/s": "rounds_per_s >= 5/s", "wasted <= 10%": "wasted > 10%",
	} {
		th, err := gate.Parse(text, "", rows())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := th.Opposite(); err != nil || got.Text != want {
			t.Errorf("the opposite of %s is %s, %v", text, got.Text, err)
		}
	}
	th, err := gate.Parse("errors==0", "", rows())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := th.Opposite(); !errors.Is(err, gate.ErrNoOpposite) || err.Error() != `"errors==0" has no opposite: want < <= > or >=` {
		t.Errorf("error %v", err)
	}
}

// FuzzParse checks that Judge returns gates and a verdict for any threshold that Parse accepts.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"lock/predecessor@32.handoff.p99 < 0.5 * one-node.handoff.p99", "*.safety.violations==0", "acquire.p99<=1.2*baseline", "wasted<99%", "a.b.c<=>", "lock@.x<1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		th, err := gate.Parse(text, "", rows())
		if err != nil {
			return
		}
		runs := []results.Run{herding("predecessor", 32)}
		if gates, v := gate.Judge(results.File{Runs: runs}, []gate.Threshold{th}, &results.File{}); len(gates) == 0 || v == "" {
			t.Errorf("%q is judged as %v, %q", text, gates, v)
		}
	})
}

func TestRowsOfRuns(t *testing.T) {
	got := gate.Rows([]results.Run{herding("predecessor", 1), herding("one-node", 1234)})
	names := []string{got[0].String(), got[1].String()}
	want := []string{"lock/predecessor, 1 client, native:", "lock/one-node, 1 234 clients, native:"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}
