package outage

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// recovered returns a run of a form with a recovery from the fault after which clients returned.
func recovered(form, family, what string, told, reads int64) results.Run {
	return results.Run{Recipe: "lock", Form: form, Family: family, Clients: 8, Faults: &results.Breakage{
		Schedule: []string{"at=3s kill leader"},
		Recovery: []results.Recovery{{Break: results.Break{AtNS: 3 * time.Second, What: what}, Disconnected: 4,
			Totals: results.Totals{Notifications: told, Reads: reads}}},
	}}
}

// The headline is the herd of those that return: of the naive form that causes most, although each form lost another
// member. There is none if the recipe causes as much, or no client returned.
func TestHerd(t *testing.T) {
	calm := recovered("predecessor", "recipe", "kill member 1, the leader", 20, 60)
	poll := recovered("poll", "naive", "kill member 1, the leader", 0, 900)
	herd := recovered("one-node", "naive", "kill member 2, the leader", 1021, 1047)
	const want = "HERD: while clients return after \"kill the leader\", lock/one-node takes 1\u202f021 notifications and 1\u202f047 reads, predecessor 20 notifications and 60 reads."
	if got := Findings([]results.Run{calm, poll, herd}); len(got) != 4 || got[0] != want {
		t.Errorf("got  %q\nwant %q and a line for each run", got, want)
	}
	stayed := recovered("one-node", "naive", "kill member 2", 1021, 1047)
	stayed.Faults.Recovery[0].Disconnected = 0
	for name, runs := range map[string][]results.Run{
		"as many":            {calm, recovered("one-node", "naive", "kill member 1", 20, 61)},
		"no one to return":   {calm, stayed},
		"nothing to compare": {herd},
	} {
		if got := Findings(runs); len(got) != len(runs) {
			t.Errorf("%s: got %q, want a line for each run", name, got)
		}
	}
}

// TestWorst has a fault that hits fewer clients, and one that the other run does not have.
func TestWorst(t *testing.T) {
	few := recovered("predecessor", "recipe", "kill member 1", 1, 1)
	few.Clients = 2
	other := recovered("poll", "naive", "cut 8 of 8 clients", 1, 1)
	other.Faults.Schedule = []string{"at=3s cut clients=all"}
	pause := time.Second
	long := recovered("one-node", "naive", "kill member 2", 1, 1)
	long.Faults.Recovery[0].PauseNS = &pause
	if got := Worst([]results.Run{few, other, long}); len(got) != 1 || got[0].Run.Form != "one-node" {
		t.Errorf("got %+v, want that of one-node", got)
	}
	if got := Worst(nil); got != nil {
		t.Errorf("got %+v of no run", got)
	}
}

// A run that ended because its service was gone does not blame the fault before that.
func TestAServiceThatIsGoneIsNotTheFaultsDoing(t *testing.T) {
	r := recovered("predecessor", "recipe", "freeze client 2", 0, 0)
	pause := 30 * time.Second
	r.Faults.Recovery[0].PauseNS, r.Faults.Recovery[0].Effect = &pause, string(metrics.Outage)
	later := r.Faults.Recovery[0]
	later.AtNS += time.Minute
	const blamed = `lock/predecessor: after "freeze client 2" no client was served for 30.0 s, until the next fault or the end.`
	const gone = `lock/predecessor: after "freeze client 2" the service was gone, which this fault does not explain.`
	if got := All([]results.Run{r})[0].outage(); got != blamed {
		t.Errorf("got %q, want %q", got, blamed)
	}
	r.Doubts = []results.Warning{{Code: metrics.ServiceLost}}
	if got := All([]results.Run{r})[0].outage(); got != gone {
		t.Errorf("got %q, want %q", got, gone)
	}
	r.Faults.Recovery = append(r.Faults.Recovery, later)
	if all := All([]results.Run{r}); all[0].outage() != blamed || all[1].outage() != gone {
		t.Errorf("got %q and %q", all[0].outage(), all[1].outage())
	}
}

// A slowdown that the machine can explain is not the fault's.
func TestASlowdownMayBeTheMachines(t *testing.T) {
	r := recovered("predecessor", "recipe", "delay member 2", 0, 0)
	r.ThroughputPerS, r.Rounds, r.DurationNS, r.Faults.Recovery[0].Effect = 100, 500, 5*time.Second, string(metrics.Slowdown)
	const blamed = `lock/predecessor: after "delay member 2" there was no measurable outage, but fewer than half as many grants a second as before; no second until the next fault or the end saw nine tenths of what was done before.`
	const open = `lock/predecessor: after "delay member 2" there was no measurable outage; that fewer than half as many grants a second ended as before may not be the fault's doing: other programs.`
	if got := All([]results.Run{r})[0].outage(); got != blamed {
		t.Errorf("got %q, want %q", got, blamed)
	}
	r.Doubts = []results.Warning{{Code: metrics.Others, Text: "other programs", Numbers: map[string]float64{metrics.LostShare: 0.4}}}
	if got := All([]results.Run{r})[0].outage(); got != open {
		t.Errorf("got %q, want %q", got, open)
	}
}
