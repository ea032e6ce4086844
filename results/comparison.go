package results

import (
	"encoding/json"
	"slices"

	"github.com/stampede-bench/stampede/metrics"
)

// A Comparison compares a base with a candidate: runs in interleaved
// pairs, or saved files.
type Comparison struct {
	Head // an interrupted comparison has fewer pairs than planned, and decides nothing

	Base Variant `json:"base"`
	New  Variant `json:"new"`
	// Paired: the i-th runs of base and candidate were done one right
	// after the other.
	Paired  bool `json:"paired"`
	Planned int  `json:"planned,omitempty"` // pairs; the most of a sequential comparison
	// UntilSure is about a sequential comparison; left out where the number of pairs
	// was fixed.
	UntilSure *UntilSure `json:"until_sure,omitempty"`
	// NewFirst says of each pair whether the candidate ran first, as the seed drew it: of the levels of a pair
	// one after the other.
	NewFirst []bool `json:"new_first,omitempty"`
	// Needed is how many runs base and candidate each need to show anything, in a
	// comparison of saved runs; left out where there are enough.
	Needed int `json:"runs_needed,omitempty"`
	// Calibrated is the noise floor that was used, "" if none: its pairs and age
	// in words.
	Calibrated string    `json:"calibrated,omitempty"`
	Warnings   []Warning `json:"warnings"`
	Changes    []Change  `json:"changes"`
	// Confirmation is what as many pairs more showed of the regressions that the
	// first had shown; left out where none were asked for or needed. The verdicts
	// of Changes have taken it in.
	Confirmation []Change `json:"confirmation,omitempty"`
	// Means are the geometric means of changes of one figure over several subjects.
	Means []Mean `json:"means,omitempty"`
	// Quantiles are of files that are too few to distinguish noise from a
	// difference.
	Quantiles []Quantile `json:"quantiles,omitempty"`
	Verdict   Verdict    `json:"verdict"` // "" where nothing is decided
}

// readComparison reads a comparison. An earlier stampede could run base and candidate at the same time, a duet: the
// result is kept with a warning, and without the command that would repeat it, since no command does that now.
func readComparison(text []byte) (Result, error) {
	v, err := parse[Comparison](text)
	if err != nil {
		return nil, err
	}
	var earlier struct{ Duet *struct{} }
	if err := json.Unmarshal(text, &earlier); err != nil {
		return nil, unreadable(err)
	}
	c := v.(Comparison)
	if earlier.Duet != nil {
		c.Command, c.Warnings = nil, append(c.Warnings, WarningOf(metrics.Warning{Code: RanTogether}))
	}
	return c, nil
}

// An UntilSure says when a sequential comparison was judged, and why it ended. Its intervals, p and
// verdicts allow for all looks.
type UntilSure struct {
	Looks []int `json:"looks"` // the pairs after which it was to be judged, the last if nothing was decided before
	Ended Ended `json:"ended"` // "" if it was interrupted
}

// JudgedAfter returns the numbers of pairs after which a comparison was judged that ended after the given
// number.
func (u UntilSure) JudgedAfter(pairs int) (judged []int) {
	for _, look := range u.Looks {
		if look >= pairs {
			break
		}
		judged = append(judged, look)
	}
	return append(judged, pairs)
}

// An Ended is the reason for which a sequential comparison ended.
type Ended string

// The reasons.
const (
	EndedDecided Ended = "decided" // further pairs could not change the verdict
	EndedPairs   Ended = "pairs"   // all pairs were run
	EndedTime    Ended = "time"    // the time limit was reached
)

// A Variant is the base or the candidate of a comparison.
type Variant struct {
	Label string `json:"label"` // as it was given on the command line
	// StartedOnce: the command started a service for this variant alone, once for all of its runs, so
	// that no interval has what differs from one start to the next. False where that is not known.
	StartedOnce bool  `json:"started_once,omitempty"`
	Runs        []Run `json:"runs"`
}

