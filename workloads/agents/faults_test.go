package agents

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// withFaults returns a plan of the lock with faults.
func withFaults(t *testing.T, p workloads.Plan, texts ...string) workloads.Plan {
	t.Helper()
	for _, text := range texts {
		f, err := faults.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Faults = append(p.Faults, f)
	}
	return p
}

// whats returns the texts of breaks, in order.
func whats(all []metrics.Break) (texts []string) {
	for _, b := range all {
		texts = append(texts, b.What)
	}
	return texts
}

// TestFaultsOfClients injects faults into clients by number, of which each agent has some. All agents together do
// what one process does.
func TestFaultsOfClients(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStage(t, 3)
	p := planOf(t, service, "lock/predecessor", 6)
	p.Duration = 6 * time.Second
	p = withFaults(t, p, "at=1s cut client=1", "at=2s freeze client=6 for=1s", "at=4s expire clients=all")
	r, _ := s.measure(t, p)
	alone, err := workloads.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := whats(r.Breaks), whats(alone.Breaks); !slices.Equal(got, want) || len(got) != 4 {
		t.Errorf("the agents did %q, one process %q", got, want)
	}
	if len(r.Recoveries) != 3 {
		t.Fatalf("%d recoveries, want 3", len(r.Recoveries))
	}
	for i, v := range r.Recoveries {
		w := alone.Recoveries[i]
		if v.Disconnected != w.Disconnected || v.Lost != w.Lost {
			t.Errorf("%s: %d were disconnected and %d sessions lost, in one process %d and %d", v.What, v.Disconnected, v.Lost, w.Disconnected, w.Lost)
		}
	}
	if !showsFreeze(r.Recoveries[1].LongestStall, r.Recoveries[1]) { // of the client that freezes, in line or not
		t.Errorf("no stall in a run with a freeze of 1 s: %+v", r.Recoveries[1])
	}
	if r.Recoveries[2].Lost != 6 || r.Safety.Violations > 0 {
		t.Errorf("%d sessions were lost, want 6; safety %+v", r.Recoveries[2].Lost, r.Safety)
	}
	nothingLeft(t, service)
}

// showsFreeze reports whether the gap is that of a freeze of 1 s. None is found where gaps before it were as long as a machine makes
// them that is short of processor time: then 1 s is no more than chance.
func showsFreeze(found *time.Duration, r metrics.Recovery) bool {
	if found == nil {
		return r.Usual > 100*time.Millisecond
	}
	return *found >= 900*time.Millisecond
}

// TestFaultsOfTheHolder injects faults into the client that holds, which only its agent knows.
func TestFaultsOfTheHolder(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "native:")
	s := newStage(t, 3)
	p := planOf(t, service, "lock/predecessor", 6)
	p.Duration = 6 * time.Second
	p.Settings.Hold = 20 * time.Millisecond // so that it freezes while it holds, and not at the end of that
	p = withFaults(t, p, "at=1s freeze holder for=1s", "at=3s expire holder", "at=4s cut holder")
	r, _ := s.measure(t, p)
	got := whats(r.Breaks)
	for i, verb := range []string{"freeze", "thaw", "expire", "cut"} {
		if len(got) != 4 || !regexp.MustCompile("^"+verb+` client [1-6], the holder$`).MatchString(got[i]) {
			t.Fatalf("the agents did %q, want one %s as number %d", got, verb, i+1)
		}
	}
	if strings.TrimPrefix(got[0], "freeze ") != strings.TrimPrefix(got[1], "thaw ") {
		t.Errorf("the agents did %q, want that the frozen client is thawed", got)
	}
	if len(r.Recoveries) != 3 || r.Recoveries[1].Lost != 1 || r.Recoveries[2].Disconnected != 1 {
		t.Errorf("recoveries %+v, want one session lost and one disconnected", r.Recoveries)
	}
	if !showsFreeze(r.Recoveries[0].Pause, r.Recoveries[0]) { // nobody gets the lock
		t.Errorf("no outage with a holder that is frozen for 1 s: %+v", r.Recoveries[0])
	}
	if r.Safety.Violations > 0 {
		t.Errorf("safety %+v", r.Safety)
	}
	nothingLeft(t, service)
}

// TestRandomFaults draws faults of servers, clients and the holder.
func TestRandomFaults(t *testing.T) {
	testenv.SkipIfShort(t)
	service := backendtest.Own(t, "etcd:?servers=3")
	s := newStage(t, 2)
	p := planOf(t, service, "lock/predecessor", 6)
	p.Duration = 12 * time.Second
	for seed := uint64(1); ; seed++ { // the first that draws all of them
		p.Faults = p.Nemesis(seed, time.Second)
		servers, clients := p.Faults.Split()
		all := clients.String()
		if len(servers) > 1 && strings.Contains(all, "holder") && strings.Contains(all, "client=") && strings.Contains(all, "clients=") {
			break
		}
	}
	r, _ := s.measure(t, p)
	if len(r.Recoveries) != len(p.Faults) || r.Safety.Violations > 0 {
		t.Errorf("%d faults had an effect that was noted, of\n%s\nsafety %+v", len(r.Recoveries), p.Faults, r.Safety)
	}
	nothingLeft(t, service)
}
