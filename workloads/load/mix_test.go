package load_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/draw"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/runtest"
	"github.com/stampede-bench/stampede/workloads/settled"
)

// TestMix checks that the requests on the wire are those that the mix asks for, one per operation.
func TestMix(t *testing.T) {
	for _, c := range []struct {
		name   string
		mix    workloads.MixSettings
		phases string
		reads  float64 // the resulting share of reads
	}{
		{"reads and writes", workloads.MixSettings{Reads: 0.8, Size: 100}, "read write ", 0.8},
		{"reads", workloads.MixSettings{Reads: 1, Keys: 3}, "read ", 1},
		{"lists", workloads.MixSettings{Reads: 1, Lists: 1, Keys: 250}, "list ", 1},
		{"writes", workloads.MixSettings{KeysBy: draw.Zipfian}, "write ", 0},
		{"all kinds", workloads.MixSettings{Reads: 0.5, Lists: 0.2, Creates: 0.3}, "read list write create delete ", 0.5},
		{"sets and creates that stay", workloads.MixSettings{Creates: 0.6, Grow: true}, "write create ", 0},
		{"creates and deletes", workloads.MixSettings{Creates: 0.5}, "create delete ", 0},
		{"transactions", workloads.MixSettings{Reads: 0.5, Creates: 0.2, Txns: 0.3, SizeBy: draw.Uniform, Size: 100}, "read write create delete transaction ", 0.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				r := runtest.Measure(t, runtest.MixPlan(s, c.mix))
				if r.Rounds != 1500 || r.Mix.Reads+r.Mix.Writes != 1500 || r.Mix.Retries != 0 {
					t.Errorf("%d rounds, %+v; want 5 clients' 300 operations", r.Rounds, *r.Mix)
				}
				if r.Counts.Reads != r.Mix.Reads || r.Counts.Writes != r.Mix.Writes || r.Counts.FailedWrites != 0 {
					t.Errorf("%+v on the wire, %+v operations", r.Counts, *r.Mix)
				}
				if share := float64(r.Mix.Reads) / 1500; share < c.reads-0.05 || share > c.reads+0.05 {
					t.Errorf("%.2f of them read, want %.2f", share, c.reads)
				}
				if got := runtest.PhaseNames(r.Phases); got != c.phases {
					t.Errorf("phases %s, want %s", got, c.phases)
				}
				for _, p := range r.Phases {
					if p.Service.TotalCount() == 0 {
						t.Errorf("there was no %s", p.Name)
					}
				}
				if r.Safety.Violations != 0 || r.Safety.Checked == 0 && c.mix.Creates < 0.5 {
					t.Errorf("%+v", r.Safety)
				}
			})
		})
	}
}

// TestMixOfLargeValues checks that values too large for the service do not keep the run from ending: their writes lose the
// connection, are repeated until then, and are never done.
func TestMixOfLargeValues(t *testing.T) {
	for _, c := range []struct {
		to       int // the smallest is 1 B
		tooLarge bool
	}{{3_000, false}, {2_000_000, true}} {
		lastingInBubble(t, func(t *testing.T, s drivers.Service) {
			p := runtest.MixPlan(s, workloads.MixSettings{Size: c.to, SizeBy: draw.Uniform, Keys: 5})
			p.Warmup, p.Duration = 0, 40*time.Millisecond
			r := runtest.Measure(t, p)
			each := float64(r.Counts.BytesOut) / float64(r.Rounds)
			if lost := r.Sessions.Disconnections > 0; lost != c.tooLarge || r.Rounds == 0 && !lost || r.Counts.FailedWrites != 0 {
				t.Errorf("1 to %d B: %d writes, %d connections lost, %+v on the wire", c.to, r.Rounds, r.Sessions.Disconnections, r.Counts)
			}
			if !c.tooLarge && (each < 1300 || each > 1900) { // a packet has some 60 B more
				t.Errorf("1 to %d B: %.0f B are sent for each", c.to, each)
			}
		})
	}
}

// TestMixRetriesConditionalSets checks that conditional sets that find another version are
// repeated, at the cost of one read each time.
func TestMixRetriesConditionalSets(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, runtest.MixPlan(s, workloads.MixSettings{Conditional: true, Keys: 1}))
		if r.Mix.Retries == 0 || r.Counts.FailedWrites != r.Mix.Retries || r.Counts.Writes != r.Rounds+r.Mix.Retries ||
			r.Counts.Reads != r.Counts.Writes || r.Safety.Violations != 0 {
			t.Errorf("%d sets, %d made again; %+v on the wire; %+v", r.Rounds, r.Mix.Retries, r.Counts, r.Safety)
		}
	})
}

