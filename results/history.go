package results

import (
	"cmp"
	"math"
	"time"
)

// A History says how figures went from result to result, and when they changed. It is made from
// saved results and is not saved itself.
type History struct {
	Head              // without a start
	Made    time.Time `json:"made"`    // UTC
	Results int       `json:"results"` // that were read
	// Verdict is the worst of the figures: regression if the newest change of one is for the worse and not
	// accepted, otherwise invalid if the newest results of one are left out, otherwise inconclusive if one has too
	// few results. Otherwise it is improvement if the newest change of one is for the better, else pass; ""
	// without figures.
	Verdict Verdict `json:"verdict"`
	Figures []Trend `json:"figures"`
}

// A Trend is one figure of one kind of run, from result to result, the oldest first.
type Trend struct {
	Figure  string `json:"figure"`  // as thresholds name it
	About   string `json:"about"`   // the figure in a few words
	Unit    string `json:"unit"`    // "ns", "B", "/s", "/round", "share", ""
	Of      string `json:"of"`      // the kind of run: its form, backend, clients and settings
	Machine string `json:"machine"` // "any machine" for a figure that does not depend on it
	// Exact: a formula fixes the figure, so that the first result that differs is a change.
	Exact bool `json:"exact"`
	LeftOut
	// Needed is the number of results that can show a change; left out where there are as many.
	Needed  int           `json:"results_needed,omitempty"`
	Points  []TrendPoint  `json:"points"` // none if all results are left out
	Changes []TrendChange `json:"changes"`
}

// LeftOut has the numbers of results that have the figure and are left out.
type LeftOut struct {
	Doubtful    int `json:"doubtful_results,omitempty"`    // their values prove nothing: no change is larger than the doubts
	Unsafe      int `json:"unsafe_results,omitempty"`      // a safety violation makes their values void
	Interrupted int `json:"interrupted_results,omitempty"` // the command was ended early
	Unknown     int `json:"unknown_results,omitempty"`     // the figure is not known, for instance of too few observations
	// NewestLeftOut is how many of these came after all others.
	NewestLeftOut int `json:"newest_left_out,omitempty"`
}

// A TrendPoint is a figure in one result: the median over its repetitions. Of a doubtful result that counts it is the value furthest
// against the newest change that the doubt allows.
type TrendPoint struct {
	Result  string    `json:"result"`  // its id
	Started time.Time `json:"started"` // UTC
	Marks
	Value float64 `json:"value"`
	// Infinite: it is the time of arrivals that were not served, and the value is 0.
	Infinite bool `json:"infinite,omitempty"`
}

// Number returns the value, which may be infinite.
func (p TrendPoint) Number() float64 { return number(p.Value, p.Infinite) }

// Drawn returns the values as a chart can show them: infinite ones a quarter above the greatest.
func Drawn(points []TrendPoint) (values []float64) {
	most := 0.0
	for _, p := range points {
		most = max(most, p.Value)
	}
	for _, p := range points {
		values = append(values, min(p.Number(), max(p.Value, cmp.Or(most, 1)*1.25)))
	}
	return values
}

func number(v float64, infinite bool) float64 {
	if infinite {
		return math.Inf(1)
	}
	return v
}

// A TrendChange is a change of a figure.
type TrendChange struct {
	Drift bool `json:"drift"` // it was slow; otherwise it was a step
	At    int  `json:"at"`    // the place in points of the first value after the step, or of the drift
	To    int  `json:"to"`    // the last place of a drift; at for a step
	// Seen is the number of points that showed the change for the first time.
	Seen   int     `json:"seen"`
	Before float64 `json:"before"` // the median since the change before
	After  float64 `json:"after"`  // the median until the next change; of a drift, where it ended
	// BeforeInfinite and AfterInfinite: before or after is infinite, and 0 in its field.
	BeforeInfinite bool `json:"before_infinite,omitempty"`
	AfterInfinite  bool `json:"after_infinite,omitempty"`
	// Size is the estimated change as a share of the value before, so that 0.1 is 10 % more; null if that was 0, or
	// if the value after is infinite.
	Size *float64 `json:"change_share"`
	// Verdict is regression, improvement, pass if it is accepted, or "" if neither direction is better.
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // for which the change was accepted
}

// Levels returns the values before and after a change of the figure, which may be infinite, and their unit.
func (t Trend) Levels(c TrendChange) (before, after float64, unit string) {
	return number(c.Before, c.BeforeInfinite), number(c.After, c.AfterInfinite), t.Unit
}

// Verdict returns that of the newest change, "" if there is none. It is invalid if the newest results are left out, unless
// the newest change before them is a regression, and inconclusive if there are too few results.
func (t Trend) Verdict() Verdict {
	switch newest := t.Newest(); {
	case newest != nil && newest.Verdict == Regression:
		return Regression
	case len(t.Points) == 0 || t.NewestLeftOut > 0:
		return Invalid
	case newest != nil:
		return newest.Verdict
	case t.Needed > 0:
		return Inconclusive
	}
	return ""
}

// The reasons for which a figure cannot be judged.
const (
	NewestLeftOut = "the newest results are left out"
	AllLeftOut    = "all results are left out"
	TooFewResults = "too few results"
)

// Unjudged says why the figure cannot be judged, "" if it can.
func (t Trend) Unjudged() string {
	switch v := t.Verdict(); {
	case v == Inconclusive:
		return TooFewResults
	case v != Invalid:
		return ""
	case len(t.Points) == 0:
		return AllLeftOut
	}
	return NewestLeftOut
}

// Newest returns the newest change, or nil if there is none.
func (t Trend) Newest() *TrendChange {
	if len(t.Changes) == 0 {
		return nil
	}
	return &t.Changes[len(t.Changes)-1]
}

// Word returns the verdict on the change in a word: regression, improvement, accepted, or change.
func (c TrendChange) Word() string {
	if c.Verdict == Pass {
		return "accepted"
	}
	return cmp.Or(string(c.Verdict), "change")
}

// Kind returns whether the change was a step or a drift.
func (c TrendChange) Kind() string {
	if c.Drift {
		return "drift"
	}
	return "step"
}
