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

// deleteHolders deletes the node of the client that holds the lock of the only run.
func deleteHolder(t *testing.T, s drivers.Service) {
	c, err := s.Dial(context.Background(), drivers.Options{})
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	found, err := namespace.Clean(context.Background(), c, namespace.Default, true)
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v; want one run", found, err)
		return
	}
	lock := found[0].Path + "/lock"
	queue, err := c.Children(context.Background(), lock, nil)
	if err != nil || len(queue) == 0 {
		t.Errorf("the queue is %v, %v", queue, err)
		return
	}
	first := slices.MinFunc(queue, func(a, b drivers.Child) int { return int(a.Seq - b.Seq) })
	if err := c.Delete(context.Background(), lock+"/"+first.Name, drivers.AnyVersion); err != nil {
		t.Error(err)
	}
}

// TestAFormsErrorDoesNotHideAViolation has another program delete the node of a holder, so that two clients hold, and
// the first one fails to release. The run has found the violation, and says why it ended.
func TestAFormsErrorDoesNotHideAViolation(t *testing.T) {
	for when, after := range map[string]time.Duration{"in the window": 4500 * time.Millisecond, "in the warm-up": 1500 * time.Millisecond} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			p := runtest.LockPlan(s, runtest.Predecessor)
			p.Settings.Hold, p.Warmup, p.Duration = time.Second, 2500*time.Millisecond, time.Hour
			time.AfterFunc(after, func() { deleteHolder(t, s) })
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
