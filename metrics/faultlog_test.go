package metrics_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
)

// outage is a run of two clients that are served alternately, one every 10 ms. A fault at 5 s
// disconnects both, one loses its session, and neither is served for 2 s. Then they run at half
// of their earlier rate, and from 10 s on at the full rate.
func outage() *metrics.FaultLog {
	d := metrics.NewFaultLog(2)
	d.Served(0, time.Now()) // before the window
	d.Begin()
	start := time.Now()
	serve := func(from, until, every time.Duration) {
		client := 0
		for at := from; at < until; at += every {
			d.Served(client, start.Add(at))
			client = 1 - client
		}
	}
	at := func(when time.Duration) { time.Sleep(time.Until(start.Add(when))) }
	serve(0, 5*time.Second, 10*time.Millisecond)
	serve(7*time.Second, 10*time.Second, 20*time.Millisecond)
	serve(10*time.Second, 20*time.Second, 10*time.Millisecond)
	at(4900 * time.Millisecond)
	d.Counted(metrics.Counts{Reads: 900})
	at(5 * time.Second)
	d.Broke("kill member 2, the leader", time.Now(), true)
	d.Counted(metrics.Counts{Reads: 1000})
	at(5100 * time.Millisecond)
	d.State(0, drivers.Disconnected)
	at(5200 * time.Millisecond)
	d.State(1, drivers.Disconnected)
	at(6 * time.Second)
	d.State(1, drivers.SessionLost)
	d.Failed("session lost")
	at(6500 * time.Millisecond)
	d.Led(time.Now())
	d.State(0, drivers.Connected)
	at(6800 * time.Millisecond)
	d.State(1, drivers.Connected)
	at(9 * time.Second)
	d.Counted(metrics.Counts{Reads: 1500, Rearms: 2})
	at(10 * time.Second)
	d.Counted(metrics.Counts{Reads: 1600, Rearms: 2})
	d.Broke("restart member 2, the leader", time.Now(), false)
	return d
}

// TestOutageOfOnePhase checks that writes which stop while reads go on are an outage, and that without
// one the gap that would have been seen is that of the rarer operations.
func TestOutageOfOnePhase(t *testing.T) {
	for _, stops := range []bool{true, false} {
		bubble.Test(t, func(t *testing.T) {
			d := metrics.NewFaultLog(1)
			d.Begin()
			start, fault := time.Now(), 5*time.Second
			for at := time.Duration(0); at < 10*time.Second; at += time.Millisecond {
				write := at%(10*time.Millisecond) == 0
				if write && stops && at > fault && at < fault+56*time.Millisecond {
					write = false
				}
				phase := "read"
				if write {
					phase = "write"
				}
				d.Served(0, start.Add(at))
				d.Operated(phase, start.Add(at))
			}
			time.Sleep(fault)
			d.Broke("kill member 2", start.Add(fault), true)
			r := d.Recoveries(10 * time.Second)[0]
			if stops && (r.Effect != metrics.Outage || r.Phase != "write" || *r.Pause != 60*time.Millisecond) {
				t.Errorf("%+v, want an outage of writes for 60ms", r)
			}
			if !stops && (r.Effect != metrics.NoEffect || r.Phase != "" || r.Detectable != 30*time.Millisecond) {
				t.Errorf("%+v, want no outage, and that one of 30ms would have been seen", r)
			}
		})
	}
}

