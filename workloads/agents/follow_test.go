package agents

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// TestSecondsAreMergedAsHistograms splits times among two agents, whose laps end at different moments, and
// compares each merged second with one that recorded all times of that second.
func TestSecondsAreMergedAsHistograms(t *testing.T) {
	const seconds = 3
	var writers [2]stateWriter
	f := newFollower("acquire")
	var want []metrics.Lap
	for n := range seconds {
		all := metrics.NewLatency("acquire")
		for quarter := range 4 {
			for i := range writers {
				part := metrics.NewLatency("acquire")
				for k := range 200 {
					d := time.Duration(1+i*k*k+1000*n) * time.Microsecond
					part.Record(d, d)
					all.Record(d, d)
				}
				late := time.Duration(i) * 10 * time.Millisecond // timers fire late
				end := time.Duration(n)*time.Second + time.Duration(quarter+1)*250*time.Millisecond + late
				writers[i].add(workloads.Progress{Elapsed: end, Rounds: int64(200 * (n*4 + quarter + 1)), Errors: int64(i), Lap: part.Lap()})
			}
		}
		want = append(want, all.Lap())
	}
	for i, name := range []string{"a", "b"} {
		s, fresh := writers[i].latest()
		if !fresh {
			t.Errorf("agent %s has told nothing", name)
		}
		f.states[name] = s
	}
	got := f.merge(seconds*time.Second, []string{"a", "b"})
	if len(got) != seconds {
		t.Fatalf("%d seconds, want %d", len(got), seconds)
	}
	for n, p := range got {
		if p.Rounds != 2*200*4*seconds || p.Errors != 1 {
			t.Errorf("%d rounds and %d errors, want %d and 1", p.Rounds, p.Errors, 2*200*4*seconds)
		}
		l, w := p.Lap, want[n]
		if l.Phase != w.Phase || l.Count != w.Count || l.P50 != w.P50 || l.P90 != w.P90 || l.P99 != w.P99 || l.P99 == 0 || !l.Times.Equals(w.Times) {
			t.Errorf("second %d: %d times of %s, %v, %v, %v, want %d of %s, %v, %v, %v", n, l.Count, l.Phase, l.P50, l.P90, l.P99, w.Count, w.Phase, w.P50, w.P90, w.P99)
		}
	}
	if _, fresh := writers[0].latest(); fresh {
		t.Error("the same state was told twice")
	}
}

// TestASecondWaitsForAgents has an agent that tells nothing: a second is merged without it, one second later.
func TestASecondWaitsForAgents(t *testing.T) {
	f := newFollower("acquire")
	lap := metrics.NewLatency("acquire")
	for range 1000 {
		lap.Record(time.Millisecond, time.Millisecond)
	}
	var quick stateWriter
	quick.add(workloads.Progress{Elapsed: time.Second, Lap: lap.Lap()})
	f.states["quick"], _ = quick.latest()
	both := []string{"quick", "slow"}
	for _, c := range []struct {
		elapsed time.Duration
		agents  []string
		count   int64
	}{
		{1900 * time.Millisecond, both, 0}, {2 * time.Second, both, 1000},
	} {
		all := f.merge(c.elapsed, c.agents)
		if len(all) != 1 || all[0].Lap.Count != c.count || all[0].Lap.Phase != "acquire" || !all[0].Measuring {
			t.Errorf("after %v: %+v, want one second with %d times", c.elapsed, all, c.count)
		}
	}
	g := newFollower("acquire")
	g.states["quick"] = f.states["quick"]
	if all := g.merge(time.Second, both[:1]); all[0].Lap.Count != 1000 {
		t.Errorf("without the lost agent: %+v, want 1000 times", all)
	}
}

// TestOneAgentThatIsServedEndsASilence merges for how long the service has left the requests of agents unanswered.
func TestOneAgentThatIsServedEndsASilence(t *testing.T) {
	for _, c := range []struct{ a, b, want time.Duration }{{2, 3, 2}, {3, 2, 2}, {2, 0, 0}, {0, 0, 0}} {
		f := newFollower("acquire")
		f.states = map[string]state{"a": {Unanswered: c.a * time.Second}, "b": {Unanswered: c.b * time.Second}}
		if all := f.merge(0, []string{"a", "b"}); all[0].Unanswered != c.want*time.Second {
			t.Errorf("%v and %v give %v", c.a, c.b, all[0].Unanswered)
		}
	}
}
