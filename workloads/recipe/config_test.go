package recipe_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func runConfig(t *testing.T, s drivers.Service, open func(c drivers.Conn, path string) recipe.Config) *metrics.Record {
	t.Helper()
	return runtest.Measure(t, workloads.Plan{Service: s, Clients: 5,
		Form:     workloads.Form{Recipe: "config", Name: "test", Family: workloads.Recipe, New: recipe.Configs(open)},
		Settings: workloads.Settings{Think: time.Millisecond}, Warmup: between, Duration: 100 * time.Millisecond, Seed: 1})
}

// TestConfigRounds checks that a round is one change that all clients see: each is woken once and
// reads once.
func TestConfigRounds(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runConfig(t, s, func(c drivers.Conn, path string) recipe.Config { return recipes.NewConfig(c, path) })
		if n := r.WholeRounds; n < 99 || r.Whole.Writes != n || r.Whole.Notifications != 5*n || r.Whole.Reads != 5*(1+n) {
			t.Errorf("%d rounds with %d writes, %d notifications and %d reads; want about 100, and 1, 5 and 5 each",
				n, r.Whole.Writes, r.Whole.Notifications, r.Whole.Reads)
		}
		if r.Safety.Violations != 0 || r.Safety.Checked != 5*(1+r.WholeRounds) {
			t.Errorf("%+v; want every sight checked and no violation", r.Safety)
		}
		if r.Herd.Largest != 5 || r.Whole.Wasted != 0 {
			t.Errorf("a change woke %d, %d of them wasted; want 5 and none", r.Herd.Largest, r.Whole.Wasted)
		}
		if len(r.Phases) != 2 || r.Phases[0].Service.TotalCount() < 5*99 || r.Phases[1].Service.TotalCount() != r.Rounds {
			t.Errorf("phases %v", r.Phases)
		}
	})
}

func TestConfigSurvivesLostSessions(t *testing.T) {
	surviveLostSessions(t, func(t *testing.T, s drivers.Service, breaks func() bool) *metrics.Record {
		return runConfig(t, s, func(c drivers.Conn, path string) recipe.Config {
			return fragile{recipes.NewConfig(c, path), c, breaks()}
		})
	})
}

// surviveLostSessions checks runs in which the first client, which changes what others follow, or the fourth, which follows
// it, loses its session. breaks says of each client whether it is the one.
func surviveLostSessions(t *testing.T, run func(t *testing.T, s drivers.Service, breaks func() bool) *metrics.Record) {
	for name, loser := range map[string]int64{"of one who changes": 1, "of one who follows": 4} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				var opened atomic.Int64
				r := run(t, s, func() bool { return opened.Add(1) == loser })
				if n := r.Errors[drivers.ErrSessionLost.Error()]; n != 1 {
					t.Errorf("%d lost sessions counted, want 1", n)
				}
				if r.Safety.Violations != 0 || r.WholeRounds < 50 {
					t.Errorf("%d rounds, %q; want the others to go on, without a violation", r.WholeRounds, r.Safety.Details)
				}
			})
		})
	}
}

// wantCaught checks that a run of a mutant has a violation.
func wantCaught(t *testing.T, mutant string, run func(t *testing.T, s drivers.Service) *metrics.Record) {
	t.Run(mutant, func(t *testing.T) {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			if run(t, s).Safety.Violations == 0 {
				t.Error("no violation was found")
			}
		})
	})
}

// A fragile config loses its session at the tenth change.
type fragile struct {
	*recipes.Config
	conn   drivers.Conn
	breaks bool
}

func (c fragile) Follow(ctx context.Context, see func([]byte)) error {
	return c.Config.Follow(ctx, func(value []byte) {
		if c.breaks && string(value) == "10" {
			c.conn.Close()
		}
		see(value)
	})
}

func TestABrokenConfigIsAViolation(t *testing.T) {
	for name, show := range map[string]func(see func([]byte)) func([]byte){
		"stops looking": func(see func([]byte)) func([]byte) {
			left := 20
			return func(value []byte) {
				if left--; left >= 0 {
					see(value)
				}
			}
		},
		"shows what is old": func(see func([]byte)) func([]byte) {
			return func(value []byte) {
				see(value)
				see([]byte("0"))
				see(value)
			}
		},
		"shows what it guesses": func(see func([]byte)) func([]byte) {
			return func(value []byte) { see(append(value, '0')) }
		},
	} {
		wantCaught(t, name, func(t *testing.T, s drivers.Service) *metrics.Record {
			return runConfig(t, s, func(c drivers.Conn, path string) recipe.Config {
				return distorted{recipes.NewConfig(c, path), show}
			})
		})
	}
}

// A distorted config shows other values than the node's.
type distorted struct {
	*recipes.Config
	show func(see func([]byte)) func([]byte)
}

func (c distorted) Follow(ctx context.Context, see func([]byte)) error {
	return c.Config.Follow(ctx, c.show(see))
}

// TestClosedLoopsRespondAsTheyServe checks that in a closed loop an update is due when it is
// requested, and not when the turn began in which its client waited for the others.
func TestClosedLoopsRespondAsTheyServe(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := runtest.Measure(t, workloads.Plan{Service: runtest.Slow(s), Clients: 5,
			Form: workloads.Form{Recipe: "config", Name: "test", Family: workloads.Recipe,
				New: recipe.Configs(func(c drivers.Conn, path string) recipe.Config { return recipes.NewConfig(c, path) })},
			Warmup: between, Duration: 100 * time.Millisecond, Seed: 1})
		for _, p := range r.Phases {
			if service, response := p.Service.Max(), p.Response.Max(); service != response || p.Service.TotalCount() == 0 {
				t.Errorf("%s: up to %v of service, %v of response", p.Name, time.Duration(service), time.Duration(response))
			}
		}
	})
}
