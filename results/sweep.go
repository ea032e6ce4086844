package results

import (
	"slices"
	"time"
)

// A Sweep is the File of a command that ran its forms at several levels, and an
// analysis of them. It can be read as a File with every run.
type Sweep struct {
	File
	// Axes are the settings with several levels; curves are drawn over the first: "clients", "rate", "groups",
	// "hold", "session-timeout", and of a mix "reads", "size".
	Axes   []string `json:"axes"`
	Repeat int      `json:"repeat"` // how often each level is measured, or confirmed
	// Planned is the number of runs in all, 0 for a search, whose number is not
	// known beforehand.
	Planned int `json:"planned,omitempty"`
	// WorseBy is the factor of the crossovers.
	WorseBy    float64     `json:"worse_by"`
	Levels     []Level     `json:"levels"`
	Curves     []Curve     `json:"curves"`
	Crossovers []Crossover `json:"crossovers"`
	// Objective is what levels had to meet, e.g. "acquire.response.p99<50ms", and
	// Capacities are the highest that did; both are of a search only.
	Objective  string     `json:"objective,omitempty"`
	Capacities []Capacity `json:"capacities,omitempty"`

	// Warnings are those about nodes that remain of a run that was interrupted, which is not among the runs.
	Warnings []Warning `json:"warnings,omitempty"`

	// State is the file from which an interrupted sweep can resume, "" if the sweep is complete.
	State string `json:"-"`
}

// Undecided reports whether the sweep was a search that could not tell some form's capacity.
func (s Sweep) Undecided() bool {
	return slices.ContainsFunc(s.Capacities, func(c Capacity) bool { return c.Undecided })
}

// An Estimate is a median over repetitions, or a fitted parameter, with its interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Confidence is how likely such an interval has the truth in it. Below six
	// repetitions it is from the least to the greatest, and less than 0.95.
	Confidence float64 `json:"confidence"`
}

// A Level is one form at one level of the axes, or what run --repeat repeated: medians
// over the repetitions.
type Level struct {
	Recipe  string        `json:"recipe"`
	Form    string        `json:"form"`
	Family  string        `json:"family"`
	Backend Backend       `json:"backend"`
	Clients int           `json:"clients"`
	Groups  int           `json:"groups"`
	HoldNS  time.Duration `json:"hold_ns"`
	// SessionTimeout is what clients asked for, in nanoseconds; left out if that was not chosen.
	SessionTimeout time.Duration `json:"session_timeout_ns,omitempty"`
	Rate           float64       `json:"rate_per_s,omitempty"` // 0 in a closed loop
	Reads          float64       `json:"reads,omitempty"`      // the share asked of a mix; 0 of a recipe
	Size           int           `json:"size_bytes,omitempty"` // of a mix's values; 0 of a recipe
	// Runs are places in the file's runs, in the order in which they were done.
	Runs       []int    `json:"runs"`
	Throughput Estimate `json:"throughput_per_s"`
	// PerRound are costs of a round: "notifications", "operations", which are
	// reads and writes.
	PerRound map[string]Estimate `json:"per_round"`
	// Latency is by phase and percentile, in nanoseconds, response times where
	// there are; what too few observations support in any run is missing.
	Latency map[string]map[string]Estimate `json:"latency_ns"`
}

// A Curve is what the levels of one form along the first axis add up to.
type Curve struct {
	Recipe string `json:"recipe"`
	Form   string `json:"form"`
	URL    string `json:"url"`
	Beside string `json:"beside,omitempty"` // the level of the second axis, e.g. "hold 1 ms"
	// Growth are the exponents of the first axis by which costs grow, by the names
	// of PerRound; a cost that is 0 at some level has none.
	Growth map[string]Estimate `json:"growth"`
	// GrowthFrom is the first level that Growth is fitted to.
	GrowthFrom float64 `json:"growth_from,omitempty"`
	USL        *USL    `json:"usl,omitempty"`
	// NoUSL says why there is none, if there is none.
	NoUSL string `json:"no_usl,omitempty"`
	// Limits say what limits the form's throughput, a line each.
	Limits []string `json:"limits"`
}

// A USL is the Universal Scalability Law X(N) = γN/(1+α(N−1)+βN(N−1)) as it was
// fitted.
type USL struct {
	Alpha float64 `json:"alpha"` // contention
	Beta  float64 `json:"beta"`  // coherency
	Gamma float64 `json:"gamma"` // rounds a second of one client
	R2    float64 `json:"r2"`
	// Knee is the number of clients beyond which throughput falls, null unless such a
	// fall was measured; KneeLow and KneeHigh are its interval, with the levels as the
	// replicates and the lack of fit in it.
	// With a doubt the interval has in it what the doubts leave; KneeHigh is null if no fall is certain then.
	Knee      *float64   `json:"knee"`
	KneeLow   *float64   `json:"knee_low"`
	KneeHigh  *float64   `json:"knee_high"`
	Residuals []Residual `json:"residuals"`
	// Doubt is why the throughput can differ from what was measured, so that the law is not certain; left out if there is no reason.
	Doubt string `json:"doubt,omitempty"`
}

// A Residual is a level's median throughput against the law's.
type Residual struct {
	N        float64 `json:"n"`
	Measured float64 `json:"measured"`
	Fitted   float64 `json:"fitted"`
}

// A Crossover is where a naive form gets worse than another by the factor.
type Crossover struct {
	Recipe string `json:"recipe"`
	Form   string `json:"form"`
	Than   string `json:"than"`
	URL    string `json:"url"`
	Beside string `json:"beside,omitempty"`
	Metric string `json:"metric"` // "handoff.p99", "throughput"
	// At is the level of the first axis from which on it is, by interpolation
	// between two; null if it is not at the last. With a doubt it is the level
	// from which on it is for certain.
	At     *float64 `json:"at"`
	Always bool     `json:"always,omitempty"` // from the first level on
	// Doubt is why the ratios can differ from those that were measured, left out if
	// there is no reason.
	Doubt  string  `json:"doubt,omitempty"`
	Ratios []Ratio `json:"ratios"`
}

// A Ratio is how much worse the naive form is at a level.
type Ratio struct {
	N     float64 `json:"n"`
	Times float64 `json:"times"`
	// Least and Most are between which values the true ratio lies, where the crossover
	// has a doubt. Most is left out if nothing bounds it.
	Least float64 `json:"least,omitempty"`
	Most  float64 `json:"most,omitempty"`
}

// A Capacity is the highest level of one form that met the objective.
type Capacity struct {
	Recipe  string `json:"recipe"`
	Form    string `json:"form"`
	Family  string `json:"family"`
	URL     string `json:"url"`
	Clients int    `json:"clients"` // 0 where they are the axis
	Groups  int    `json:"groups"`
	// Level is the highest that was confirmed, 0 if not even the lowest was. Next is
	// the one after it, which was not; 0 if there is none.
	Level float64 `json:"level"`
	Held  Trials  `json:"held"`
	// Confidence is how likely the next run at Level meets the objective, predicted
	// from the runs that confirmed it; 0 without a level.
	Confidence float64 `json:"confidence,omitempty"`
	Next       float64 `json:"next"`
	After      Trials  `json:"after"`
	Why        string  `json:"why,omitempty"` // Next was not confirmed
	// Undecided: the runs at Next cannot tell whether it holds, so that the answer
	// may be higher than Level.
	Undecided bool `json:"undecided,omitempty"`
}

// Trials are how many of a level's runs met the objective. Of counts the runs that
// could tell.
type Trials struct {
	Met int `json:"met"`
	Of  int `json:"of"`
}
