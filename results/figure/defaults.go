package figure

import "github.com/stampede-bench/stampede/results"

// Compared returns the names of the figures by which runs with the given phases are compared unless
// others are named: the throughput, two percentiles of the key phase, and the notifications per whole round, which a formula fixes
// for most forms.
func Compared(phases []string) []string {
	names := []string{"rounds_per_s"}
	if key := results.KeyPhase(phases); key != "" {
		names = append(names, key+".p50", key+".p99")
	}
	return append(names, "whole.notifications_per_round")
}

// Followed returns the names of the figures that a history of runs follows unless others are named: the
// throughput, the median of the key phase, and the costs of whole rounds.
func Followed(phases []string) []string {
	names := []string{"rounds_per_s"}
	if key := results.KeyPhase(phases); key != "" {
		names = append(names, key+".p50")
	}
	return append(names, WholeCosts()...)
}

// WholeCosts returns the names of the costs that a baseline bounds.
func WholeCosts() []string {
	return []string{"whole.notifications_per_round", "whole.reads_per_round", "whole.writes_per_round"}
}

// ComparedPaths returns the names of the figures by which observations are compared unless others are
// named, as a whole and for each path.
func ComparedPaths() []string {
	return []string{"fanout.max", "fanout.p50", "notifications_per_change", "requests_per_change"}
}

// FollowedPaths returns the names of the figures of observed paths that a history follows unless others
// are named.
func FollowedPaths() []string { return []string{"fanout.max", "notifications_per_change", "wasted"} }
