package load_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func fanoutPlan(s drivers.Service, watch load.Watch) workloads.Plan {
	return workloads.Plan{Service: s, Clients: 7, Seed: 1,
		Form:     workloads.Form{Recipe: "fanout", Name: "test", Family: workloads.Load, New: load.Fanouts(watch)},
		Settings: workloads.Settings{Think: 10 * time.Millisecond},
		Warmup:   55 * time.Millisecond, Duration: time.Second}
}

// lastingInBubble is InBubble with a client library that has persistent watches.
func lastingInBubble(t *testing.T, test func(t *testing.T, s drivers.Service)) {
	runtest.InBubble(t, func(t *testing.T, _ drivers.Service) {
		server := server.New(server.Options{Tick: time.Second})
		defer server.Close()
		s, err := lean.New(ensemble.Config{Servers: []string{"in-process"}, Dial: func(context.Context, string) (net.Conn, error) {
			time.Sleep(time.Millisecond) // a connection takes time, or clients that connect again and again would stop the clock
			return server.Dial("", "", 0)
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s)
		runtest.WantNothingLeft(t, s)
	})
}

// TestFanout checks that in a closed loop every watcher is notified of each write, at the expected
// cost.
func TestFanout(t *testing.T) {
	for _, c := range []struct {
		name   string
		bubble func(*testing.T, func(*testing.T, drivers.Service))
		watch  load.Watch
		reads  func(writes int64) int64
	}{
		{"one-shot", runtest.InBubble, load.OneShot, func(writes int64) int64 { return 7 * (1 + writes) }},
		{"persistent", lastingInBubble, load.Persistent, func(int64) int64 { return 7 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.bubble(t, func(t *testing.T, s drivers.Service) {
				r := runtest.Measure(t, fanoutPlan(s, c.watch))
				// Only thinking takes time.
				if f := r.Fanout; r.Rounds != 100 || f.Writes != 100 || f.Watchers != 7 || f.Notifications != 700 || f.Missed != 0 {
					t.Errorf("%d rounds, %d writes, %d watchers, %d notifications, %d missed; want 100, 100, 7, 700, 0",
						r.Rounds, f.Writes, f.Watchers, f.Notifications, f.Missed)
				}
				if f := r.Fanout; f.First.Count() != 100 || f.Median.Count() != 100 || f.Last.Count() != 100 || f.Each.Count() != 700 {
					t.Errorf("of each write a first, a median and a last, and all: %d, %d, %d, %d",
						f.First.Count(), f.Median.Count(), f.Last.Count(), f.Each.Count())
				}
				for i, want := range []int64{100, 100, 100, 100, 700} {
					if p := r.Phases[i]; p.Service.TotalCount() != want || p.Response.TotalCount() != want {
						t.Errorf("%s: %d times, responses %d, want %d", p.Name, p.Service.TotalCount(), p.Response.TotalCount(), want)
					}
				}
				n := r.WholeRounds
				if w := r.Whole; n < 105 || w.Writes != n || w.Notifications != 7*n || w.Reads != c.reads(n) {
					t.Errorf("%d rounds: %d writes, %d notifications, %d reads", n, w.Writes, w.Notifications, w.Reads)
				}
				if v := r.Safety; v.Violations != 0 || v.Checked < 7*n || r.Herd.Largest != 7 || r.Counts.Wasted != 0 {
					t.Errorf("%+v, largest fan-out %d, %d wasted", v, r.Herd.Largest, r.Counts.Wasted)
				}
			})
		})
	}
}

// TestFanoutTimes checks that the times of notifications count from the write's issue and from its
// acknowledgement. A notification may arrive before the acknowledgement.
func TestFanoutTimes(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var watchers atomic.Int64
		p := fanoutPlan(lateAcknowledging{s, 5 * time.Millisecond}, func(ctx context.Context, c drivers.Conn, node string, e *load.Observer) error {
			by := time.Duration(watchers.Add(1)) * time.Millisecond // 1 to 7
			return load.OneShot(ctx, lateTeller{c, by}, node, e)
		})
		r := runtest.Measure(t, p)
		for i, want := range []time.Duration{5, 1, 4, 7} { // write, first, median, last
			p, want := r.Phases[i], want*time.Millisecond
			if min, max := p.Service.Min(), p.Service.Max(); !p.Service.ValuesAreEquivalent(min, int64(want)) || !p.Service.ValuesAreEquivalent(max, int64(want)) {
				t.Errorf("%s took %v to %v, want %v", p.Name, time.Duration(min), time.Duration(max), want)
			}
		}
		for _, c := range []struct {
			name       string
			got        metrics.Signed
			least, top time.Duration
		}{
			{"first", r.Fanout.First, -4, -4}, {"median", r.Fanout.Median, -1, -1}, {"last", r.Fanout.Last, 2, 2}, {"each", r.Fanout.Each, -4, 2},
		} {
			least, top := time.Duration(c.got.Min()).Round(10*time.Microsecond), time.Duration(c.got.Max()).Round(10*time.Microsecond)
			if least != c.least*time.Millisecond || top != c.top*time.Millisecond {
				t.Errorf("%s: %v to %v after the acknowledgement, want %v to %v ms", c.name, least, top, int(c.least), int(c.top))
			}
		}
	})
}

