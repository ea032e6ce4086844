package recipe_test

import (
	"context"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/costmodel"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func runMirror(t *testing.T, s drivers.Service, open func(c drivers.Conn, path string) recipe.Mirror) *metrics.Record {
	t.Helper()
	return runtest.Measure(t, workloads.Plan{Service: s, Clients: 5,
		Form:     workloads.Form{Recipe: "mirror", Name: "test", Family: workloads.Recipe, New: recipe.Mirrors(open)},
		Settings: workloads.Settings{Think: time.Millisecond}, Warmup: between, Duration: 90 * time.Millisecond, Seed: 1})
}

// TestMirrorRounds checks that a round is one change that all copies show: in three rounds a node is
// set, another one created, and that one deleted.
func TestMirrorRounds(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runMirror(t, s, func(c drivers.Conn, path string) recipe.Mirror { return recipes.NewMirror(c, path) })
		n := r.WholeRounds
		created, deleted := (n+1)/3, n/3
		if n < 80 || r.Whole.Writes != n || r.Whole.Notifications != 5*(n+deleted) ||
			r.Whole.Reads != 5*(costmodel.MirrorNodes+1+n+created+deleted) {
			t.Errorf("%d rounds with %d writes, %d notifications and %d reads; want about 90, and 1, 5 and 5 each, and 5 more if a node is created or deleted",
				n, r.Whole.Writes, r.Whole.Notifications, r.Whole.Reads)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked < 5*(costmodel.MirrorNodes+n) {
			t.Errorf("%+v; want every sight checked and no violation", r.Safety)
		}
		if r.Herd.Largest != 5 {
			t.Errorf("a change woke %d clients, want all, each once", r.Herd.Largest)
		}
	})
}

func TestMirrorSurvivesLostSessions(t *testing.T) {
	surviveLostSessions(t, func(t *testing.T, s drivers.Service, breaks func() bool) *metrics.Record {
		return runMirror(t, s, func(c drivers.Conn, path string) recipe.Mirror {
			return brittle{recipes.NewMirror(c, path), c, breaks()}
		})
	})
}

// A brittle mirror loses its session at the first deletion.
type brittle struct {
	*recipes.Mirror
	conn   drivers.Conn
	breaks bool
}

func (m brittle) Follow(ctx context.Context, see func(name string, data []byte, stat drivers.Stat)) error {
	return m.Mirror.Follow(ctx, func(name string, data []byte, stat drivers.Stat) {
		if m.breaks && stat == (drivers.Stat{}) {
			m.conn.Close()
		}
		see(name, data, stat)
	})
}

// A copy that is wrong is a violation, or keeps its round from ending, which is one too.
func TestABrokenMirrorIsAViolation(t *testing.T) {
	type seeing = func(name string, data []byte, stat drivers.Stat)
	for name, show := range map[string]func(see seeing) seeing{
		"stops looking": func(see seeing) seeing {
			left := costmodel.MirrorNodes + 10
			return func(name string, data []byte, stat drivers.Stat) {
				if left--; left >= 0 {
					see(name, data, stat)
				}
			}
		},
		"keeps what was deleted": func(see seeing) seeing {
			return func(name string, data []byte, stat drivers.Stat) {
				if stat != (drivers.Stat{}) {
					see(name, data, stat)
				}
			}
		},
		"shows what is old": func(see seeing) seeing {
			return func(name string, data []byte, stat drivers.Stat) {
				see(name, data, stat)
				if name == "node-1" {
					see(name, []byte("0 node-1"), drivers.Stat{Modified: 1})
					see(name, data, stat)
				}
			}
		},
		"mixes nodes up": func(see seeing) seeing {
			return func(name string, data []byte, stat drivers.Stat) {
				if name == "node-1" {
					name = "node-2"
				}
				see(name, data, stat)
			}
		},
		"forgets versions": func(see seeing) seeing {
			return func(name string, data []byte, stat drivers.Stat) {
				stat.Version = 0
				see(name, data, stat)
			}
		},
	} {
		wantCaught(t, name, func(t *testing.T, s drivers.Service) *metrics.Record {
			return runMirror(t, s, func(c drivers.Conn, path string) recipe.Mirror {
				return garbled{recipes.NewMirror(c, path), show}
			})
		})
	}
}

// A garbled mirror shows something else than the tree.
type garbled struct {
	*recipes.Mirror
	show func(see func(name string, data []byte, stat drivers.Stat)) func(name string, data []byte, stat drivers.Stat)
}

func (m garbled) Follow(ctx context.Context, see func(name string, data []byte, stat drivers.Stat)) error {
	return m.Mirror.Follow(ctx, m.show(see))
}
