package workloads_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestAFormsErrorDoesNotHideAViolation has another program delete the node of a holder, so that two clients hold, and
// the first one fails to release. The run has found the violation, and says why it ended.
func TestAFormsErrorDoesNotHideAViolation(t *testing.T) {
	for when, after := range map[string]time.Duration{"in the window": 4500 * time.Millisecond, "in the warm-up": 1500 * time.Millisecond} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			p := runtest.LockPlan(s, runtest.Predecessor)
			p.Settings.Hold, p.Warmup, p.Duration = time.Second, 2500*time.Millisecond, time.Hour
			time.AfterFunc(after, func() {
				if err := runtest.DeleteHolder(context.Background(), s, namespace.Default); err != nil {
					t.Error(err)
				}
			})
			r, err := workloads.Run(t.Context(), p)
			if err != nil || r.Safety.Violations != 1 || r.Duration > 10*time.Second {
				t.Fatalf("%s: %v; %+v in %v, want one violation in seconds", when, err, r.Safety, r.Duration)
			}
			ended := func(d string) bool {
				return strings.HasPrefix(d, "the run ended early: client ") && strings.Contains(d, "release")
			}
			if !slices.ContainsFunc(r.Safety.Details, ended) {
				t.Errorf("%s: details %q, want why the run ended", when, r.Safety.Details)
			}
		})
	}
}