// A lateAcknowledging service executes sets before it acknowledges them.
type lateAcknowledging struct {
	drivers.Service
	by time.Duration
}

func (l lateAcknowledging) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c, err := l.Service.Dial(ctx, o)
	return lateConn{c, l.by}, err
}

type lateConn struct {
	drivers.Conn
	by time.Duration
}

func (c lateConn) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	stat, err := c.Conn.Set(ctx, path, data, version)
	return stat, errors.Join(err, drivers.Pause(ctx, c.by))
}

func (c lateConn) Flush(ctx context.Context) error { return c.Conn.(drivers.Flusher).Flush(ctx) }

// A lateTeller delivers notifications late.
type lateTeller struct {
	drivers.Conn
	by time.Duration
}

func (l lateTeller) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	return l.Conn.Get(ctx, path, func(e drivers.Event) { time.AfterFunc(l.by, func() { w(e) }) })
}

// slowly returns a watcher that is slow to watch again.
func slowly(d time.Duration) load.Watch {
	return func(ctx context.Context, c drivers.Conn, node string, e *load.Observer) error {
		return load.OneShot(ctx, slowReader{c, d}, node, e)
	}
}

type slowReader struct {
	drivers.Conn
	by time.Duration
}

func (r slowReader) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if err := drivers.Pause(ctx, r.by); err != nil {
		return nil, drivers.Stat{}, err
	}
	return r.Conn.Get(ctx, path, w)
}

// TestFanoutCountsWhatIsMissed uses watchers that watch again after 25 ms and a writer that sets
// the node every 10 ms. A watcher is notified of every third change and misses the two in between.
func TestFanoutCountsWhatIsMissed(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := fanoutPlan(s, slowly(25*time.Millisecond))
		p.Settings.Think, p.Duration = 0, 3*time.Second
		p.Open = openloop.Options{Rate: openloop.PerSecond(100)}
		r := runtest.Measure(t, p)
		f := r.Fanout
		if f.Writes < 298 || f.Writes > 302 || f.Notifications+f.Missed != 7*f.Writes {
			t.Errorf("%d writes, %d notifications and %d missed; want about 300, and 7 of either each", f.Writes, f.Notifications, f.Missed)
		}
		if third := 7 * f.Writes / 3; f.Notifications < third-7 || f.Notifications > third+7 {
			t.Errorf("%d notifications, want a third of all, %d", f.Notifications, third)
		}
		if g := r.Generator; g.Skipped+g.Late+g.Unfinished > 0 || r.Safety.Violations > 0 || r.Disturbed {
			t.Errorf("%+v, %+v", g, r.Safety)
		}
	})
}

// TestFanoutSurvivesLostSessions checks that a client that loses its session continues with a new
// one, and so does the writer. The check then knows again which write each notification is for.
func TestFanoutSurvivesLostSessions(t *testing.T) {
	for name, watch := range map[string]load.Watch{"one-shot": load.OneShot, "persistent": load.Persistent} {
		t.Run(name, func(t *testing.T) {
			lastingInBubble(t, func(t *testing.T, s drivers.Service) {
				l := &doomed{Service: s}
				l.left.Store(40)
				p := fanoutPlan(l, watch)
				r := runtest.Measure(t, p)
				f := r.Fanout
				if n := r.Errors[drivers.ErrSessionLost.Error()]; n < 2 || f.Writes < 50 || f.Notifications+f.Missed != 7*f.Writes {
					t.Errorf("%d sessions lost, %d writes, %d notifications and %d missed", n, f.Writes, f.Notifications, f.Missed)
				}
				if r.Safety.Violations != 0 {
					t.Errorf("%+v", r.Safety)
				}
			})
		})
	}
}

