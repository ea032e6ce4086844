package workloads_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestLiveTellsWhatWasMeasuredSoFar checks that an observer of a run in progress sees everything
// that has happened, and never less than before.
func TestLiveTellsWhatWasMeasuredSoFar(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.LockPlan(s, runtest.Predecessor)
		var seen []metrics.Record
		var live *workloads.Live
		looked := make(chan struct{})
		p.Watch = func(l *workloads.Live) {
			live = l
			go func() {
				defer close(looked)
				for range 3 {
					time.Sleep(p.Duration/4 + 1)
					synctest.Wait()
					seen = append(seen, l.SoFar())
				}
			}()
		}
		r := runtest.Measure(t, p)
		<-looked
		seen = append(seen, live.SoFar())
		for i, now := range seen {
			share := min(time.Duration(i+1)*(p.Duration/4+1), r.Duration)
			if i == 3 {
				share = r.Duration
			}
			if now.Duration != share || now.Rounds < r.Rounds*int64(i)/4 || now.Rounds > r.Rounds {
				t.Errorf("after %v: %v and %d rounds of %d", share, now.Duration, now.Rounds, r.Rounds)
			}
			if now.Phases[0].Service.TotalCount() < now.Rounds || now.Counts.Writes < 2*now.Rounds-int64(p.Clients) || now.Herd.Notifications > now.Counts.Notifications {
				t.Errorf("after %v: %d acquisitions, %+v, %+v", share, now.Phases[0].Service.TotalCount(), now.Counts, now.Herd)
			}
			if i > 0 && (now.Rounds <= seen[i-1].Rounds || now.Counts.Reads <= seen[i-1].Counts.Reads) {
				t.Errorf("after %v no more than before", share)
			}
			if i < 3 && (now.Generator.Lag == nil || now.Generator.Lag.TotalCount() != int64(share/(10*time.Millisecond))) {
				t.Errorf("after %v: timers %+v, want one each 10 ms", share, now.Generator.Lag)
			}
			if want := int(share / (250 * time.Millisecond)); i < 3 && len(now.Intervals) != want {
				t.Errorf("after %v: %d intervals, want %d", share, len(now.Intervals), want)
			}
		}
		if last := seen[3]; last.Rounds != r.Rounds || last.Counts != r.Counts {
			t.Errorf("in the end %d rounds, %+v; the record says %d, %+v", last.Rounds, last.Counts, r.Rounds, r.Counts)
		}
	})
}

// TestLiveTellsOfOpenLoopsAndBackgrounds checks that no reported value decreases with an open loop
// and a background either, also while work that was due in the window is completed.
func TestLiveTellsOfOpenLoopsAndBackgrounds(t *testing.T) {
	for name, rate := range map[string]float64{"closed background": 0, "open background": 200} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				p := runtest.LockPlan(runtest.Hooked(s, func(c drivers.Conn) drivers.Conn { return unhurried{c} }), runtest.Predecessor)
				p.Settings.Hold = 10 * time.Millisecond
				p.Open = openloop.Options{Rate: openloop.PerSecond(200)}
				p.Background = background()
				p.Background.Rate, p.Background.Mix.Reads = rate, 1
				var seen []metrics.Record
				over := make(chan struct{})
				p.Watch = func(l *workloads.Live) {
					go func() {
						for {
							select {
							case <-over:
								return
							case <-time.After(p.Duration / 20):
								seen = append(seen, l.SoFar())
							}
						}
					}()
				}
				r := runtest.Measure(t, p)
				close(over)
				synctest.Wait()
				behind := false
				for i, now := range append(seen, *r) {
					behind = behind || now.Generator.Waiting > 0 && now.Generator.Behind > 0
					if i > 0 {
						neverLess(t, seen[i-1], now)
						neverLess(t, *seen[i-1].Background, *now.Background)
					}
				}
				if !behind {
					t.Error("no traced write left a client waiting")
				}
			})
		})
	}
}

// An unhurried session takes a millisecond for each read, so that time passes in a closed loop.
type unhurried struct{ drivers.Conn }

func (u unhurried) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	time.Sleep(time.Millisecond)
	return u.Conn.Get(ctx, path, w)
}

func (u unhurried) Flush(ctx context.Context) error { return u.Conn.(drivers.Flusher).Flush(ctx) }

func neverLess(t *testing.T, was, is metrics.Record) {
	t.Helper()
	a, b := was.Generator, is.Generator
	if is.Counts.Reads < was.Counts.Reads || is.Counts.BytesIn < was.Counts.BytesIn || is.Duration < was.Duration ||
		b.Offered < a.Offered || b.Late < a.Late || b.Skipped < a.Skipped {
		t.Errorf("%+v, %+v after %+v, %+v", is.Counts, b, was.Counts, a)
	}
	for i, p := range was.Phases {
		if p.Service.TotalCount() > is.Phases[i].Service.TotalCount() {
			t.Errorf("%s: %d after %d", p.Name, is.Phases[i].Service.TotalCount(), p.Service.TotalCount())
		}
	}
}

// TestLiveFollowsARelease checks which clients one release wakes: in the recipe the next client,
// which makes progress; in the naive form all others, of which at most one makes progress.
func TestLiveFollowsARelease(t *testing.T) {
	for name, c := range map[string]struct {
		open  func(drivers.Conn, string) recipe.Lock
		woken int
	}{"recipe": {runtest.Predecessor, 1}, "naive": {oneNode, 4}} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				p := runtest.LockPlan(s, c.open)
				p.Watch = func(l *workloads.Live) {
					l.Follow()
					go func() {
						time.Sleep(p.Duration / 2)
						synctest.Wait()
						wantRelease(t, l, c.woken)
						l.Unfollow()
						if slots, _, _ := l.Woken(); slices.Max(slots) != fanout.NotNotified {
							t.Errorf("follows still: %v", slots)
						}
					}()
				}
				if _, err := workloads.Run(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func wantRelease(t *testing.T, l *workloads.Live, woken int) {
	t.Helper()
	outcomes := map[fanout.Outcome]int{}
	slots, _, _ := l.Woken()
	for _, f := range slots {
		outcomes[f]++
	}
	// In the naive form a client that was not woken may have been the fastest.
	if outcomes[fanout.NotNotified] != 5-woken || outcomes[fanout.Wasted] < woken-1 || outcomes[fanout.Useful]+outcomes[fanout.Wasted] != woken {
		t.Errorf("outcomes %v, want %d woken, one of which proceeds", outcomes, woken)
	}
}
