package results

import (
	"fmt"
	"io"
	"time"
)

// KindComparison is the kind of a Comparison.
const KindComparison = "comparison"

// A Comparison is what two sides showed that differ in something: runs in
// interleaved pairs, or files that were saved.
type Comparison struct {
	Schema  int           `json:"schema"`
	Kind    string        `json:"kind"` // KindComparison
	ID      string        `json:"id"`
	Started time.Time     `json:"started"` // UTC
	Tool    Tool          `json:"tool"`
	Host    Host          `json:"host"`
	Command []string      `json:"command"`
	Seed    uint64        `json:"seed,omitempty"`
	Took    time.Duration `json:"took_ns"`
	// Interrupted: there are fewer pairs than were planned, and nothing is decided.
	Interrupted bool `json:"interrupted,omitempty"`

	Base Side `json:"base"`
	New  Side `json:"new"`
	// Paired: the i-th run of one side and that of the other were done one right
	// after the other.
	Paired  bool `json:"paired"`
	Planned int  `json:"planned,omitempty"` // pairs
	// NewFirst says of each pair whether its new side ran first, as the seed drew it:
	// of the levels of a pair one after the other. Older files have base, new, new,
	// base, and so on.
	NewFirst []bool `json:"new_first,omitempty"`
	// Needed is how many runs each side needs for anything to be shown of as many
	// figures, in a comparison of saved runs; left out where there are enough.
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
	// Quantiles are of files of which there are too few to tell noise from a
	// difference.
	Quantiles []Quantile `json:"quantiles,omitempty"`
	Verdict   Verdict    `json:"verdict"` // "" where nothing is decided
}

// A Side is one of the two.
type Side struct {
	Label string `json:"label"` // what it is, in the words that it was asked for
	Runs  []Run  `json:"runs"`
}

// A Change is by how much a figure of the new side differs from the base's.
// Shares are of the base: 0.1 is 10 % more.
type Change struct {
	Subject string  `json:"subject,omitempty"` // which runs, where there are several kinds: "lock, 32 clients"
	Figure  string  `json:"figure"`
	Unit    string  `json:"unit"`
	Gated   bool    `json:"gated"` // the verdict counts
	Base    float64 `json:"base"`  // medians
	New     float64 `json:"new"`
	// Ratios are new divided by base, of each pair; of unpaired files there are
	// none. A pair of which base has nothing and new something is left out.
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
	Minimum  float64  `json:"minimum_effect"` // in older files the noise floor, where that was larger
	// Floor is the noise floor that was used: a smaller estimate shows nothing.
	Floor float64 `json:"noise_floor,omitempty"`
	// Detectable is the smallest true change for the worse that such a comparison
	// shows in about 80 % of all cases, and Power the chance that it shows one of
	// minimum_effect: from the scatter of the runs, whatever they showed. Both are
	// left out where nothing was tested or nothing can be shown.
	Detectable *float64 `json:"detectable_effect,omitempty"`
	Power      *float64 `json:"power,omitempty"`
	Verdict    Verdict  `json:"verdict"` // Pass, Better, Inconclusive, Regression, Invalid, Violated; "" where nothing is decided
	Why        string   `json:"why,omitempty"`
}

// A Mean is the geometric mean of the changes of a figure.
type Mean struct {
	Figure   string  `json:"figure"`
	Change   float64 `json:"change"` // of the medians, a share of the base
	Subjects int     `json:"subjects"`
}

// A Quantile is one of the times that a phase took, over all runs of a side taken
// together.
type Quantile struct {
	Subject  string  `json:"subject,omitempty"`
	Phase    string  `json:"phase"`
	Quantile float64 `json:"quantile"` // 0.5, 0.9, 0.99 or 0.999
	BaseNS   int64   `json:"base_ns"`
	NewNS    int64   `json:"new_ns"`
}

// WriteJSON writes the comparison.
func (c Comparison) WriteJSON(w io.Writer) error { return WriteJSON(w, c) }

// ReadComparison reads the file of a comparison. The error is one line.
func ReadComparison(r io.Reader) (Comparison, error) {
	c, err := read[Comparison](r)
	if err != nil {
		return Comparison{}, err
	}
	if c.Kind != KindComparison {
		return Comparison{}, fmt.Errorf("not the file of a comparison: its kind is %q", c.Kind)
	}
	return c, nil
}
