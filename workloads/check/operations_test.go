package check

import (
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestAStepHasItsOwnTime records steps long after they happened, as on a machine that stops the process in
// between. A clock of the run that is read after the wait would make a step that is seen earlier than the step
// that caused it, or later.
func TestAStepHasItsOwnTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		origin := time.Now()
		steps := KeepSteps(func(at time.Time) time.Duration {
			time.Sleep(time.Second)
			return at.Sub(origin)
		})
		time.Sleep(time.Minute)
		happened := time.Now()
		time.Sleep(time.Hour)
		steps.RecordAt(happened, Step{Kind: Passed})
		steps.Record(Step{Kind: Left})
		all := steps.All()
		if got, want := all[0].At, time.Minute; got != want {
			t.Errorf("the step that happened after %v has the time %v", want, got)
		}
		if got, want := all[1].At, time.Hour+time.Minute+time.Second; got != want {
			t.Errorf("the step recorded after %v has the time %v", want, got)
		}
	})
}
