package cli

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/results/units"
)

// Counted returns "1 node" or "2 nodes".
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return units.Count(int64(n)) + " " + noun
}

// Age formats a duration in its largest unit: "2 h".
func Age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
