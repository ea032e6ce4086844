package history

import (
	"math"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
)

// History returns the series as a result. The caller sets what it knows of the tool and the time.
func (c *Collection) History() results.History {
	h := results.History{Head: results.Head{Schema: results.Schema, Kind: results.KindHistory}, Results: c.results, Figures: []results.Trend{}}
	for _, s := range c.Series() {
		h.Figures = append(h.Figures, s.Trend())
	}
	h.Verdict = verdict(h.Figures)
	return h
}

// verdict returns the worst verdict of the figures.
func verdict(all []results.Trend) results.Verdict {
	var verdicts []results.Verdict
	improved := false
	for _, t := range all {
		v := t.Verdict()
		if improved = improved || v == results.Improvement; v == "" || v == results.Improvement {
			v = results.Pass // one of several improves all
		}
		verdicts = append(verdicts, v)
	}
	if worst := results.Worst(verdicts...); worst != results.Pass || !improved {
		return worst
	}
	return results.Improvement
}

// Trend returns the series with its changes.
func (s *Series) Trend() results.Trend {
	t := results.Trend{Figure: s.Figure.Name, About: s.Figure.About, Unit: string(s.Figure.Unit), Of: s.Subject, Machine: s.Machine,
		Exact: s.Exact, LeftOut: s.LeftOut, Points: []results.TrendPoint{}, Changes: []results.TrendChange{}}
	if len(s.Points) == 0 {
		return t
	}
	for _, p := range s.Points {
		value, infinite := written(p.Value)
		t.Points = append(t.Points, results.TrendPoint{Result: p.ID, Started: p.Time, Marks: p.Marks, Value: value, Infinite: infinite})
	}
	changes := s.Analyze()
	if len(changes) == 0 && !t.Exact && len(s.Points) < 2*fewest {
		t.Needed = 2 * fewest
	}
	from, level := 0, s.Points[0].Value // since the last change
	for i, c := range changes {
		until := len(s.Points)
		if i+1 < len(changes) {
			until = changes[i+1].At
		}
		if c.At > from {
			level = s.level(from, c.At)
		}
		change := results.TrendChange{Drift: c.Drift(), At: c.At, To: c.To, Seen: c.Seen}
		change.Before, change.BeforeInfinite = written(level)
		from, level = c.At, s.level(c.At, until)
		if c.Drift() {
			from, level = c.To+1, change.Before*(1+c.Size)
		}
		change.After, change.AfterInfinite = written(level)
		if !math.IsInf(c.Size, 0) {
			change.Size = &c.Size
		}
		change.Verdict, change.Reason = s.judge(c)
		t.Changes = append(t.Changes, change)
	}
	return t
}

// written returns a value as JSON can have it.
func written(v float64) (value float64, infinite bool) {
	if math.IsInf(v, 1) {
		return 0, true
	}
	return v, false
}

// level returns the median of the points from one place to another.
func (s *Series) level(from, to int) float64 {
	var values []float64
	for _, p := range s.Points[from:to] {
		values = append(values, p.Value)
	}
	return stats.Median(values).Value
}

// judge returns the verdict on a change, and the reason for which it was accepted.
func (s *Series) judge(c Change) (results.Verdict, string) {
	accepted, is := s.Accepted(c)
	switch {
	case s.worse(c) && is:
		return results.Pass, accepted.Reason
	case s.worse(c):
		return results.Regression, ""
	case s.Figure.Better == figure.Neither:
		return "", accepted.Reason
	}
	return results.Improvement, accepted.Reason
}
