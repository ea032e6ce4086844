package results_test

import (
	"testing"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// Every code has its sentence, which has the warning's numbers and names.
func TestEveryWarningHasItsSentence(t *testing.T) {
	warning := func(code string, numbers metrics.Numbers, names metrics.Names) metrics.Warning {
		return metrics.Warning{Code: code, Numbers: numbers, Names: names}
	}
	of := func(cause string) metrics.Names {
		return metrics.Names{metrics.OfLoad: metrics.Background, metrics.Cause: cause}
	}
	for want, w := range map[string]metrics.Warning{
		"client-bound: the generator used 1.9 of 2 cores; the service may be faster than this": warning(metrics.ClientBound, metrics.Numbers{"generator_cores": 1.9, "machine_cores": 2}, nil),
		"other programs used 0.7 of 4 cores, the generator 1.5, the servers it started 1.6, and the generator's threads waited for a core 25 % of the time that they had work; latencies are overstated": warning(metrics.Others,
			metrics.Numbers{"others_cores": 0.7, "machine_cores": 4, "generator_cores": 1.5, "started_cores": 1.6, "waiting_share": 0.25}, nil),
		"time stolen: other virtual machines used 0.24 of the 4 cores; latencies are overstated": warning(metrics.Stolen, metrics.Numbers{"stolen_cores": 0.24, "machine_cores": 4}, nil),
		"load generator short of CPU: 1 % of its timers fired 15.2 ms late or later, so latencies are overstated by up to that much; the 99th percentile of acquire is 3.46 ms": warning(metrics.Starved,
			metrics.Numbers{"late_p99_ns": 15.18e6, "phase_p99_ns": 3.456e6}, metrics.Names{"phase": "acquire"}),
		"load generator short of CPU: 1 % of its timers fired 15.2 ms late or later, so latencies are overstated by up to that much; the longest acquire took 3.46 ms": warning(metrics.Starved,
			metrics.Numbers{"late_p99_ns": 15.18e6, "phase_max_ns": 3.456e6}, metrics.Names{"phase": "acquire"}),
		"the machine was 90 % busy: the generator used 0.9 of 2 cores and the servers it started 0.6; servers on a machine of their own may be faster": warning(metrics.Shared,
			metrics.Numbers{"busy_share": 0.9, "generator_cores": 0.9, "machine_cores": 2, "started_cores": 0.6}, nil),

		"throughput still rose after a warm-up of 1.26 s: the server may be faster than this": warning(metrics.NotWarm, metrics.Numbers{"warmup_ns": 1.26e9}, nil),
		"agent a2: lost 3.21 s after the window opened: what its 4 sessions did, 340 rounds or more, is in no figure, so that identities are invalid": warning(metrics.AgentLost,
			metrics.Numbers{"noticed_ns": 3.21e9, "sessions": 4, "rounds": 340}, metrics.Names{metrics.OfAgent: "a2"}),
		"agent a2: lost before the window opened: what its 4 sessions did, 0 rounds or more, is in no figure, so that identities are invalid": warning(metrics.AgentLost,
			metrics.Numbers{"noticed_ns": 0, "sessions": 4, "rounds": 0}, metrics.Names{metrics.OfAgent: "a2"}),
		"rounds did not end in time and were abandoned: counts are not of whole rounds":                                                                 warning(metrics.Abandoned, nil, nil),
		"9 turns were in progress when the window closed and would have taken 14.6 s more: they were abandoned, and identities are not checked":         warning(metrics.Abandoned, metrics.Numbers{"unfinished": 9, "remaining_ns": 14.6e9}, nil),
		"1 of 100 arrivals were not served before the end: they count as infinitely late in percentiles":                                                warning(metrics.Skipped, metrics.Numbers{"skipped": 1, "offered": 100}, nil),
		"1 of 100 background arrivals were not served before the end: they count as infinitely late in percentiles":                                     warning(metrics.Bystanders, metrics.Numbers{"skipped": 1, "offered": 100}, of(metrics.Skipped)),
		"2 of 100 arrivals did not end, the oldest was due for 700 ms: they count as infinitely late in percentiles":                                    warning(metrics.Unfinished, metrics.Numbers{"unfinished": 2, "offered": 100, "oldest_ns": 7e8}, nil),
		"2 of 100 background arrivals did not end, the oldest was due for 700 ms: they count as infinitely late in percentiles":                         warning(metrics.Bystanders, metrics.Numbers{"unfinished": 2, "offered": 100, "oldest_ns": 7e8}, of(metrics.Unfinished)),
		"3 turns had not ended when the window closed, the oldest after 2.00 s; the longest that ended took 1.50 ms: no time includes them":             warning(metrics.Unfinished, metrics.Numbers{"overdue": 3, "oldest_ns": 2e9, "longest_ns": 1.5e6}, nil),
		"background: 3 turns had not ended when the window closed, the oldest after 2.00 s; the longest that ended took 1.50 ms: no time includes them": warning(metrics.Bystanders, metrics.Numbers{"overdue": 3, "oldest_ns": 2e9, "longest_ns": 1.5e6}, of(metrics.Unfinished)),
		"4 of 100 arrivals failed with their session or their connection: they count as infinitely late in percentiles":                                 warning(metrics.Failed, metrics.Numbers{"failed": 4, "offered": 100}, nil),
		"4 of 100 background arrivals failed with their session or their connection: they count as infinitely late in percentiles":                      warning(metrics.Bystanders, metrics.Numbers{"failed": 4, "offered": 100}, of(metrics.Failed)),
		"rate not reached: 900 rounds of 1000 that were offered":                                                                                        warning(metrics.Behind, metrics.Numbers{"rounds": 900, "offered": 1000}, nil),
		"sessions that the background lost: 2": warning(metrics.BackgroundSessionsLost, metrics.Numbers{"sessions": 2}, nil),
		"Little's law does not hold: 8 turns were in progress on average, those that ended account for 5.21 (error 0.4): " +
			"their times do not stand for all, so measure for longer": warning(metrics.LittlesLaw, metrics.Numbers{"in_progress": 8, "ended": 5.213, "error": 0.4}, nil),

		"lock, 8 clients: not the same hold: 1ms and 2ms": warning(results.DifferentSettings, nil, metrics.Names{"subject": "lock, 8 clients", "setting": "hold", "base": "1ms", "new": "2ms"}),
		"not the same machine: a and b":                   warning(results.DifferentMachines, nil, metrics.Names{"base": "a", "new": "b"}),
		"windows apart: in 3 of 25 pairs the windows opened more than 10 % of their length apart, up to 153 ms: noise of that time does not cancel": warning(results.WindowsApart,
			metrics.Numbers{"apart": 3, "pairs": 25, "limit_share": 0.1, "most_ns": 153e6}, nil),
		"only in the candidate: lock/one-node": warning(results.OneVariantOnly, nil, metrics.Names{"side": "NEW", "subject": "lock/one-node"}),
		"in the window 3 sessions were disconnected, 7 times in all; the service ended 1 of them, and clients gave 2 up": warning(metrics.Disconnected,
			metrics.Numbers{"sessions": 3, "times": 7, "lost": 1, "given_up": 2}, nil),
		"stalled: no round ended for 2.00 s; otherwise one ended every 1.50 ms on average": warning(metrics.Stalled, metrics.Numbers{"longest_ns": 2e9, "typical_ns": 1.5e6}, nil),
		"stalled: no write ended for 2.00 s; otherwise one ended every 1.50 ms on average": warning(metrics.Stalled, metrics.Numbers{"longest_ns": 2e9, "typical_ns": 1.5e6}, metrics.Names{"phase": "write"}),
		"the service was gone: it last answered 3.60 s after the window opened, and 5.20 s later all 4 sessions had ended; the figures include what of that lies in the window": warning(metrics.ServiceLost,
			metrics.Numbers{"answered_ns": 3.6e9, "gone_ns": 5.2e9, "sessions": 4}, nil),
		"the service was gone: it last answered before the window opened, and 5.20 s later all 4 sessions had ended; the figures include what of that lies in the window": warning(metrics.ServiceLost,
			metrics.Numbers{"answered_ns": -1, "gone_ns": 5.2e9, "sessions": 4}, nil),

		"base and candidate have no recipe, form and number of clients in common": warning(results.NothingInCommon, nil, nil),
		"candidate: IDENTITY BROKEN in 1 of 2 runs: lists = N+K":                  warning(results.IdentityBroken, metrics.Numbers{"broken": 1, "runs": 2}, metrics.Names{"side": "NEW", "formula": "lists = N+K"}),
		"low power: a true change of 10.0 % is shown in fewer than 80 % of such comparisons; that takes a change of: acquire.p99 20.0 %; 10.0 % take about 100 pairs, or longer runs": warning(results.LowPower,
			metrics.Numbers{"minimum_share": 0.05, "wanted_share": 0.1, "power_share": 0.8, "needed": 100}, metrics.Names{"figures": "acquire.p99 20.0 %", "unit": "pairs"}),
		"safety violation: nothing was saved": warning(results.SafetyViolated, nil, nil),
	} {
		if got := results.WarningOf(w); got.Text != want || got.Code != w.Code {
			t.Errorf("got  %s: %s\nwant %s", got.Code, got.Text, want)
		}
	}
}

// A warning about a variant or a client keeps its numbers and has those of the variant.
func TestWarningsAboutAVariant(t *testing.T) {
	stolen := results.WarningOf(metrics.Warning{Code: metrics.Stolen, Numbers: metrics.Numbers{"stolen_cores": 0.24, "machine_cores": 4}})
	const text = "time stolen: other virtual machines used 0.24 of the 4 cores; latencies are overstated"
	w := stolen.OfVariant("BASE", 3, 10)
	if w.Text != "base: 3 of 10 runs: "+text || w.Numbers["stolen_cores"] != 0.24 || w.Numbers["runs_affected"] != 3 || w.Names["side"] != "BASE" {
		t.Errorf("%+v", w)
	}
	if w := stolen.OfClient("lean"); w.Text != "client lean: "+text+"; nothing was kept" || w.Names["client"] != "lean" {
		t.Errorf("%+v", w)
	}
	if w := (results.Warning{Text: "of an older file"}).OfVariant("NEW", 1, 2); w.Text != "candidate: 1 of 2 runs: of an older file" {
		t.Errorf("%+v", w)
	}
	if stolen.Text != text || len(stolen.Numbers) != 2 {
		t.Errorf("the warning itself changed: %+v", stolen)
	}
}
