package history

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/results/metric"
)

// WriteTable writes the series with its last values as a line of blocks, and its changes.
func (s *Series) WriteTable(w io.Writer) error {
	first, last := s.Points[0], s.Points[len(s.Points)-1]
	results := "results"
	if len(s.Points) == 1 {
		results = "result"
	}
	text := fmt.Sprintf("%s · %s\n  %s\n  %d %s, %s to %s · last %s\n  %s\n", s.Metric.Name, s.Subject, s.Machine, len(s.Points), results,
		first.Time.Format("2006-01-02"), last.Time.Format("2006-01-02"), s.Metric.Format(last.Value), s.blocks())
	changes := s.Analyze()
	for _, c := range changes {
		text += "  " + s.Describe(c) + "\n"
	}
	switch {
	case len(changes) == 0 && !s.Exact() && len(s.Points) < 2*fewest:
		text += fmt.Sprintf("  too few results: a change needs at least %d before it and %d after it\n", fewest, fewest)
	case len(changes) == 0:
		text += "  no change\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// Describe describes a change: "regression −9.8 % from 2026-11-12, result 20261112-…".
func (s *Series) Describe(c Change) string {
	from := s.Points[c.At]
	kind, size := "step", "from 0 to "+s.Metric.Format(from.Value)
	if !math.IsInf(c.Size, 0) {
		size = c.Percent()
	}
	if c.Drift() {
		kind = "drift"
	}
	text := fmt.Sprintf("%s: %s of %s from %s on, result %s", s.Verdict(c), kind, size, from.Time.Format("2006-01-02 15:04"), from.ID)
	if a, accepted := s.Accepted(c); accepted {
		text += ": " + a.Reason
	}
	return text
}

// Verdict returns regression, accepted, improvement, or change if neither direction of the figure is better.
func (s *Series) Verdict(c Change) string {
	_, accepted := s.Accepted(c)
	switch {
	case s.Worse(c) && accepted:
		return "accepted"
	case s.Worse(c):
		return "regression"
	case s.Metric.Better == metric.Neither:
		return "change"
	}
	return "improvement"
}

// Percent returns the size as a signed percentage: "−9.8 %". It is "new" if the value was 0 before.
func (c Change) Percent() string {
	if math.IsInf(c.Size, 0) {
		return "new"
	}
	return strings.ReplaceAll(fmt.Sprintf("%+.1f %%", 100*c.Size), "-", "−")
}

// shown is how many of the last values blocks shows.
const shown = 60

// blocks returns the last values as blocks, the least as the lowest.
func (s *Series) blocks() string {
	const heights = "▁▂▃▄▅▆▇█"
	var values []float64
	for _, p := range s.Points[max(0, len(s.Points)-shown):] {
		values = append(values, p.Value)
	}
	low, high := slices.Min(values), slices.Max(values)
	var b strings.Builder
	for _, v := range values {
		place := 0.0
		if high > low {
			place = (v - low) / (high - low)
		}
		b.WriteRune([]rune(heights)[int(math.Round(7*place))])
	}
	return b.String()
}

// Regressed reports whether the newest change of the series is for the worse, and not accepted.
func (s *Series) Regressed() bool {
	changes := s.Analyze()
	return len(changes) > 0 && s.Verdict(changes[len(changes)-1]) == "regression"
}