// A Change says by how much a metric of the candidate differs from that of the base.
// Shares are of the base: 0.1 is 10 % more.
type Change struct {
	Subject string  `json:"subject,omitempty"` // which runs, where there are several kinds: "lock, 32 clients"
	Figure  string  `json:"figure"`
	Unit    string  `json:"unit"`
	Gated   bool    `json:"gated"` // the verdict counts
	Base    float64 `json:"base"`  // medians
	New     float64 `json:"new"`
	// BaseInfinite and NewInfinite say that the median is the time of an arrival that was never served. Base
	// or New is 0 then.
	BaseInfinite bool `json:"base_infinite,omitempty"`
	NewInfinite  bool `json:"new_infinite,omitempty"`
	// Ratios are new divided by base, of each pair; of unpaired files there are
	// none. A pair in which base has nothing and new something is left out.
	Ratios []float64 `json:"ratios,omitempty"`
	// Effect is the change and its interval, null where there are too few runs, or
	// where base has nothing and new something.
	Effect *Estimate `json:"effect"`
	// Exact: a count that hardly varies from run to run was decided by its values,
	// without a test.
	Exact bool `json:"exact,omitempty"`
	// P is the probability of such a difference where there is none, null where
	// nothing was tested; Adjusted is that after Holm over the gated figures that
	// were tested.
	P        *float64 `json:"p"`
	Adjusted *float64 `json:"p_adjusted,omitempty"`
	Minimum  float64  `json:"minimum_effect"`
	// Floor is the noise floor that was used: a smaller estimate shows nothing.
	Floor float64 `json:"noise_floor,omitempty"`
	// Detectable is the smallest true change for the worse that such a comparison
	// calls a regression in 80 % of all cases, and Power the share of the cases in
	// which it does so if the change is minimum_effect. Both are from a simulation of
	// the whole decision, in which all tested figures become worse alike, with the
	// scatter of the runs, whatever they showed. At most about half of the changes of
	// exactly minimum_effect are found, since the estimate must reach it. Both are
	// left out of figures that are not gated, where nothing was tested and where
	// nothing can be shown.
	Detectable *float64 `json:"detectable_effect,omitempty"`
	Power      *float64 `json:"power,omitempty"`
	Verdict    Verdict  `json:"verdict"` // pass, improvement, inconclusive, regression, invalid; fail after a safety violation; "" where nothing is decided
	Why        string   `json:"why,omitempty"`
}

// Known reports whether the change has medians. With too few observations it has none.
func (x Change) Known() bool {
	return x.Verdict != Invalid || x.P != nil || x.Base != 0 || x.New != 0 || x.BaseInfinite || x.NewInfinite
}

// Medians returns the medians of base and candidate, which may be infinite.
func (x Change) Medians() (base, other float64) {
	return number(x.Base, x.BaseInfinite), number(x.New, x.NewInfinite)
}

// A Mean is the geometric mean of the changes of a figure.
type Mean struct {
	Figure   string  `json:"figure"`
	Change   float64 `json:"change"` // of the medians, a share of the base
	Subjects int     `json:"subjects"`
}

// A Quantile is one of the times that a phase took, over all runs of a variant taken
// together.
type Quantile struct {
	Subject  string  `json:"subject,omitempty"`
	Phase    string  `json:"phase"`
	Quantile float64 `json:"quantile"` // 0.5, 0.9, 0.99 or 0.999
	BaseNS   int64   `json:"base_ns"`
	NewNS    int64   `json:"new_ns"`
	// BaseInfinite and NewInfinite say that the quantile is the time of an arrival that was never served. BaseNS
	// or NewNS is 0 then.
	BaseInfinite bool `json:"base_infinite,omitempty"`
	NewInfinite  bool `json:"new_infinite,omitempty"`
}

// Runs returns the runs of base and candidate.
func (c Comparison) Runs() []Run { return slices.Concat(c.Base.Runs, c.New.Runs) }