// TestMixWatchers checks that each watching session is notified of every change of the ten keys
// and reads the key again. These reads are not operations.
func TestMixWatchers(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(s, workloads.MixSettings{Keys: 10, Watchers: 3})
		p.Clients = 1 // so that watchers have read again before the next change
		r := runtest.Measure(t, p)
		if r.Rounds != 300 || r.Counts.Notifications != 900 || r.Counts.Reads != 900 || r.Mix.Reads != 0 || r.Herd.Largest != 3 {
			t.Errorf("%d sets, %d notifications and %d reads, fan-out %d; want 300 sets that wake 3 each",
				r.Rounds, r.Counts.Notifications, r.Counts.Reads, r.Herd.Largest)
		}
		if r.Safety.Violations != 0 {
			t.Errorf("%+v", r.Safety)
		}
	})
}

func TestMixInGroups(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(s, workloads.MixSettings{Conditional: true, Keys: 1})
		p.Clients, p.Groups = 6, 3
		r := runtest.Measure(t, p)
		if r.Rounds != 1800 || r.Mix.Retries != r.Counts.FailedWrites || r.Mix.Retries == 0 {
			t.Errorf("%d rounds, %d retries of %d failed writes", r.Rounds, r.Mix.Retries, r.Counts.FailedWrites)
		}
	})
}

// inspected is a mix whose nodes a test looks at when its clients have stopped.
type inspected struct {
	workloads.Workload
	admin drivers.Conn
	base  string
	look  func(ctx context.Context, admin drivers.Conn, base string) error
	err   *error
}

func (c *inspected) Attach(admin drivers.Conn, base string, clients int) {
	c.admin, c.base = admin, base
	c.Workload.Attach(admin, base, clients)
}

func (c *inspected) Verdict() metrics.Safety {
	*c.err = c.look(context.Background(), c.admin, c.base)
	return c.Workload.Verdict()
}

// inspect runs the mix, and looks at its nodes before they are removed.
func inspect(t *testing.T, p workloads.Plan, look func(ctx context.Context, admin drivers.Conn, base string) error) *metrics.Record {
	t.Helper()
	var err error
	p.Form.New = func(s workloads.Settings) workloads.Workload {
		return &inspected{Workload: load.Mixes(s), look: look, err: &err}
	}
	r, failed := workloads.Run(t.Context(), p)
	if err := errors.Join(failed, err); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMixGrows checks that with Grow there is a node for each create that was acknowledged on the wire, and
// that without it there are at most 16 for each client.
func TestMixGrows(t *testing.T) {
	for _, m := range []workloads.MixSettings{{Creates: 1, Grow: true}, {Creates: 0.5}} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			nodes := 0
			r := inspect(t, runtest.MixPlan(s, m), func(ctx context.Context, admin drivers.Conn, base string) error {
				all, err := admin.Children(ctx, base+"/own", nil)
				nodes = len(all)
				return err
			})
			if m.Grow && (int64(nodes) != r.Whole.Writes || r.Whole.Writes != r.WholeRounds || nodes < 1500) || !m.Grow && nodes > 5*16 {
				t.Errorf("%+v: %d nodes after %d writes in %d rounds", m, nodes, r.Whole.Writes, r.WholeRounds)
			}
		})
	}
}

// TestMixInAnOpenLoop checks that operations that arrive at a rate complete at that rate, and that
// their response times begin when they were due.
func TestMixInAnOpenLoop(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(s, workloads.MixSettings{Reads: 0.9, Watchers: 2})
		p.Settings.Think, p.Open = 0, openloop.Options{Rate: openloop.PerSecond(1000)}
		r := runtest.Measure(t, p)
		if g := r.Generator; g.Offered < 299 || g.Offered > 300 || r.Rounds != g.Offered || g.Skipped+g.Unfinished > 0 {
			t.Errorf("%d operations, %+v; want all of 300", r.Rounds, g)
		}
	})
}

// TestMixDoesNotSettle checks that a mix has no settled run: its settings determine its cost.
func TestMixDoesNotSettle(t *testing.T) {
	s, err := backends.InProcess()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := settled.Run(t.Context(), s, runtest.MixPlan(s, workloads.MixSettings{}).Form, 2, workloads.Settings{}); err == nil {
		t.Error("a mix was settled")
	}
}
