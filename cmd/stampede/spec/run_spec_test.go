package spec

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stampede-bench/stampede/cmd/stampede/cli"
)

// TestDurationIsExtendedWithinBounds checks that a run is measured until enough rounds have ended,
// within bounds, unless faults are scheduled within its window.
func TestDurationIsExtendedWithinBounds(t *testing.T) {
	for asked, want := range map[string]time.Duration{"50ms": 500 * time.Millisecond, "1.8s": 18 * time.Second, "4s": 30 * time.Second, "1m": time.Minute} {
		p := chosenBy(t, "lock", func(flags *pflag.FlagSet) { cli.Must(flags.Set("duration", asked)) }).plan
		if p.DurationLimit != want || p.LeastRounds != 30 {
			t.Errorf("--duration %s: until %d rounds have ended or %v have passed, want 30 and %v", asked, p.LeastRounds, p.DurationLimit, want)
		}
	}
	broken := chosenBy(t, "lock", func(flags *pflag.FlagSet) { cli.Must(flags.Set("fault", "at=1s cut clients=all")) }).plan
	if broken.LeastRounds != 0 {
		t.Errorf("with a fault: until %d rounds have ended", broken.LeastRounds)
	}
}
