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
	RanTogether       = "ran-together"       // base and candidate ran at the same time, as in a duet of an earlier stampede
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
		return fmt.Sprintf("client-bound: the generator used %.1f of %.3g cores; the service may be faster", n["generator_cores"], n["machine_cores"])
	case metrics.Others:
		return fmt.Sprintf("other programs used %.1f of %.3g cores (generator %.1f, its servers %.1f): latencies are too high",
			n["others_cores"], n["machine_cores"], n["generator_cores"], n["started_cores"]+n["service_cores"]) + atMost(n)
	case metrics.Stolen:
		return fmt.Sprintf("CPU steal %.0f %%: latencies are too high", 100*n["stolen_cores"]/n["machine_cores"]) + atMost(n)
	case metrics.Starved:
		tail := fmt.Sprintf("%s p99 is %s", w.Names["phase"], duration(n["phase_p99_ns"]))
		if longest, few := n["phase_max_ns"]; few {
			tail = fmt.Sprintf("the longest %s took %s", w.Names["phase"], duration(longest))
		}
		return fmt.Sprintf("generator short of CPU: latencies are too high by up to %s (timers late, p99); %s", duration(n["late_p99_ns"]), tail)
	case metrics.Shared:
		return fmt.Sprintf("machine %.0f %% busy (generator %.1f, its servers %.1f of %.3g cores): servers on their own machine may be faster",
			100*n["busy_share"], n["generator_cores"], n["started_cores"], n["machine_cores"])
	}
	return ""
}

// atMost says by how much latencies are too high at most, "" if that is not known.
func atMost(n metrics.Numbers) string {
	share, known := n[metrics.LostShare]
	if !known || share >= 1 {
		return ""
	}
	return fmt.Sprintf(" by at most %s of each and %s", units.Share(share), duration(n[metrics.LongestLate]))
}

// ofRounds words the warnings about rounds and arrivals, "" for other codes.
func ofRounds(code string, w metrics.Warning) string {
	n, whose, prefix := w.Numbers, "", ""
	if load := w.Names[metrics.OfLoad]; load != "" {
		whose, prefix = load+" ", load+": "
	}
	switch code {
	case metrics.NotWarm:
		return fmt.Sprintf("not warm: throughput still rose after %v; the server may be faster", duration(n["warmup_ns"]))
	case metrics.Abandoned:
		if _, queued := n["remaining_ns"]; !queued {
			return "rounds were cut off at the end: counts are not of whole rounds"
		}
		return fmt.Sprintf("%s turns were cut off at the end, %v before they would have ended: counts are not checked",
			count(n["unfinished"]), duration(n["remaining_ns"]))
	case metrics.AgentLost:
		when := "before the window opened"
		if ns := n["noticed_ns"]; ns > 0 {
			when = fmt.Sprintf("%s after the window opened", duration(ns))
		}
		return fmt.Sprintf("lost %s: no figure has what its %s sessions did (at least %s rounds)", when, count(n["sessions"]), count(n["rounds"]))
	case metrics.Skipped:
		return fmt.Sprintf("%s of %s %sarrivals were not served: they count as infinitely late", count(n["skipped"]), count(n["offered"]), whose)
	case metrics.Unfinished:
		if _, closed := n["overdue"]; closed {
			longest := "none had ended"
			if n["longest_ns"] > 0 {
				longest = fmt.Sprintf("the longest that ended took %v", duration(n["longest_ns"]))
			}
			return fmt.Sprintf("%stoo short: %s turns had not ended, the oldest after %v, and are in no time (%s): use a longer --duration",
				prefix, count(n["overdue"]), duration(n["oldest_ns"]), longest)
		}
		return fmt.Sprintf("%s of %s %sarrivals did not end, the oldest was due %v before: they count as infinitely late",
			count(n["unfinished"]), count(n["offered"]), whose, duration(n["oldest_ns"]))
	case metrics.Failed:
		return fmt.Sprintf("%s of %s %sarrivals failed with their session or connection: they count as infinitely late", count(n["failed"]), count(n["offered"]), whose)
	case metrics.LittlesLaw:
		return fmt.Sprintf("%stimes do not stand for all turns: on average %.3g were in progress, those that ended explain %.3g (Little's law); use a longer --duration",
			prefix, n["in_progress"], n["ended"])
	case metrics.Behind:
		return fmt.Sprintf("rate not reached: %s of %s arrivals were completed", count(n["completed"]), count(n["offered"]))
	case metrics.Interrupted:
		if n["measured_share"] == 0 {
			return "interrupted before the window opened: nothing was measured"
		}
		return fmt.Sprintf("interrupted after %.2g %% of the window that was asked for", 100*n["measured_share"])
	case metrics.Disconnected:
		times := "before the window opened"
		if n["times"] > 0 {
			times = units.CountOf(int64(n["times"]), "time")
		}
		return fmt.Sprintf("%s disconnected (%s): the service ended %s, clients gave up %s",
			units.CountOf(int64(n["sessions"]), "session"), times, count(n["lost"]), count(n["given_up"]))
	case metrics.Stalled:
		what := "round"
		if phase := w.Names["phase"]; phase != "" {
			what = "operation of the phase " + phase
		}
		return fmt.Sprintf("stalled: no %s ended for %v, otherwise one every %v on average", what, duration(n["longest_ns"]), duration(n["typical_ns"]))
	case metrics.ServiceLost:
		when := "before the window opened"
		if n["answered_ns"] >= 0 {
			when = fmt.Sprintf("%v after the window opened", duration(n["answered_ns"]))
		}
		ended := fmt.Sprintf("all %s sessions had ended", count(n["sessions"]))
		if all := n["all_sessions"]; all > n["sessions"] { // the run ended before its other agents found that
			ended = fmt.Sprintf("all sessions of an agent had ended, %s of %s", count(n["sessions"]), count(all))
		}
		return fmt.Sprintf("service lost: it last answered %s; %v later %s", when, duration(n["gone_ns"]), ended)
	case metrics.FormFailed:
		return "an error ended the run: " + w.Names["why"]
	case metrics.PreloadLost:
		return fmt.Sprintf("%s of %s sessions of the preload ended, and their watches with them", count(n["lost"]), count(n["sessions"]))
	case metrics.Unreached:
		return fmt.Sprintf("%s of %s given servers accepted no connection: all sessions were on the others (%s)",
			count(n["unreached"]), count(n["servers"]), w.Names["addresses"])
	case metrics.NodesRemain:
		text := fmt.Sprintf("nodes may remain below %s (%s): remove them with stampede clean --backend '%s'",
			w.Names["path"], w.Names["why"], w.Names["backend"])
		if n := w.Names["namespace"]; n != "/stampede" {
			text += " --namespace '" + n + "'"
		}
		return text
	case metrics.BackgroundSessionsLost:
		return fmt.Sprintf("the background lost %s", units.CountOf(int64(n["sessions"]), "session"))
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
		text := fmt.Sprintf("a change of %s %% can be missed", wanted)
		if needed := n["needed"]; needed > 0 {
			text = fmt.Sprintf("too few pairs for a change of %s %%: --pairs %s", wanted, count(needed))
		}
		return fmt.Sprintf("%s; %.0f %% of such comparisons find: %s", text, 100*n["power_share"], names["figures"])
	case RanTogether:
		return "both runs of a pair ran at the same time, each on half of the processors (ab --duet of an earlier version): compare these figures with no others"
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

// count formats a count, which is a float among the numbers of a warning.
func count(n float64) string { return units.Count(int64(n)) }
