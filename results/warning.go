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

// These are the codes of warnings about comparisons and calibrations. Package metrics has the codes
// of warnings about runs.
const (
	DifferentSettings = "different-settings" // the two sides ran with different settings
	DifferentMachines = "different-machines" // the two sides ran on different machines
	OneSideOnly       = "one-side-only"      // runs of one side have no counterpart on the other
	NothingInCommon   = "nothing-in-common"  // no run of one side has a counterpart on the other
	IdentityBroken    = "identity-broken"    // a count breaks an identity that holds under any schedule
	LowPower          = "low-power"          // the comparison could well miss a change of the minimum effect
	SafetyViolated    = "safety-violated"    // a form violated safety, so the calibration was not kept
)

// Warn returns a warning with the code and the formatted text.
func Warn(code, format string, args ...any) Warning {
	return Warning{Code: code, Text: fmt.Sprintf(format, args...)}
}

// UnmarshalJSON also reads the warnings of older files: a warning was only its text, and a doubt
// had a kind in place of a code, without the prefix "cpu-" that some codes have now.
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
