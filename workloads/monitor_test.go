package workloads_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// A stallingConn does not answer until a moment that its requests reach after another.
type stallingConn struct {
	drivers.Conn
	drivers.Flusher
	from, to time.Time
	reads    bool // stall, too
	cut      *atomic.Bool
}

func (c stallingConn) stall() {
	if now := time.Now(); !now.Before(c.from) && now.Before(c.to) {
		if c.cut != nil && !c.cut.Swap(true) {
			c.Conn.(drivers.Cutter).Cut()
			return
		}
		time.Sleep(time.Until(c.to))
	}
}

func (c stallingConn) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if c.reads {
		c.stall()
	}
	return c.Conn.Get(ctx, path, w)
}

func (c stallingConn) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	c.stall()
	return c.Conn.Set(ctx, path, data, version)
}

// TestStallsAreWarnedOf checks that a run says for how long no round or no operation of one kind ended,
// and which sessions were disconnected, and that an even run says nothing.
func TestStallsAreWarnedOf(t *testing.T) {
	for name, c := range map[string]struct {
		length time.Duration
		reads  bool
		cut    bool
		code   string
		phase  string
	}{
		"even":                      {},
		"a short pause":             {length: 300 * time.Millisecond, reads: true},
		"nothing is answered":       {length: 2 * time.Second, reads: true, code: metrics.Stalled},
		"no write is answered":      {length: 1500 * time.Millisecond, code: metrics.Stalled, phase: "write"},
		"a connection breaks":       {length: time.Millisecond, reads: true, cut: true, code: metrics.Disconnected},
		"nothing at the very start": {length: 2 * time.Second, reads: true, code: metrics.Stalled},
	} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				from := time.Now().Add(4 * time.Second)
				if name == "nothing at the very start" {
					from = time.Now().Add(2 * time.Second)
				}
				var cut *atomic.Bool
				if c.cut {
					cut = new(atomic.Bool)
				}
				p := runtest.MixPlan(runtest.Hooked(s, func(conn drivers.Conn) drivers.Conn {
					return stallingConn{conn, conn.(drivers.Flusher), from, from.Add(c.length), c.reads, cut}
				}), workloads.MixSettings{Keys: 10, Reads: 0.9})
				p.Clients, p.Settings.Think, p.Warmup, p.Duration = 200, 100*time.Millisecond, 2*time.Second, 8*time.Second
				r := runtest.Measure(t, p)
				r.Warnings = slices.DeleteFunc(r.Warnings, func(w metrics.Warning) bool { return w.Code != metrics.Stalled && w.Code != metrics.Disconnected })
				if c.code == "" {
					if len(r.Warnings) > 0 {
						t.Errorf("%+v, want none", r.Warnings)
					}
					return
				}
				if len(r.Warnings) != 1 || r.Warnings[0].Code != c.code || r.Warnings[0].Names["phase"] != c.phase {
					t.Fatalf("%+v, want one of code %s about %q", r.Warnings, c.code, c.phase)
				}
				n := r.Warnings[0].Numbers
				if c.cut {
					if want := (metrics.Sessions{Disconnected: 1, Disconnections: 1}); r.Sessions != want || n["sessions"] != 1 || n["times"] != 1 {
						t.Errorf("%+v, %v", r.Sessions, n)
					}
					return
				}
				if got := time.Duration(n["longest_ns"]); got < c.length-60*time.Millisecond || got > c.length+200*time.Millisecond {
					t.Errorf("the longest time without is %v, want %v", got, c.length)
				}
			})
		})
	}
}

// TestBacklogIsNoStall offers loads twice what their clients can serve from the beginning of the warm-up. In
// the first half of the window ends only work that was due before it, as evenly as later: nothing stalled.
func TestBacklogIsNoStall(t *testing.T) {
	for _, form := range []string{"lock/predecessor", "queue/relist", "fanout/one-shot", "mix/operations"} {
		t.Run(form, func(t *testing.T) {
			capacity := 0.0
			run := func(rate float64) {
				inRelay(t, replyTime, 0, func(t *testing.T, s drivers.Service, r *relay) {
					p := edgePlan(s, r, formOf(t, form), 8, rate, nil)
					p.Settings.Hold = 20 * time.Millisecond
					rec := p.ran(t)
					capacity = float64(rec.Rounds) / edgeWindow.Seconds()
					if rec.Rounds == 0 || rec.Rounds > rec.Generator.Offered*3/5 || has(rec.Warnings, metrics.Stalled) {
						t.Errorf("%d rounds of %+v, %+v", rec.Rounds, rec.Generator, rec.Warnings)
					}
				})
			}
			run(1500)
			run(2 * capacity)
		})
	}
}

