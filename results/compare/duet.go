package compare

import (
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// mostApart is how far apart the windows of a pair of a duet may open, as a share of the window.
const mostApart = 0.1

// Apart warns about pairs of a duet whose windows opened too far apart. It returns nil if there are none.
func Apart(d results.Duet, window time.Duration) []results.Warning {
	limit := time.Duration(mostApart * float64(window))
	n, most := 0, time.Duration(0)
	for _, p := range d.Pairs {
		if p.ApartNS > limit {
			n, most = n+1, max(most, p.ApartNS)
		}
	}
	if n == 0 {
		return nil
	}
	return []results.Warning{results.WarningOf(metrics.Warning{Code: results.WindowsApart, Numbers: metrics.Numbers{
		"apart": float64(n), "pairs": float64(len(d.Pairs)), "limit_share": mostApart, "most_ns": float64(most)}})}
}
