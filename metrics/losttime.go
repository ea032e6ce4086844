package metrics

import "time"

// The numbers of a warning about a generator or a machine short of processor time that say how far measured times
// can be wrong: they are at most too long by this share of them and this time. Without the two nobody knows how far.
const (
	LostShare   = "lost_share"  // of the window: a program of the run was ready and had no processor
	LongestLate = "late_max_ns" // the longest that a timer of the generator was late
)

// LostTime returns how far measured times can be wrong at most: for which share of the window threads of the generator
// and of its service waited for a processor, processors were taken away, or timers were at least so late, as when the
// process is stopped; and the longest that a timer was late. It returns nothing where that is not known.
func (g Generator) LostTime(late time.Duration) Numbers {
	c := g.Machine
	if c == nil || c.Kept == nil || g.Lag == nil || g.Lag.TotalCount() == 0 {
		return nil
	}
	stopped := int64(0)
	for _, bar := range g.Lag.Distribution() {
		if bar.From >= int64(late) {
			stopped += bar.Count
		}
	}
	share := *c.Kept + c.Stolen + float64(stopped)/float64(g.Lag.TotalCount())
	return Numbers{LostShare: min(share, 1), LongestLate: float64(g.Lag.Max())}
}
