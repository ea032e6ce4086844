package results

import "slices"

// A Verdict is the decision about one figure or a whole file.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"         // the condition is met
	Better       Verdict = "better"       // a pass whose interval lies entirely on the better side
	Inconclusive Verdict = "inconclusive" // neither a change for the worse nor its absence is shown
	Invalid      Verdict = "invalid"      // the measurement is not valid, so it proves nothing
	Regression   Verdict = "regression"   // a change for the worse is shown that is large enough to matter
	Failed       Verdict = "failed"       // a threshold is not met
	Violated     Verdict = "violated"     // a safety violation: the numbers are void
)

// severity returns the verdicts, from the best to the worst.
func severity() []Verdict {
	return []Verdict{Better, Pass, Inconclusive, Invalid, Regression, Failed, Violated}
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

// A Gate is one thing that was asked of one run, and what came of it.
type Gate struct {
	Text     string `json:"text"`               // as it was asked for, e.g. "lock.acquire.response.p99<50ms"
	Scenario string `json:"scenario,omitempty"` // the one that it was asked in; left out where it was asked of the whole file
	Subject  string `json:"subject"`            // the run, in words: "lock/predecessor, 32 clients, native:"
	Run      int    `json:"run"`                // its place in the file's runs, -1 where none that it is about was done
	Figure   string `json:"figure"`             // e.g. "acquire.response.p99"
	Unit     string `json:"unit"`               // "ns", "B", "/s", "/round", "share", ""
	Op       string `json:"op"`                 // "<", "<=", ">", ">=", "=="
	// Measured is null where it is not known, and Limit where that follows from
	// something that is not known.
	Measured *float64 `json:"measured"`
	Limit    *float64 `json:"limit"`
	Verdict  Verdict  `json:"verdict"` // Pass, Failed, Regression against a baseline, Inconclusive without one, Invalid, Violated
	Why      string   `json:"why,omitempty"`
}
