package metrics_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
)

// A run of two clients that are served by turns, every 10 ms one. At 5 s something
// is broken: both are disconnected, one loses its session, and nobody is served for
// 2 s; from then on they are at half of their speed, and at 10 s at the old one.
func outage() *metrics.Diary {
	d := metrics.NewDiary(2)
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
	d.Led()
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

func TestRecoveries(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := outage()
		ms := func(n int) *time.Duration { d := time.Duration(n) * time.Millisecond; return &d }
		want := []metrics.Recovery{{
			Break: metrics.Break{At: 5 * time.Second, What: "kill member 2, the leader"}, Span: 15 * time.Second,
			Noticed: ms(100), Led: ms(1500), Reconnected: ms(1800), Pause: 2010 * time.Millisecond, Served: ms(2000),
			Stall: 2030 * time.Millisecond, LongestStall: 2030 * time.Millisecond, Usual: 20 * time.Millisecond,
			// The first second in which nine in ten are served has 200 ms of the slow ones.
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

// What did not come about until the end is not told as if it had.
func TestRecoveryThatDoesNotCome(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := outage().Recoveries(6 * time.Second)[0]
		if r.Served != nil || r.Back != nil || r.Led != nil || r.Reconnected != nil || r.Pause != 1010*time.Millisecond || r.Noticed == nil {
			t.Errorf("%+v", r)
		}
		r = outage().Recoveries(9 * time.Second)[0]
		if r.Served == nil || r.Back != nil || r.Counts.Reads != 500 {
			t.Errorf("served after %v, back %v, %d reads", r.Served, r.Back, r.Counts.Reads)
		}
	})
}

// Each fault is watched until the next one.
func TestRecoveriesFollowEachOther(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := metrics.NewDiary(1)
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

// A fault that nobody has anything of is not charged with a longer wait that comes
// by chance much later.
func TestRecoveryFromNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		d := metrics.NewDiary(1)
		d.Begin()
		start := time.Now()
		for at := time.Duration(0); at < 10*time.Second; at += 10 * time.Millisecond {
			if at != 8*time.Second {
				d.Served(0, start.Add(at))
			}
		}
		time.Sleep(5*time.Second + 3*time.Millisecond)
		d.Broke("cut 1 of 1 clients", time.Now(), true)
		r := d.Recoveries(10 * time.Second)[0]
		if r.Pause != 10*time.Millisecond || *r.Served != 7*time.Millisecond || *r.Back != 7*time.Millisecond {
			t.Errorf("a pause of %v, served after %v, back after %v", r.Pause, r.Served, r.Back)
		}
	})
}
