package results

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results/units"
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

// sentence returns the warning in words.
func sentence(w metrics.Warning) string {
	code := cmp.Or(w.Names[metrics.Cause], w.Code)
	text := ofComparison(code, w)
	if text == "" {
		text = ofMachine(code, w)
	}
	if text == "" {
		text = ofRounds(code, w)
	}
	return framed(w, text)
}

// framed returns the sentence with the variant, the client or the agent that the warning is about.
func framed(w metrics.Warning, text string) string {
	if client := w.Names["client"]; client != "" {
		return fmt.Sprintf("client %s: %s; nothing was kept", client, text)
	}
	if agent := w.Names[metrics.OfAgent]; agent != "" {
		return fmt.Sprintf("agent %s: %s", agent, text)
	}
	if runs := w.Numbers["runs_of_side"]; runs > 0 {
		return fmt.Sprintf("%s: %.0f of %.0f runs: %s", variantOf(w), w.Numbers["runs_affected"], runs, text)
	}
	return text
}

// ofMachine words the warnings about the load generator and its machine, "" for other codes.
func ofMachine(code string, w metrics.Warning) string {
	n := w.Numbers
	switch code {
	case metrics.ClientBound:
		return fmt.Sprintf("client-bound: the generator used %.1f of %.3g cores; the service may be faster than this", n["generator_cores"], n["machine_cores"])
	case metrics.Others:
		return fmt.Sprintf("other programs used %.1f of %.3g cores, the generator %.1f, the servers it started %.1f, and the generator's threads waited for a core %.0f %% of the time that they had work; latencies are overstated",
			n["others_cores"], n["machine_cores"], n["generator_cores"], n["started_cores"], 100*n["waiting_share"])
	case metrics.Stolen:
		return fmt.Sprintf("time stolen: other virtual machines used %.2f of the %.3g cores; latencies are overstated", n["stolen_cores"], n["machine_cores"])
	case metrics.Starved:
		tail := fmt.Sprintf("the 99th percentile of %s is %v", w.Names["phase"], duration(n["phase_p99_ns"]))
		if longest, few := n["phase_max_ns"]; few {
			tail = fmt.Sprintf("the longest %s took %v", w.Names["phase"], duration(longest))
		}
		return fmt.Sprintf("load generator short of CPU: 1 %% of its timers fired %v late or later, so latencies are overstated by up to that much; %s",
			duration(n["late_p99_ns"]), tail)
	case metrics.Shared:
		return fmt.Sprintf("the machine was %.0f %% busy: the generator used %.1f of %.3g cores and the servers it started %.1f; servers on a machine of their own may be faster",
			100*n["busy_share"], n["generator_cores"], n["machine_cores"], n["started_cores"])
	}
	return ""
}

