package load_test

import (
	"context"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func storm(t *testing.T, s drivers.Service, storm load.Storm, clients int, hold time.Duration) *metrics.Record {
	t.Helper()
	return runtest.Measure(t, workloads.Plan{Service: s, Clients: clients, Rounds: 5,
		Form:     workloads.Form{Recipe: "sessions", Name: "test", Family: workloads.Load, New: load.Sessions(storm)},
		Settings: workloads.Settings{Hold: hold}})
}

// TestStorms checks that every storm hits every session in every round, and that the service
// answers an ordinary client before the storm and during it.
func TestStorms(t *testing.T) {
	for name, what := range map[string]load.Storm{
		"connect": load.ConnectStorm(), "reconnect": load.ReconnectStorm(),
		"expire": load.ExpiryStorm(), "idle": load.NoStorm(),
	} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				r := storm(t, s, what, 8, time.Millisecond)
				if r.Rounds < 5 || r.Safety.Violations > 0 || r.Safety.Checked < r.Rounds {
					t.Errorf("%d rounds, %+v", r.Rounds, r.Safety)
				}
				back, over, ordinary, calm := r.Phases[0].Service, r.Phases[1].Service, r.Phases[2].Service, r.Phases[3].Service
				if back.TotalCount() < 8*over.TotalCount() || ordinary.TotalCount() < r.Rounds || calm.TotalCount() < r.Rounds {
					t.Errorf("%d were back in %d rounds, with %d and %d writes of the ordinary client", back.TotalCount(),
						over.TotalCount(), calm.TotalCount(), ordinary.TotalCount())
				}
				if back.Max() > over.Max() {
					t.Errorf("a client was back after %v, but the storm was over after %v", time.Duration(back.Max()), time.Duration(over.Max()))
				}
				if r.Sessions != (metrics.Sessions{}) {
					t.Errorf("%+v; want none that the storm did not mean", r.Sessions)
				}
				if cuts := r.Whole.Cuts > 0; cuts != (name == "reconnect" || name == "expire") {
					t.Errorf("%d connections broke", r.Whole.Cuts)
				}
			})
		})
	}
}

// TestStormNoticesWhatIsLeft checks that a node that outlives its session is reported.
func TestStormNoticesWhatIsLeft(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		lasting := load.ExpiryStorm()
		lasting.Prepare = func(ctx context.Context, s *workloads.Slot, path string) error {
			_, err := s.Conn.Create(ctx, path+"/stays", nil, 0)
			return err
		}
		if r := storm(t, s, lasting, 1, 0); r.Safety.Violations < r.Rounds {
			t.Errorf("%+v in %d rounds, want one in each", r.Safety, r.Rounds)
		}
	})
}

// TestStormOutlivesTheOrdinaryClient checks that the ordinary client may lose its session too: it
// continues with a new one, and the storm goes through.
func TestStormOutlivesTheOrdinaryClient(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		struck := load.NoStorm()
		storms := 0
		struck.Outcome = func(ctx context.Context, c drivers.Conn, path string) (string, error) {
			if storms++; storms == 4 { // in the window
				if err := s.(drivers.Expirer).Expire(ctx, c); err != nil {
					return "", err
				}
				<-c.Done()
			}
			_, _, err := c.Exists(ctx, path, nil)
			return "", err
		}
		r := storm(t, s, struck, 3, time.Millisecond)
		if n := r.Errors[drivers.ErrSessionLost.Error()]; n != 1 || r.Rounds < 5 || r.Safety.Violations > 0 {
			t.Errorf("%d sessions lost, %d rounds, %+v", n, r.Rounds, r.Safety)
		}
	})
}

// TestStormsCountWritesThatWereNotMade checks that the ordinary client makes one write at a time.
// Writes that become due during a slow one count as omitted and do not add to its time.
func TestStormsCountWritesThatWereNotMade(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		slow := load.NoStorm()
		slow.Hit = func(ctx context.Context, _ *workloads.Slot, _ string) error {
			time.Sleep(100 * time.Millisecond)
			return nil
		}
		held := runtest.Hooked(s, func(c drivers.Conn) drivers.Conn { return slowSets{c} })
		r := storm(t, held, slow, 2, 50*time.Millisecond)
		ordinary := r.Phases[2].Service
		if mean := time.Duration(ordinary.Mean()); mean < 39*time.Millisecond || mean > 41*time.Millisecond {
			t.Errorf("an ordinary write takes %v, want 40ms", mean)
		}
		// Each storm of 100 ms has time for three writes, the first three that were due.
		if w := r.Storm; w.Made != ordinary.TotalCount() || w.Omitted < 110*w.Made/3 || w.Omitted > 120*w.Made/3 {
			t.Errorf("%+v with %d writes in %d storms", *w, ordinary.TotalCount(), r.Rounds)
		}
	})
}

// slowSets takes 40 ms for each set.
type slowSets struct{ drivers.Conn }

func (s slowSets) Set(ctx context.Context, path string, data []byte, version int32) (drivers.Stat, error) {
	time.Sleep(40 * time.Millisecond)
	return s.Conn.Set(ctx, path, data, version)
}

func (s slowSets) Flush(ctx context.Context) error { return s.Conn.(drivers.Flusher).Flush(ctx) }
