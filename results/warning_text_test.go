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
		"client-bound: the generator used 1.9 of 2 cores; the service may be faster": warning(metrics.ClientBound, metrics.Numbers{"generator_cores": 1.9, "machine_cores": 2}, nil),
		"other programs used 0.7 of 4 cores (generator 1.5, its servers 1.6): latencies are too high": warning(metrics.Others,
			metrics.Numbers{"others_cores": 0.7, "machine_cores": 4, "generator_cores": 1.5, "started_cores": 1.6, "waiting_share": 0.25}, nil),
		"other programs used 0.7 of 4 cores (generator 1.5, its servers 1.6): latencies are too high by at most 10 % of each and 4.00 ms": warning(metrics.Others,
			metrics.Numbers{"others_cores": 0.7, "machine_cores": 4, "generator_cores": 1.5, "service_cores": 1.6, metrics.LostShare: 0.1, metrics.LongestLate: 4e6}, nil),
		"CPU steal 6 %: latencies are too high": warning(metrics.Stolen, metrics.Numbers{"stolen_cores": 0.24, "machine_cores": 4}, nil),
		"generator short of CPU: latencies are too high by up to 15.2 ms (timers late, p99); acquire p99 is 3.46 ms": warning(metrics.Starved,
			metrics.Numbers{"late_p99_ns": 15.18e6, "phase_p99_ns": 3.456e6}, metrics.Names{"phase": "acquire"}),
		"generator short of CPU: latencies are too high by up to 15.2 ms (timers late, p99); the longest acquire took 3.46 ms": warning(metrics.Starved,
			metrics.Numbers{"late_p99_ns": 15.18e6, "phase_max_ns": 3.456e6}, metrics.Names{"phase": "acquire"}),
		"machine 90 % busy (generator 0.9, its servers 0.6 of 2 cores): servers on their own machine may be faster": warning(metrics.Shared,
			metrics.Numbers{"busy_share": 0.9, "generator_cores": 0.9, "machine_cores": 2, "started_cores": 0.6}, nil),

		"not warm: throughput still rose after 1.26 s; the server may be faster": warning(metrics.NotWarm, metrics.Numbers{"warmup_ns": 1.26e9}, nil),
		"agent a2: lost 3.21 s after the window opened: no figure has what its 4 sessions did (at least 340 rounds)": warning(metrics.AgentLost,
			metrics.Numbers{"noticed_ns": 3.21e9, "sessions": 4, "rounds": 340}, metrics.Names{metrics.OfAgent: "a2"}),
		"agent a2: lost before the window opened: no figure has what its 4 sessions did (at least 0 rounds)": warning(metrics.AgentLost,
			metrics.Numbers{"noticed_ns": 0, "sessions": 4, "rounds": 0}, metrics.Names{metrics.OfAgent: "a2"}),
		"rounds were cut off at the end: counts are not of whole rounds":                                                                                           warning(metrics.Abandoned, nil, nil),
		"9 turns were cut off at the end, 14.6 s before they would have ended: counts are not checked":                                                             warning(metrics.Abandoned, metrics.Numbers{"unfinished": 9, "remaining_ns": 14.6e9}, nil),
		"1 of 100 arrivals were not served: they count as infinitely late":                                                                                         warning(metrics.Skipped, metrics.Numbers{"skipped": 1, "offered": 100}, nil),
		"1 of 100 background arrivals were not served: they count as infinitely late":                                                                              warning(metrics.Bystanders, metrics.Numbers{"skipped": 1, "offered": 100}, of(metrics.Skipped)),
		"2 of 100 arrivals did not end, the oldest was due 700 ms before: they count as infinitely late":                                                           warning(metrics.Unfinished, metrics.Numbers{"unfinished": 2, "offered": 100, "oldest_ns": 7e8}, nil),
		"2 of 100 background arrivals did not end, the oldest was due 700 ms before: they count as infinitely late":                                                warning(metrics.Bystanders, metrics.Numbers{"unfinished": 2, "offered": 100, "oldest_ns": 7e8}, of(metrics.Unfinished)),
		"too short: 3 turns had not ended, the oldest after 2.00 s, and are in no time (the longest that ended took 1.50 ms): use a longer --duration":             warning(metrics.Unfinished, metrics.Numbers{"overdue": 3, "oldest_ns": 2e9, "longest_ns": 1.5e6}, nil),
		"background: too short: 3 turns had not ended, the oldest after 2.00 s, and are in no time (the longest that ended took 1.50 ms): use a longer --duration": warning(metrics.Bystanders, metrics.Numbers{"overdue": 3, "oldest_ns": 2e9, "longest_ns": 1.5e6}, of(metrics.Unfinished)),
		"4 of 100 arrivals failed with their session or connection: they count as infinitely late":                                                                 warning(metrics.Failed, metrics.Numbers{"failed": 4, "offered": 100}, nil),
		"4 of 100 background arrivals failed with their session or connection: they count as infinitely late":                                                      warning(metrics.Bystanders, metrics.Numbers{"failed": 4, "offered": 100}, of(metrics.Failed)),
		"rate not reached: 900 of 1 000 arrivals were completed":                                                                                                   warning(metrics.Behind, metrics.Numbers{"completed": 900, "offered": 1000}, nil),
		"2 of 3 sessions of the preload ended, and their watches with them": warning(metrics.PreloadLost,
			metrics.Numbers{"lost": 2, "sessions": 3}, nil),
		"2 of 3 given servers accepted no connection: all sessions were on the others (zk1:2181, zk2:2181)": warning(metrics.Unreached,
			metrics.Numbers{"unreached": 2, "servers": 3}, metrics.Names{"addresses": "zk1:2181, zk2:2181"}),
		"the background lost 2 sessions": warning(metrics.BackgroundSessionsLost, metrics.Numbers{"sessions": 2}, nil),
		"times do not stand for all turns: on average 8 were in progress, those that ended explain 5.21 (Little's law); use a longer --duration": warning(metrics.LittlesLaw, metrics.Numbers{"in_progress": 8, "ended": 5.213, "error": 0.4}, nil),

		"lock, 8 clients: not the same hold: 1ms and 2ms": warning(results.DifferentSettings, nil, metrics.Names{"subject": "lock, 8 clients", "setting": "hold", "base": "1ms", "new": "2ms"}),
		"not the same machine: a and b":                   warning(results.DifferentMachines, nil, metrics.Names{"base": "a", "new": "b"}),
		"both runs of a pair ran at the same time, each on half of the processors (ab --duet of an earlier version): compare these figures with no others": warning(results.RanTogether, nil, nil),
		"only in the candidate: lock/one-node": warning(results.OneVariantOnly, nil, metrics.Names{"side": "NEW", "subject": "lock/one-node"}),
		"3 sessions disconnected (7 times): the service ended 1, clients gave up 2": warning(metrics.Disconnected,
			metrics.Numbers{"sessions": 3, "times": 7, "lost": 1, "given_up": 2}, nil),
		"stalled: no round ended for 2.00 s, otherwise one every 1.50 ms on average":                        warning(metrics.Stalled, metrics.Numbers{"longest_ns": 2e9, "typical_ns": 1.5e6}, nil),
		"stalled: no operation of the phase write ended for 2.00 s, otherwise one every 1.50 ms on average": warning(metrics.Stalled, metrics.Numbers{"longest_ns": 2e9, "typical_ns": 1.5e6}, metrics.Names{"phase": "write"}),
		"3 sessions disconnected (before the window opened): the service ended 0, clients gave up 0": warning(metrics.Disconnected,
			metrics.Numbers{"sessions": 3}, nil),
		"interrupted before the window opened: nothing was measured": warning(metrics.Interrupted, metrics.Numbers{"measured_share": 0}, nil),
		"interrupted after 12 % of the window that was asked for":    warning(metrics.Interrupted, metrics.Numbers{"measured_share": 0.12}, nil),
		"service lost: it last answered 3.60 s after the window opened; 5.20 s later all 4 sessions had ended": warning(metrics.ServiceLost,
			metrics.Numbers{"answered_ns": 3.6e9, "gone_ns": 5.2e9, "sessions": 4}, nil),
		"service lost: it last answered before the window opened; 5.20 s later all sessions of an agent had ended, 4 of 8": warning(metrics.ServiceLost,
			metrics.Numbers{"answered_ns": -1, "gone_ns": 5.2e9, "sessions": 4, "all_sessions": 8}, nil),
		"service lost: it last answered before the window opened; 5.20 s later all 4 sessions had ended": warning(metrics.ServiceLost,
			metrics.Numbers{"answered_ns": -1, "gone_ns": 5.2e9, "sessions": 4}, nil),

		"base and candidate have no recipe, form and number of clients in common": warning(results.NothingInCommon, nil, nil),
		"candidate: IDENTITY BROKEN in 1 of 2 runs: lists = N+K":                  warning(results.IdentityBroken, metrics.Numbers{"broken": 1, "runs": 2}, metrics.Names{"side": "NEW", "formula": "lists = N+K"}),
		"too few pairs for a change of 10.0 %: --pairs 100; 80 % of such comparisons find: acquire.p99 20.0 %": warning(results.LowPower,
			metrics.Numbers{"minimum_share": 0.05, "wanted_share": 0.1, "power_share": 0.8, "needed": 100}, metrics.Names{"figures": "acquire.p99 20.0 %"}),
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
	const text = "CPU steal 6 %: latencies are too high"
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
