package document

import (
	"fmt"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// The phases of a storm: back is the time from its start until one client is back, over until all are.
// The ordinary client has a session that the storm does not hit: ordinary is a write of it during the
// storm, calm a write before the storm.
const (
	back     = "back"
	over     = "over"
	ordinary = "ordinary"
	calm     = "calm"
)

func isStorm(r results.Run) bool { return r.Recipe == "sessions" }

// stormColumns adds the columns for storms, which affect all sessions at the same time.
func stormColumns(s *runTable) {
	s.keys("clients", true)
	s.text(Column{Head: "storms"}, func(r results.Run) string { return units.Count(r.Rounds) })
	s.latency(Column{Head: "mean", Over: "all back", Gap: 3}, over, results.Run.ServiceTimes, mean)
	s.times("each back", back, results.Run.ServiceTimes)
	s.latency(Column{Head: "mean", Over: "an ordinary write before", Gap: 3}, calm, results.Run.ServiceTimes, mean)
	s.latency(Column{Head: "max"}, calm, results.Run.ServiceTimes, longest)
	s.latency(Column{Head: "mean", Over: "and meanwhile", Gap: 3}, ordinary, results.Run.ServiceTimes, mean)
	s.latency(Column{Head: "max"}, ordinary, results.Run.ServiceTimes, longest)
	s.figure(Column{Head: "not made"}, func(r results.Run) (float64, bool) {
		if r.Storm == nil || r.Storm.Made+r.Storm.Omitted == 0 {
			return 0, false
		}
		return float64(r.Storm.Omitted) / float64(r.Storm.Made+r.Storm.Omitted), true
	}, units.Share)
}

func mean(d *results.Distribution) *int64 {
	if d == nil {
		return nil
	}
	v := int64(d.Mean)
	return &v
}

func longest(d *results.Distribution) *int64 {
	if d == nil {
		return nil
	}
	return &d.Max
}

// storms says what each form's storms cost, at the largest number of clients.
func storms(runs []results.Run) (lines []string) {
	for _, r := range largestRuns(runs) {
		lines = append(lines, stormed(r))
	}
	return lines
}

// stormWords says what the sessions do in each form.
var stormWords = map[string]string{
	"connect": "open at once", "reconnect": "lose their connections at once",
	"expire": "end at once and are opened anew", "idle": "do nothing but stay",
}

func stormed(r results.Run) string {
	line := fmt.Sprintf("When %s sessions %s, ", units.Count(int64(r.Clients)), stormWords[r.Form])
	if at := r.ServiceTimes(over); at != nil && r.Form != "idle" {
		line += fmt.Sprintf("all are back after %s, and meanwhile ", duration(at.Mean))
	}
	before, during := r.ServiceTimes(calm), r.ServiceTimes(ordinary)
	if before == nil || during == nil {
		return line + "no ordinary write was made."
	}
	line += fmt.Sprintf("an ordinary write takes %s on average and %s at most; before it took %s",
		duration(during.Mean), duration(during.Max), duration(before.Mean))
	if s := r.Storm; s != nil && s.Omitted > 0 {
		line += fmt.Sprintf(". %s of %s writes that were due meanwhile were not made, since the one before had not ended",
			units.Count(s.Omitted), units.Count(s.Made+s.Omitted))
	}
	return line + "."
}
