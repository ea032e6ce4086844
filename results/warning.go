package results

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Warning is something that the reader of the figures must know.
type Warning struct {
	// Code says which warning it is. Codes are stable; docs/report.md lists them.
	// One about a machine or a generator that is short of processor time begins
	// with "cpu". It is empty in warnings of files before codes were written.
	Code string `json:"code"`
	Text string `json:"text"` // one line for people, with its numbers
}

// The codes of the warnings of comparisons and calibrations; those about runs have
// the codes in metrics.
const (
	DifferentSettings = "different-settings" // the two sides ran with different settings
	DifferentMachines = "different-machines" // the two sides ran on different machines
	OneSideOnly       = "one-side-only"      // runs of one side have no counterpart on the other
	NothingInCommon   = "nothing-in-common"  // no run of one side has a counterpart on the other
	IdentityBroken    = "identity-broken"    // a count is not what holds under any schedule
	LowPower          = "low-power"          // a change of the minimum effect could well have gone unseen
	SafetyViolated    = "safety-violated"    // a form violated safety, so that a calibration was not kept
)

// Warn returns the warning of the code with its formatted text.
func Warn(code, format string, args ...any) Warning {
	return Warning{Code: code, Text: fmt.Sprintf(format, args...)}
}

// UnmarshalJSON also reads what older files have: a warning was its text, and a
// doubt had a kind, without the "cpu-" of some of today's codes.
func (w *Warning) UnmarshalJSON(text []byte) error {
	*w = Warning{}
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &w.Text)
	}
	var v struct{ Code, Kind, Text string }
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if slices.Contains([]string{"client-bound", "starved", "stolen"}, v.Kind) {
		v.Kind = "cpu-" + v.Kind
	}
	w.Code, w.Text = v.Code, v.Text
	if w.Code == "" {
		w.Code = v.Kind
	}
	return nil
}
