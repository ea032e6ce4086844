package results

import (
	"maps"

	"github.com/stampede-bench/stampede/metrics"
)

// A Warning is something that the reader of the figures must know.
type Warning struct {
	// Code says which warning it is. Codes are stable; docs/report.md lists them.
	// One about a machine or a generator that is short of processor time begins
	// with "cpu".
	Code string `json:"code"`
	Text string `json:"text"` // one line for people, made of the numbers and names
	// Numbers are those of the text, by name: times end in "_ns", processors in "_cores", shares in
	// "_share".
	Numbers map[string]float64 `json:"numbers,omitempty"`
	// Names are what the warning is about, such as a phase or a variant of a comparison.
	//
	Names map[string]string `json:"names,omitempty"`
}

// These are the codes of warnings about comparisons and calibrations. Package metrics has the codes
// of warnings about runs.
const (
	DifferentSettings = "different-settings" // base and candidate ran with different settings
	DifferentMachines = "different-machines" // base and candidate ran on different machines
	OneVariantOnly    = "one-side-only"      // runs of one of them have no counterpart in the other
	NothingInCommon   = "nothing-in-common"  // no run of one of them has a counterpart in the other
	IdentityBroken    = "identity-broken"    // a count breaks an identity that holds under any schedule
	LowPower          = "low-power"          // the comparison could well miss twice the minimum effect
	WindowsApart      = "windows-apart"      // in a duet, the windows of some pairs coincided badly
	SafetyViolated    = "safety-violated"    // a form violated safety, so the calibration was not kept
)

// WarningOf returns the warning with its text.
func WarningOf(w metrics.Warning) Warning {
	return Warning{Code: w.Code, Text: sentence(w), Numbers: w.Numbers, Names: w.Names}
}

// OfVariant returns the warning about a number of the runs of one variant of a comparison.
func (w Warning) OfVariant(variant string, affected, runs int) Warning {
	return w.fill(metrics.Numbers{"runs_affected": float64(affected), "runs_of_side": float64(runs)}, metrics.Names{"side": variant})
}

// Agent returns the name of the agent that the warning is about, "" if it is about the whole run.
func (w Warning) Agent() string { return w.Names[metrics.OfAgent] }

// OfClient returns the warning about the measurement of a client library, which was not kept.
func (w Warning) OfClient(client string) Warning { return w.fill(nil, metrics.Names{"client": client}) }

// fill returns the warning with more numbers and names.
func (w Warning) fill(numbers metrics.Numbers, names metrics.Names) Warning {
	of := metrics.Warning{Code: w.Code, Numbers: metrics.Numbers{}, Names: metrics.Names{}}
	maps.Copy(of.Numbers, w.Numbers)
	maps.Copy(of.Numbers, numbers)
	maps.Copy(of.Names, w.Names)
	maps.Copy(of.Names, names)
	return Warning{Code: w.Code, Text: framed(of, w.Text), Numbers: of.Numbers, Names: of.Names}
}
