package resulttest

import (
	"time"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
)

// Observation returns an observation of a lock on one node and of a queue, with a threshold that is not met
// and a projection.
func Observation() results.Observation {
	count := func(n int64) *int64 { return &n }
	measured, limit := 23.0, 5.0
	o := results.Observation{
		Head:    results.Head{Schema: results.Schema, Kind: results.KindObservation, ID: "20261121-093105-000000-observe", Started: started()},
		Backend: "zookeeper://zk1:2181", Source: "proxy", Projected: 1000, Verdict: results.Fail,
		Gates: []results.Gate{{Text: "/controller: fanout.max <= 5", Run: -1, Subject: "/controller", Figure: "fanout.max", Op: "<=",
			Measured: &measured, Limit: &limit, Verdict: results.Fail}}}
	o.Observed = observe.Report{
		Duration: 41 * time.Second,
		Traffic:  observe.Traffic{Clients: 3, Sessions: 24, Requests: 18203, Changes: 46, FanoutP50: 1, FanoutMax: 23},
		Places: []observe.Place{
			{
				Path: "/controller", Sessions: 24, Changes: 6, FanoutP50: 23, FanoutMax: 23, Notifications: 138,
				Useful: count(6), Wasted: count(132), ReadsAfter: 138, LostAfter: 132, SettledP90: count(84e6),
				Form: &observe.Form{
					Name: "lock or election, one node", Forms: []string{"lock/one-node"}, Herd: true, Instead: "predecessor", Wakes: 1,
					Evidence: "24 sessions watch the node and race to create it: 132 of 138 creates failed",
				},
			},
			{Path: "/locks/#/lock-#", Sessions: 20, Changes: 40, FanoutP50: 1, FanoutMax: 1, Notifications: 40, Useful: count(40), Wasted: count(0)},
		},
		Largest:    []observe.Change{{Op: "delete", Writer: "10.0.0.7:4711", Path: "/controller", Woke: 23, Waited: 22, Reads: 23, Lost: 22, Settled: 84 * time.Millisecond}},
		Operations: []observe.Operation{{Name: "create", Requests: 140, P50: count(5e5), P99: count(2e6)}},
	}
	return o
}

// Calibration returns the noise of two figures of the lock.
func Calibration() results.Calibration {
	return results.Calibration{
		Head: results.Head{Schema: results.Schema, Kind: results.KindCalibration, Started: started(), Seed: 42, Took: 48 * time.Second,
			Command: []string{"stampede", "calibrate"}},
		Pairs:    20,
		Warnings: []results.Warning{{Code: "cpu-stolen", Text: "time stolen"}},
		Settings: []results.Noise{{Setting: "lock --backend native: --form predecessor --clients 8", Figures: []results.FigureNoise{
			{Figure: "rounds_per_s", Unit: "/s", Shown: true, Median: 546, One: 0.081, Ten: 0.031, Twenty: 0.022},
			{Figure: "handoff.response.p50", Unit: "ns", Shown: true, Median: 4e5, One: 0.22, Ten: 0.108, Twenty: 0.069},
			{Figure: "errors", One: 9, Ten: 9, Twenty: 9},
		}}}}
}
