package results

import "slices"

// A Verdict is what was decided of one figure, or of a whole file.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"         // as was asked for
	Better       Verdict = "better"       // a pass whose interval lies on the better side
	Inconclusive Verdict = "inconclusive" // neither shown to be worse nor shown not to be
	Invalid      Verdict = "invalid"      // measured in a way that proves nothing
	Regression   Verdict = "regression"   // shown to be worse, by enough to matter
	Failed       Verdict = "failed"       // beyond a threshold
	Violated     Verdict = "violated"     // a form broke its promise, so that nothing counts
)

// severity are the verdicts, the worst last.
func severity() []Verdict {
	return []Verdict{Better, Pass, Inconclusive, Invalid, Regression, Failed, Violated}
}

// Worst is the one of the verdicts that decides, "" of none.
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
