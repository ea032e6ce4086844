package metrics

import "fmt"

// Identities returns an error if the record violates an identity that holds for every run: each
// offered arrival was completed, failed, skipped or unfinished, and no more turns were in
// progress than there are clients. A violation is a defect of stampede.
func (r *Record) Identities() error {
	g, l := r.Generator, r.Little
	switch {
	case g.Unaccounted() != 0:
		return fmt.Errorf("arrivals do not add up: %d offered, but %d completed, %d failed, %d skipped and %d unfinished",
			g.Offered, g.Completed, g.Failed, g.Skipped, g.Unfinished)
	case g.Offered == 0 && (g.Overdue > g.Unfinished || g.Unfinished == 0 && g.Oldest > 0):
		return fmt.Errorf("turns do not add up: %d overdue of %d in progress, the oldest for %v", g.Overdue, g.Unfinished, g.Oldest)
	case l != nil && !(l.InProgress >= 0 && l.InProgress <= float64(l.Most)*(1+rounding)):
		return fmt.Errorf("%v turns of %d clients were in progress on average", l.InProgress, l.Most)
	case l != nil && g.Offered > 0:
		return fmt.Errorf("an open loop of %d arrivals was checked by Little's law as a closed one", g.Offered)
	}
	if r.Background == nil {
		return nil
	}
	if err := r.Background.Identities(); err != nil {
		return fmt.Errorf("background: %w", err)
	}
	return nil
}

// rounding is the relative error allowed in sums of floating-point numbers.
const rounding = 1e-6