// TestRecoveriesOfSeveralProcesses has the events of one log in two, one for each client. One of them has another
// clock.
func TestRecoveriesOfSeveralProcesses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		whole := outage()
		const behind = 3 * time.Second // the clock of the second process
		e := whole.Events()
		parts := [2]metrics.FaultEvents{{Breaks: e.Breaks, Faults: e.Faults, Led: e.Led, Samples: e.Samples}, {}}
		for _, b := range e.Breaks { // both have injected the faults
			b.At -= behind
			parts[1].Breaks = append(parts[1].Breaks, b)
		}
		for _, f := range e.Faults {
			f.At, f.Done = f.At-behind, f.Done-behind
			parts[1].Faults = append(parts[1].Faults, f)
		}
		for _, s := range e.Samples { // of other requests
			parts[1].Samples = append(parts[1].Samples, metrics.SampleEvent{At: s.At - behind, Counts: metrics.Counts{Writes: 2 * s.Counts.Reads}})
		}
		parts[0].Served, parts[1].Served = e.Served[:1], make([][]time.Duration, 1)
		for _, at := range e.Served[1] {
			parts[1].Served[0] = append(parts[1].Served[0], at-behind)
		}
		for _, s := range e.States {
			of := &parts[s.Client]
			s.At -= time.Duration(s.Client) * behind
			s.Client = 0
			of.States = append(of.States, s)
		}
		for _, f := range e.Errors {
			f.At -= behind
			parts[1].Errors = append(parts[1].Errors, f)
		}
		merged := metrics.NewFaultLog(0)
		for i, p := range parts {
			merged.Add(p, func(at time.Duration) time.Duration { return at + time.Duration(i)*behind })
		}
		want := whole.Recoveries(20 * time.Second)
		for i := range want {
			want[i].Counts.Writes = 2 * want[i].Counts.Reads
		}
		if diff := cmp.Diff(want, merged.Recoveries(20*time.Second)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(whole.Breaks(), merged.Breaks()); diff != "" {
			t.Errorf("breaks (-want +got):\n%s", diff)
		}
	})
}

func TestRecoveries(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := outage()
		ms := func(n int) *time.Duration { d := time.Duration(n) * time.Millisecond; return &d }
		want := []metrics.Recovery{{
			Break: metrics.Break{At: 5 * time.Second, What: "kill member 2, the leader"}, Span: 15 * time.Second,
			Noticed: ms(100), Led: ms(1500), Reconnected: ms(1800),
			Effect: metrics.Outage, Detectable: 30 * time.Millisecond, Pause: ms(2010), Served: ms(2000),
			Stall: ms(2030), LongestStall: ms(2030), Usual: 20 * time.Millisecond,
			// The first second with nine tenths of the earlier rate includes 200 ms at the slow
			// rate.
			Back: ms(4800), Before: 100, After: 1150. / 15, Disconnected: 2, Lost: 1,
			Errors: map[string]int64{"session lost": 1}, Counts: metrics.Counts{Reads: 600, Rearms: 2},
		}}
		if diff := cmp.Diff(want, d.Recoveries(20*time.Second)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if b := d.Breaks(); len(b) != 2 || b[1].At != 10*time.Second {
			t.Errorf("what was broken: %+v", b)
		}
	})
}

// A recovery that did not happen before the end of the window has no times.
func TestRecoveryThatDoesNotCome(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := outage().Recoveries(6 * time.Second)[0]
		if r.Served != nil || r.Back != nil || r.Led != nil || r.Reconnected != nil || *r.Pause != 1010*time.Millisecond || r.Noticed == nil {
			t.Errorf("%+v", r)
		}
		r = outage().Recoveries(9 * time.Second)[0]
		if r.Served == nil || r.Back != nil || r.Counts.Reads != 500 {
			t.Errorf("served after %v, back %v, %d reads", r.Served, r.Back, r.Counts.Reads)
		}
	})
}

// A service that went away is no fault's doing: what is after its last answer counts for none.
func TestRecoveriesEndWithTheService(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, start := steady()
		at := func(when time.Duration) { time.Sleep(time.Until(start.Add(when))) }
		at(5*time.Second + 3*time.Millisecond)
		d.Broke("cut 1 of 1 clients", time.Now(), true)
		at(10 * time.Second) // the service is gone
		d.State(0, drivers.Disconnected)
		at(15 * time.Second)
		d.Broke("freeze client 1", time.Now(), true)
		at(20 * time.Second)
		d.State(0, drivers.SessionGivenUp)
		d.Failed("session lost")
		m := metrics.Record{Duration: 21 * time.Second}
		if m.Answered() != m.Duration {
			t.Errorf("a service that did not go away answered for %v", m.Answered())
		}
		m.Doubt(metrics.Warning{Code: metrics.ServiceLost, Numbers: metrics.Numbers{"answered_ns": float64(9990 * time.Millisecond)}})
		all := d.Recoveries(m.Answered())
		if len(all) != 1 || all[0].Effect != metrics.NoEffect || all[0].Disconnected+all[0].GivenUp+len(all[0].Errors) > 0 {
			t.Errorf("%+v", all)
		}
	})
}