// ofRounds words the warnings about rounds and arrivals, "" for other codes.
func ofRounds(code string, w metrics.Warning) string {
	n, whose, prefix := w.Numbers, "", ""
	if load := w.Names[metrics.OfLoad]; load != "" {
		whose, prefix = load+" ", load+": "
	}
	switch code {
	case metrics.NotWarm:
		return fmt.Sprintf("throughput still rose after a warm-up of %v: the server may be faster than this", duration(n["warmup_ns"]))
	case metrics.Abandoned:
		if _, queued := n["remaining_ns"]; !queued {
			return "rounds did not end in time and were abandoned: counts are not of whole rounds"
		}
		return fmt.Sprintf("%.0f turns were in progress when the window closed and would have taken %v more: they were abandoned, and identities are not checked",
			n["unfinished"], duration(n["remaining_ns"]))
	case metrics.AgentLost:
		when := "before the window opened"
		if ns := n["noticed_ns"]; ns > 0 {
			when = fmt.Sprintf("%s after the window opened", duration(ns))
		}
		return fmt.Sprintf("lost %s: what its %.0f sessions did, %.0f rounds or more, is in no figure, so that identities are invalid", when, n["sessions"], n["rounds"])
	case metrics.Skipped:
		return fmt.Sprintf("%.0f of %.0f %sarrivals were not served before the end: they count as infinitely late in percentiles", n["skipped"], n["offered"], whose)
	case metrics.Unfinished:
		if _, closed := n["overdue"]; closed {
			longest := "none had ended"
			if n["longest_ns"] > 0 {
				longest = fmt.Sprintf("the longest that ended took %v", duration(n["longest_ns"]))
			}
			return fmt.Sprintf("%s%.0f turns had not ended when the window closed, the oldest after %v; %s: no time includes them",
				prefix, n["overdue"], duration(n["oldest_ns"]), longest)
		}
		return fmt.Sprintf("%.0f of %.0f %sarrivals did not end, the oldest was due for %v: they count as infinitely late in percentiles",
			n["unfinished"], n["offered"], whose, duration(n["oldest_ns"]))
	case metrics.Failed:
		return fmt.Sprintf("%.0f of %.0f %sarrivals failed with their session or their connection: they count as infinitely late in percentiles", n["failed"], n["offered"], whose)
	case metrics.LittlesLaw:
		return fmt.Sprintf("%sLittle's law does not hold: %.3g turns were in progress on average, those that ended account for %.3g (error %.2g): "+
			"their times do not stand for all, so measure for longer", prefix, n["in_progress"], n["ended"], n["error"])
	case metrics.Behind:
		return fmt.Sprintf("rate not reached: %.0f rounds of %.0f that were offered", n["rounds"], n["offered"])
	case metrics.Disconnected:
		times := "throughout"
		if n["times"] > 0 {
			times = fmt.Sprintf("%.0f times in all", n["times"])
		}
		return fmt.Sprintf("in the window %.0f sessions were disconnected, %s; the service ended %.0f of them, and clients gave %.0f up",
			n["sessions"], times, n["lost"], n["given_up"])
	case metrics.Stalled:
		what := "round"
		if phase := w.Names["phase"]; phase != "" {
			what = phase
		}
		return fmt.Sprintf("stalled: no %s ended for %v; otherwise one ended every %v on average", what, duration(n["longest_ns"]), duration(n["typical_ns"]))
	case metrics.ServiceLost:
		when := "before the window opened"
		if n["answered_ns"] >= 0 {
			when = fmt.Sprintf("%v after the window opened", duration(n["answered_ns"]))
		}
		return fmt.Sprintf("the service was gone: it last answered %s, and %v later all %.0f sessions had ended; the figures include what of that lies in the window",
			when, duration(n["gone_ns"]), n["sessions"])
	case metrics.BackgroundSessionsLost:
		return fmt.Sprintf("sessions that the background lost: %.0f", n["sessions"])
	}
	return ""
}

// ofComparison words the warnings about comparisons and calibrations, "" for other codes.
func ofComparison(code string, w metrics.Warning) string {
	n, names := w.Numbers, w.Names
	switch code {
	case DifferentSettings:
		text := fmt.Sprintf("not the same %s: %s and %s", names["setting"], names["base"], names["new"])
		if subject := names["subject"]; subject != "" {
			text = subject + ": " + text
		}
		return text
	case DifferentMachines:
		return fmt.Sprintf("not the same machine: %s and %s", names["base"], names["new"])
	case OneVariantOnly:
		return fmt.Sprintf("only in the %s: %s", variantOf(w), names["subject"])
	case NothingInCommon:
		return "base and candidate have no recipe, form and number of clients in common"
	case IdentityBroken:
		return fmt.Sprintf("%s: IDENTITY BROKEN in %.0f of %.0f runs: %s", variantOf(w), n["broken"], n["runs"], names["formula"])
	case LowPower:
		wanted := units.Rate(100 * n["wanted_share"])
		text := fmt.Sprintf("low power: a true change of %s %% is shown in fewer than %.0f %% of such comparisons; "+
			"that takes a change of: %s", wanted, 100*n["power_share"], names["figures"])
		if needed := n["needed"]; needed > 0 {
			text += fmt.Sprintf("; %s %% take about %.0f %s, or longer runs", wanted, needed, names["unit"])
		}
		return text
	case WindowsApart:
		return fmt.Sprintf("windows apart: in %.0f of %.0f pairs the windows opened more than %.0f %% of their length apart, up to %v: noise of that time does not cancel",
			n["apart"], n["pairs"], 100*n["limit_share"], duration(n["most_ns"]))
	case SafetyViolated:
		return "safety violation: nothing was saved"
	}
	return ""
}

// variantOf names the variant that the warning is about.
func variantOf(w metrics.Warning) string {
	if w.Names["side"] == "NEW" {
		return "candidate"
	}
	return "base"
}

// duration formats a time in ns.
func duration(ns float64) string { return units.Duration(time.Duration(ns)) }