// TestWhatExplainsASilentService checks that a run ends when its service is gone, whatever faults it has, unless one
// of servers, or of all its clients, is the reason: for as long as that lasts, and a session's life longer.
func TestWhatExplainsASilentService(t *testing.T) {
	const life, dies, long = 2 * time.Second, 4 * time.Second, time.Hour
	for fault, c := range map[string]struct {
		outage time.Duration // from dies on
		lost   time.Duration // how long the service was gone when the run ended; 0: it did not
	}{
		"at=1s freeze holder for=500ms":                 {long, 4 * time.Second},
		"at=1s freeze client=1":                         {long, 4 * time.Second}, // it learns nothing any more
		"at=1s silence client=2":                        {long, 4 * time.Second},
		"at=1s cut clients=all":                         {long, 4 * time.Second},
		"at=1s expire holder":                           {long, 4 * time.Second},
		"at=3s lose holder reply=create":                {long, 4 * time.Second},
		"at=3s delay clients=all by=1ms for=500ms":      {long, 4 * time.Second},
		"at=4s silence clients=all for=9s":              {},
		"at=5s freeze clients=all for=9s":               {},
		"at=5s silence clients=all":                     {},
		"at=3s isolate leader for=8s":                   {outage: 6 * time.Second},
		"at=3s isolate leader":                          {outage: 17 * time.Second},
		"at=3s isolate leader for=6s":                   {long, 11 * time.Second}, // servers may take 5 s to return
		"at=3s delay member=1 by=1s, restore after=6s":  {long, 11 * time.Second},
		"at=3s delay member=1 by=1ms, restore after=6s": {long, 4 * time.Second}, // heartbeats pass in time
		"at=3s delay clients=all by=5ms":                {long, 4 * time.Second},
		"at=3s throttle clients=all to=640k":            {long, 4 * time.Second},
		"at=3s throttle clients=all to=1000":            {long, 5 * time.Second},
		"at=3s throttle clients=all to=10":              {}, // sessions end, and the service is there
		"at=1s cut clients=all, background":             {long, 4 * time.Second},
	} {
		t.Run(fault, func(t *testing.T) {
			fault, background := strings.CutSuffix(fault, ", background")
			bubble.Test(t, func(t *testing.T) {
				r := &relay{server: server.New(server.Options{Tick: 500 * time.Millisecond}), conns: map[net.Conn]net.Conn{}}
				defer r.server.Close()
				s, err := lean.New(ensemble.Config{Servers: []string{"relay"}, Dial: r.dial})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				var on drivers.Service = s
				if strings.Contains(fault, "leader") || strings.Contains(fault, "member") {
					member := &paperMember{name: "1", leads: func() bool { return true }, isolate: func() {}}
					on = &onPaper{s, []drivers.Member{member, member}}
				}
				p := broken(t, on, runtest.Predecessor, fault)
				p.SessionTimeout, p.Duration = life, 20*time.Second
				if background {
					p.Background = load.Background(2, 50, workloads.MixSettings{Reads: 0.5, Keys: 10})
				}
				if c.outage > 0 {
					time.AfterFunc(p.Warmup+dies, func() { r.drop(c.outage) })
				}
				began := time.Now()
				_, err = workloads.Run(t.Context(), p)
				var lost *workloads.ServiceLost
				if is := errors.As(err, &lost); is != (c.lost > 0) || err != nil && !is {
					t.Fatalf("%v; the service is gone is %v, want %v", err, is, c.lost > 0)
				}
				if lost != nil && (lost.Gone > c.lost || lost.Gone < c.lost-2*time.Second) {
					t.Errorf("the run ended after %v without its service, want %v at most", lost.Gone, c.lost)
				}
				took := time.Since(began) - p.Warmup - dies
				time.Sleep(time.Minute) // sessions end by themselves
				if lost != nil && took > c.lost+2*time.Second {
					t.Errorf("it took %v to end the run, whose service was gone for %v, and to clean up", took, lost.Gone)
				}
			})
		})
	}
}