// Each fault is observed until the next one.
func TestRecoveriesFollowEachOther(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := metrics.NewFaultLog(1)
		d.Begin()
		time.Sleep(2 * time.Second)
		d.Broke("stop member 1, the leader", time.Now(), true)
		time.Sleep(3 * time.Second)
		d.Broke("cut 4 of 4 clients", time.Now(), true)
		all := d.Recoveries(10 * time.Second)
		if len(all) != 2 || all[0].Span != 3*time.Second || all[1].Span != 5*time.Second || all[1].At != 5*time.Second {
			t.Errorf("%+v", all)
		}
	})
}

// steady is a run of one client that is served every 10 ms until 10 s, except at the given
// moments.
func steady(but ...time.Duration) (d *metrics.FaultLog, start time.Time) {
	d = metrics.NewFaultLog(1)
	d.Begin()
	start = time.Now()
	for at := time.Duration(0); at < 10*time.Second; at += 10 * time.Millisecond {
		if !slices.Contains(but, at) {
			d.Served(0, start.Add(at))
		}
	}
	return d, start
}

// A longer gap that follows a fault by chance is not attributed to the fault, and neither is
// the ordinary gap in which the fault came: the recovery has no times.
func TestRecoveryFromNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, _ := steady(8*time.Second, 8010*time.Millisecond, 8020*time.Millisecond, 8030*time.Millisecond)
		time.Sleep(5*time.Second + 3*time.Millisecond)
		d.Broke("cut 1 of 1 clients", time.Now(), true)
		r := d.Recoveries(10 * time.Second)[0]
		if r.Effect != metrics.NoEffect || r.Detectable != 30*time.Millisecond || r.Pause != nil || r.Served != nil || r.Back != nil || r.Stall != nil || r.LongestStall != nil {
			t.Errorf("%+v", r)
		}
	})
}

// A longer gap that has not ended at the end may be the fault's, although grants came between the two.
func TestRecoveryThatMayNotHaveBegun(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var but []time.Duration
		for at := 9900 * time.Millisecond; at < 10*time.Second; at += 10 * time.Millisecond {
			but = append(but, at)
		}
		d, _ := steady(but...)
		time.Sleep(5*time.Second + 3*time.Millisecond)
		d.Broke("hang-disk member 1, the leader", time.Now(), true)
		if r := d.Recoveries(10 * time.Second)[0]; r.Effect != metrics.Unclear || r.Pause != nil {
			t.Errorf("%+v", r)
		}
		if r := d.Recoveries(9 * time.Second)[0]; r.Effect != metrics.NoEffect {
			t.Errorf("%+v", r)
		}
	})
}

// Without an outage, the run shows that there was none only if it went on for longer than one that would have
// been seen.
func TestRecoveryWithTooLittleTime(t *testing.T) {
	for span, want := range map[time.Duration]metrics.Effect{30 * time.Millisecond: metrics.Unclear, 31 * time.Millisecond: metrics.NoEffect} {
		bubble.Test(t, func(t *testing.T) {
			d, _ := steady()
			time.Sleep(5*time.Second + 3*time.Millisecond)
			d.Broke("cut 1 of 1 clients", time.Now(), true)
			r := d.Recoveries(5*time.Second + 3*time.Millisecond + span)[0]
			if r.Effect != want || r.Detectable != 30*time.Millisecond || r.Span != span {
				t.Errorf("%v after the fault: %+v, want %s", span, r, want)
			}
		})
	}
}

