package workloads_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// broken returns a plan with these faults.
func broken(t *testing.T, s drivers.Service, open func(c drivers.Conn, path string) recipe.Lock, lines ...string) workloads.Plan {
	t.Helper()
	p := runtest.LockPlan(s, open)
	p.Warmup, p.Duration = time.Second, 40*time.Second
	p.Settings.Hold = 20 * time.Millisecond
	for _, line := range lines {
		fault, err := faults.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		p.Faults = append(p.Faults, fault)
	}
	return p
}

func ran(t *testing.T, p workloads.Plan) *metrics.Record {
	t.Helper()
	r := runtest.Measure(t, p)
	wantSafe(t, r)
	return r
}

func wantSafe(t *testing.T, r *metrics.Record) {
	t.Helper()
	if r.Safety.Violations > 0 {
		t.Errorf("%+v", r.Safety)
	}
}

// TestZombieHolder stops a holder for longer than its session lasts. It still believes that it
// holds while the next client does. The run must report that, and the older token must be refused.
// It is no violation. A form without tokens has nothing to refuse.
func TestZombieHolder(t *testing.T) {
	for name, open := range map[string]func(c drivers.Conn, path string) recipe.Lock{"predecessor": runtest.Predecessor, "one-node": oneNode} {
		t.Run(name, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				r := ran(t, broken(t, s, open, "at=5005ms freeze holder for=20s"))
				refused := map[string]int64{"predecessor": 1}[name]
				if r.Safety.BeliefOverlaps != 1 || r.Safety.TokensRefused != refused {
					t.Errorf("%d overlaps, %d tokens refused; want 1 and %d: %q", r.Safety.BeliefOverlaps, r.Safety.TokensRefused, refused, r.Safety.Details)
				}
				if len(r.Breaks) != 2 || !strings.HasPrefix(r.Breaks[0].What, "freeze client ") || !strings.HasSuffix(r.Breaks[1].What, ", the holder") ||
					r.Breaks[1].At-r.Breaks[0].At != 20*time.Second {
					t.Errorf("%+v", r.Breaks)
				}
			})
		})
	}
}

// TestRecoveryFromAHolderThatIsGone checks that the others wait until the session of a holder that
// is gone has ended, and no longer.
func TestRecoveryFromAHolderThatIsGone(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		r := ran(t, broken(t, s, runtest.Predecessor, "at=5005ms freeze holder for=20s"))
		if len(r.Recoveries) != 1 {
			t.Fatalf("%+v", r.Recoveries)
		}
		got := r.Recoveries[0]
		if timeout := drivers.DefaultSessionTimeout; got.Effect != metrics.Outage || *got.Pause < timeout-5*time.Second || *got.Pause > timeout+2*time.Second ||
			got.Served == nil || *got.Served > *got.Pause || got.Back == nil || *got.Back < *got.Served {
			t.Errorf("%s", told(got))
		}
		if *got.Noticed < 20*time.Second || *got.Noticed > 21*time.Second {
			t.Errorf("a client that is frozen for 20 s is notified after %v", *got.Noticed)
		}
		if got.Lost != 0 || got.GivenUp != 1 || got.Disconnected != 1 || got.Usual > 100*time.Millisecond || *got.LongestStall < 20*time.Second || got.Before < 45 || got.Before > 50 {
			t.Errorf("%s", told(got))
		}
	})
}

func told(r metrics.Recovery) string {
	moment := func(d *time.Duration) string {
		if d == nil {
			return "never"
		}
		return d.String()
	}
	return fmt.Sprintf("%+v: noticed %s, reconnected %s, served %s, back %s", r, moment(r.Noticed), moment(r.Reconnected), moment(r.Served), moment(r.Back))
}

// TestFaultsOfClients checks that a lock survives every fault that targets clients, and that the
// recovery shows that the fault took effect.
func TestFaultsOfClients(t *testing.T) {
	for line, happened := range map[string]func(r metrics.Recovery) bool{
		"at=5s cut clients=all": func(r metrics.Recovery) bool { return r.Disconnected == 5 && r.Lost == 0 && r.Counts.Rearms > 0 },
		"at=5s expire clients=all": func(r metrics.Recovery) bool {
			return r.Lost == 5 && r.GivenUp == 0 && r.Errors[drivers.ErrSessionLost.Error()] == 5
		},
		"at=5s expire holder":                      func(r metrics.Recovery) bool { return r.Lost == 1 && r.Noticed != nil && r.Reconnected != nil },
		"at=5s lose client=2 reply=create":         func(r metrics.Recovery) bool { return r.Disconnected == 1 && r.Lost == 0 },
		"at=5s silence clients=all for=5s":         func(r metrics.Recovery) bool { return *r.Pause >= 5*time.Second && *r.Served >= 5*time.Second },
		"at=5s silence clients=all for=30s":        func(r metrics.Recovery) bool { return r.GivenUp == 5 && r.Lost == 0 && r.Disconnected == 5 },
		"at=30s silence clients=all":               func(r metrics.Recovery) bool { return r.Served == nil && *r.Pause > 9*time.Second },
		"at=5s delay clients=all by=100ms for=10s": func(r metrics.Recovery) bool { return r.After < 0.9*r.Before && *r.Back > 9*time.Second },
		"at=5s throttle clients=all to=1k for=10s": func(r metrics.Recovery) bool { return r.After < 0.9*r.Before && *r.Back > 9*time.Second },
		"at=5s restore clients=all":                func(r metrics.Recovery) bool { return r.Effect == metrics.NoEffect && r.Served == nil && r.Back == nil },
		"at=5s freeze clients=all, thaw after=2s":  func(r metrics.Recovery) bool { return *r.Pause >= 2*time.Second && r.Lost == 0 },
	} {
		t.Run(line, func(t *testing.T) {
			runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
				r := ran(t, broken(t, s, runtest.Predecessor, line))
				if len(r.Recoveries) != 1 || !happened(r.Recoveries[0]) {
					t.Errorf("%q, %s", r.Breaks, told(r.Recoveries[0]))
				}
			})
		})
	}
}

// TestFaultsThatCannotBe checks that a run with an impossible fault ends before it begins.
func TestFaultsThatCannotBe(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		for _, line := range []string{"at=5s kill leader for=1s", "at=5s cut client=6", "at=41s cut client=1"} {
			if _, err := workloads.Run(t.Context(), broken(t, s, runtest.Predecessor, line)); err == nil || !strings.HasPrefix(err.Error(), `fault "`+line[:10]) {
				t.Errorf("%s: %v", line, err)
			}
		}
	})
}