// A doomed service closes the writer's session after a set has taken effect, and with it the
// session that read first.
type doomed struct {
	drivers.Service
	left  atomic.Int64
	first atomic.Pointer[doomedConn]
}

type doomedConn struct {
	drivers.PersistentWatcher
	doomed *doomed
}

func (l *doomed) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c, err := l.Service.Dial(ctx, o)
	if err != nil || o.OnState == nil { // the run's own session
		return c, err
	}
	return &doomedConn{c.(drivers.PersistentWatcher), l}, nil
}

func (c *doomedConn) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	c.doomed.first.CompareAndSwap(nil, c)
	return c.PersistentWatcher.Get(ctx, path, w)
}

func (c *doomedConn) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	stat, err := c.PersistentWatcher.Set(ctx, path, data, version)
	if err == nil && c.doomed.left.Add(-1) == 0 {
		c.doomed.first.Load().Close()
		c.Close()
		return drivers.Stat{}, drivers.ErrSessionLost // although the set took effect
	}
	return stat, err
}

func (c *doomedConn) Flush(ctx context.Context) error {
	return c.PersistentWatcher.(drivers.Flusher).Flush(ctx)
}

// TestRunCatchesAFanoutThatIsWrong checks that each check fails for a watcher that violates it.
func TestRunCatchesAFanoutThatIsWrong(t *testing.T) {
	told := func(times int) load.Watch { // times is how often each notification is delivered
		return func(ctx context.Context, c drivers.Conn, node string, e *load.Observer) error {
			return load.OneShot(ctx, repeater{c, times}, node, e)
		}
	}
	for name, c := range map[string]struct {
		watch load.Watch
		want  string
	}{
		"lost":  {told(0), "was never notified of write 1"},
		"twice": {told(2), "was notified twice by one watch"},
		"too many": {func(ctx context.Context, _ drivers.Conn, _ string, e *load.Observer) error {
			e.Arm(false)
			e.Read(0)
			e.Notified()
			<-ctx.Done()
			return ctx.Err()
		}, "was notified of write 1, which was not made"},
		"older": {func(ctx context.Context, c drivers.Conn, node string, e *load.Observer) error {
			return load.OneShot(ctx, &rereader{Conn: c}, node, e)
		}, "read version 0 after 1"},
		"invented": {func(ctx context.Context, c drivers.Conn, node string, e *load.Observer) error {
			e.Arm(false)
			e.Read(5)
			return load.OneShot(ctx, c, node, e)
		}, "read version 5, which was never written"},
	} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				r := runtest.Measure(t, fanoutPlan(s, c.watch))
				if v := r.Safety; v.Violations == 0 || !strings.Contains(strings.Join(v.Details, "\n"), c.want) {
					t.Errorf("%+v, want a violation: %s", v, c.want)
				}
			})
		})
	}
}

// A repeater fires each watch several times.
type repeater struct {
	drivers.Conn
	times int
}

func (r repeater) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	return r.Conn.Get(ctx, path, func(e drivers.Event) {
		for range r.times {
			w(e)
		}
	})
}

// A rereader returns the Stat of its first read for every read.
type rereader struct {
	drivers.Conn
	stat *drivers.Stat
}

func (f *rereader) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	data, stat, err := f.Conn.Get(ctx, path, w)
	if err == nil && f.stat == nil {
		f.stat = &stat
	}
	return data, *f.stat, err
}

// A deleter tells watchers after each change that the node was deleted, too.
type deleter struct{ drivers.Conn }

func (d deleter) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	return d.Conn.Get(ctx, path, func(e drivers.Event) {
		w(e)
		w(drivers.Event{Type: drivers.Deleted, Path: e.Path})
	})
}

// TestADeletedNodeIsNoWrite checks that a notification of the node's end, which an interrupted run of several processes
// brings, is not taken for one of a write.
func TestADeletedNodeIsNoWrite(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, fanoutPlan(s, func(ctx context.Context, c drivers.Conn, node string, e *load.Observer) error {
			return load.OneShot(ctx, deleter{c}, node, e)
		}))
		if r.Safety.Violations > 0 || r.Safety.Checked == 0 || r.Fanout.Notifications != 700 {
			t.Errorf("%+v, %d notifications; want no violation, and 700", r.Safety, r.Fanout.Notifications)
		}
	})
}