// If clients are notified later that their sessions broke, the gap that begins then is
// attributed to the fault too.
func TestOutageBeginsWithTheNotice(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, start := steady(8*time.Second, 8010*time.Millisecond, 8020*time.Millisecond, 8030*time.Millisecond)
		time.Sleep(5 * time.Second)
		d.Broke("isolate member 1, the leader", time.Now(), true)
		time.Sleep(time.Until(start.Add(8 * time.Second)))
		d.State(0, drivers.Disconnected)
		r := d.Recoveries(10 * time.Second)[0]
		if r.Effect != metrics.Outage || *r.Pause != 50*time.Millisecond || *r.Served != 3040*time.Millisecond || *r.LongestStall != 50*time.Millisecond {
			t.Errorf("%+v", r)
		}
	})
}

// A busy machine may note a client's last grant long after the client was notified
// that its session broke. The gap in which the client reconnects is attributed to the fault.
func TestOutageEndsWithTheReconnect(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var missing []time.Duration
		for at := 5100 * time.Millisecond; at < 7*time.Second; at += 10 * time.Millisecond {
			missing = append(missing, at)
		}
		d, start := steady(missing...)
		time.Sleep(5 * time.Second)
		d.Broke("kill member 1, the leader", time.Now(), true)
		time.Sleep(10 * time.Millisecond)
		d.State(0, drivers.Disconnected)
		time.Sleep(time.Until(start.Add(6900 * time.Millisecond)))
		d.State(0, drivers.Connected)
		r := d.Recoveries(10 * time.Second)[0]
		if r.Effect != metrics.Outage || *r.Pause != 1910*time.Millisecond || *r.Served != 2*time.Second {
			t.Errorf("%+v", r)
		}
	})
}

// Injecting a fault takes a while, and operations in progress may end after it. The gap that
// begins then is attributed to the fault.
func TestOutageBeginsWhenTheFaultIsDone(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d, start := steady(5060*time.Millisecond, 5070*time.Millisecond, 5080*time.Millisecond)
		time.Sleep(5*time.Second + 45*time.Millisecond)
		d.Broke("kill member 1, the leader", start.Add(5*time.Second), true)
		r := d.Recoveries(10 * time.Second)[0]
		if r.Effect != metrics.Outage || *r.Pause != 40*time.Millisecond || *r.Served != 90*time.Millisecond {
			t.Errorf("%+v", r)
		}
	})
}

// A fault that halves throughput without a gap is a slowdown. It ends with the first second at
// the earlier rate.
func TestSlowdown(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var slow []time.Duration
		for at := 5 * time.Second; at < 7*time.Second; at += 30 * time.Millisecond {
			slow = append(slow, at+10*time.Millisecond, at+20*time.Millisecond)
		}
		d, _ := steady(slow...)
		time.Sleep(5 * time.Second)
		d.Broke("delay 1 of 1 clients", time.Now(), true)
		r := d.Recoveries(10 * time.Second)[0]
		if r.Effect != metrics.Slowdown || r.Served != nil || r.Back == nil || *r.Back < 1800*time.Millisecond || *r.Back > 2*time.Second {
			t.Errorf("%+v", r)
		}
	})
}

// Without a gap before the fault, or with an outage in progress, the effect is unclear. An
// outage that an earlier fault explains is not an ordinary gap.
func TestRecoveryIsJudgedByOrdinaryGaps(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var down []time.Duration
		for at := 2 * time.Second; at < 4*time.Second; at += 10 * time.Millisecond {
			down = append(down, at)
		}
		for at := 6 * time.Second; at < 7*time.Second; at += 10 * time.Millisecond {
			down = append(down, at)
		}
		d, start := steady(down...)
		for _, at := range []time.Duration{0, 2, 3, 6} {
			time.Sleep(time.Until(start.Add(at * time.Second)))
			d.Broke("kill member 1", time.Now(), true)
		}
		var effects []metrics.Effect
		all := d.Recoveries(10 * time.Second)
		for _, r := range all {
			effects = append(effects, r.Effect)
		}
		if want := []metrics.Effect{metrics.Unclear, metrics.Outage, metrics.Unclear, metrics.Outage}; !slices.Equal(effects, want) {
			t.Errorf("%v, want %v", effects, want)
		}
		if last := all[3]; *last.Served != time.Second || last.Detectable != 30*time.Millisecond {
			t.Errorf("served after %v, detectable %v", *last.Served, last.Detectable)
		}
	})
}