// TestAHungServiceIsLeftInTime has a service that accepts connections and answers nothing any more. A run that nobody
// interrupts ends when its sessions have ended, a second in which none was opened has passed, and everything else took half a
// second; where the service answers again within a session's life, it goes on.
func TestAHungServiceIsLeftInTime(t *testing.T) {
	const life, hangs = 6 * time.Second, 4 * time.Second // after the start
	const laps = time.Second                             // of the monitor and of heartbeats
	for name, length := range map[string]time.Duration{
		"lock": time.Hour, "lock beside background": time.Hour, "open lock": time.Hour,
		"lock beside at=3s throttle clients=all to=1000": time.Hour,
		"lock, shorter than a life":                      life - time.Second, "lock beside background, shorter than a life": life - time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				r := &relay{server: server.New(server.Options{Tick: 500 * time.Millisecond}), delay: replyTime, words: time.Millisecond, conns: map[net.Conn]net.Conn{}}
				defer r.server.Close()
				s, err := lean.New(ensemble.Config{Servers: []string{"relay"}, Dial: r.dial})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				p := runtest.LockPlan(s, runtest.Predecessor)
				if fault, beside := strings.CutPrefix(name, "lock beside at"); beside {
					p.Faults = broken(t, s, runtest.Predecessor, "at"+fault).Faults
				}
				if strings.Contains(name, "background") {
					p.Background = load.Background(2, 50, workloads.MixSettings{Reads: 0.5, Keys: 10})
				}
				if strings.Contains(name, "open") {
					p.Open = openloop.Options{Rate: openloop.PerSecond(20)}
				}
				p.SessionTimeout, p.Warmup, p.Duration = life, time.Second, 30*time.Second
				began := time.Now()
				r.disturb(began.Add(hangs), length)
				record, err := workloads.Run(t.Context(), p)
				took := time.Since(began) - hangs
				time.Sleep(2 * time.Hour) // sessions end by themselves
				var lost *workloads.ServiceLost
				if is := errors.As(err, &lost); is != (length > life) || err != nil && !is {
					t.Fatalf("%v; the service is gone is %v, want %v", err, is, length > life)
				}
				if record == nil || record.Rounds == 0 {
					t.Error("nothing is left of what was measured")
				}
				if most := life + time.Second + 500*time.Millisecond + laps; lost != nil && took > most {
					t.Errorf("the run ended %v after its service hung, want %v at most", took, most)
				}
			})
		})
	}
}

// TestAnInterruptedRunLeavesASilentService has a service that answers nothing any more, and accepts connections. The run
// says for how long requests are unanswered, and if it is interrupted then, it ends within two seconds and some tries.
func TestAnInterruptedRunLeavesASilentService(t *testing.T) {
	const silent = 5 * time.Second // after the start
	mix := workloads.MixSettings{Reads: 0.5, Keys: 10}
	for name, plan := range map[string]func(drivers.Service) workloads.Plan{
		"lock": func(s drivers.Service) workloads.Plan { return runtest.LockPlan(s, runtest.Predecessor) },
		"mix":  func(s drivers.Service) workloads.Plan { return runtest.MixPlan(s, mix) },
		"open mix": func(s drivers.Service) workloads.Plan {
			p := runtest.MixPlan(s, mix)
			p.Open = openloop.Options{Rate: openloop.PerSecond(100)}
			return p
		},
		"background": func(s drivers.Service) workloads.Plan {
			p := runtest.LockPlan(s, runtest.Predecessor)
			p.Background = load.Background(2, 50, mix)
			return p
		},
		"beside at=1s delay clients=all by=1ms": func(s drivers.Service) workloads.Plan { return runtest.LockPlan(s, runtest.Predecessor) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				r := &relay{server: server.New(server.Options{Tick: 500 * time.Millisecond}), delay: replyTime, conns: map[net.Conn]net.Conn{}}
				defer r.server.Close()
				s, err := lean.New(ensemble.Config{Servers: []string{"relay"}, Dial: r.dial})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				ctx, interrupt := context.WithCancel(t.Context())
				p := plan(s)
				if fault, beside := strings.CutPrefix(name, "beside "); beside { // which does not explain the silence
					p.Faults = broken(t, s, runtest.Predecessor, fault).Faults
				}
				p.Warmup, p.Duration = time.Second, time.Minute
				hangs := time.Now().Add(silent)
				r.disturb(hangs, time.Hour)
				var ended time.Time
				p.Progress = func(now workloads.Progress) {
					switch {
					case time.Now().Before(hangs) && now.Unanswered >= 500*time.Millisecond:
						t.Errorf("unanswered for %v, while the service answers", now.Unanswered)
					case now.Unanswered >= time.Second && ended.IsZero():
						ended = time.Now()
						interrupt()
					}
				}
				_, err = workloads.Run(ctx, p)
				if !errors.Is(err, workloads.ErrInterrupted) {
					t.Errorf("the run ended with %v", err)
				}
				if took := ended.Sub(hangs); took < time.Second || took > 2*time.Second {
					t.Errorf("requests are unanswered for a second %v after the service hung", took)
				}
				if took := time.Since(ended); took > 3*time.Second {
					t.Errorf("it took %v to end the interrupted run", took)
				}
				time.Sleep(2 * time.Hour) // sessions end by themselves
			})
		})
	}
}

// TestLongHoldsAreNoSilence has a run in which no round ends for seconds, since a client holds the lock.
func TestLongHoldsAreNoSilence(t *testing.T) {
	inRelay(t, replyTime, 0, func(t *testing.T, s drivers.Service, _ *relay) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		p.Settings.Hold, p.Duration = 4*time.Second, 20*time.Second
		p.Progress = func(now workloads.Progress) {
			if now.Unanswered >= 500*time.Millisecond {
				t.Errorf("unanswered for %v at %v", now.Unanswered, now.Elapsed)
			}
		}
		runtest.Measure(t, p)
	})
}
