package results

import (
	"slices"
)

// A Verdict is the decision about one figure or a whole file.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"         // the condition is met
	Improvement  Verdict = "improvement"  // a pass whose interval lies entirely on the better side
	Inconclusive Verdict = "inconclusive" // neither a regression nor its absence is shown
	Invalid      Verdict = "invalid"      // the measurement is not valid, so it proves nothing
	Regression   Verdict = "regression"   // a change for the worse is shown that is large enough to matter
	Fail         Verdict = "fail"         // a threshold is not met, or a safety violation makes the numbers void
)

// severity returns the verdicts, from the best to the worst.
func severity() []Verdict {
	return []Verdict{Improvement, Pass, Inconclusive, Invalid, Regression, Fail}
}

// Unsafe reports whether one of the runs violated safety, which makes the numbers void.
func Unsafe(runs []Run) bool {
	return slices.ContainsFunc(runs, func(r Run) bool { return r.Safety.Violations > 0 })
}

// Worst returns the worst of the verdicts, "" if there are none.
func Worst(verdicts ...Verdict) Verdict {
	var worst Verdict
	for _, v := range verdicts {
		if slices.Index(severity(), v) > slices.Index(severity(), worst) {
			worst = v
		}
	}
	return worst
}

// A Gate is the verdict on one run by one threshold.
type Gate struct {
	Text     string `json:"text"`               // as it was given, e.g. "lock.acquire.response.p99<50ms"
	Scenario string `json:"scenario,omitempty"` // the one that it was asked in; left out where it was asked of the whole file
	Subject  string `json:"subject"`            // the run, in words: "lock/predecessor, 32 clients, native:"
	Run      int    `json:"run"`                // its place in the file's runs, -1 where none that it is about was done
	Figure   string `json:"figure"`             // e.g. "acquire.response.p99"
	Unit     string `json:"unit"`               // "ns", "B", "/s", "/round", "share", ""
	Op       string `json:"op"`                 // "<", "<=", ">", ">=", "=="
	// Measured is null where it is not known, and Limit where that follows from
	// something that is not known. Both are null where they are infinite.
	Measured *float64 `json:"measured"`
	Limit    *float64 `json:"limit"`
	// MeasuredInfinite: the percentile is the time of an arrival that was never served. LimitInfinite says
	// the same of what is compared with.
	MeasuredInfinite bool    `json:"measured_infinite,omitempty"`
	LimitInfinite    bool    `json:"limit_infinite,omitempty"`
	Verdict          Verdict `json:"verdict"` // pass, fail, regression against a baseline, inconclusive without one, invalid
	Why              string  `json:"why,omitempty"`
}
