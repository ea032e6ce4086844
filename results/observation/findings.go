package observation

import (
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results/units"
	"github.com/stampede-bench/stampede/results/view"
)

// minPolls is the smallest number of reads that are called polling, if they are more than half of
// the requests for a path: a client that reads a node a few times at its start polls nothing.
const minPolls = 10

func polled(p observe.Place) bool { return p.PollsSame >= minPolls && p.PollsSame*2 > p.Requests }

func polling(r observe.Report) (all []string) {
	for _, p := range r.Places {
		if !polled(p) {
			continue
		}
		every := ""
		if p.PollEvery != nil {
			every = fmt.Sprintf(", %s after it at the median", units.Duration(time.Duration(*p.PollEvery)))
		}
		all = append(all, fmt.Sprintf("POLLING: %s of %s requests for %s repeat a read that returned the same as before%s.",
			units.Count(p.PollsSame), units.Count(p.Requests), p.Path, every))
	}
	return all
}

// Fewer reconnects in a second than minReconnects are clients that lose their connections one by one;
// fewer watches than minRearmed are set again with a packet or two.
const (
	minReconnects = 10
	minRearmed    = 1000
)

func storms(r observe.Rearming) bool {
	return r.MostReconnects >= minReconnects && r.MostWatches >= minRearmed
}

func rearmStorm(r observe.Report) []string {
	if !storms(r.Rearming) {
		return nil
	}
	return []string{
		fmt.Sprintf("RE-ARM STORM: within one second %s armed %s again.",
			units.Plural(int(r.Rearming.MostReconnects), "reconnected session"), units.Count(r.Rearming.MostWatches)+" watches"),
	}
}

// Short sessions matter if clients replace them again and again: more than half are closed before
// their time-out has passed once, and turnover times as many were opened as were open at once. A
// program that opens many sessions and ends opens each once. Fewer than minOpened cost little.
const (
	minOpened = 20
	turnover  = 4
)

func churns(c observe.Churn) bool {
	return c.Opened >= minOpened && c.Opened >= turnover*c.MostAtOnce && c.ShortLived*2 > c.Closed
}

func churn(r observe.Report) []string {
	c := r.Churn
	if !churns(c) {
		return nil
	}
	return []string{
		fmt.Sprintf("SESSION CHURN: %s were opened and %s closed%s, and at most %s were open at once.",
			units.Plural(int(c.Opened), "session"), units.Count(c.Closed), rates(c, r.Duration), units.Count(c.MostAtOnce)),
		fmt.Sprintf("  %s of those closed lived shorter than their time-out. Each open and close is a write.", units.Percent(c.ShortLived, c.Closed)),
	}
}

// rates returns how many sessions were opened and closed per second.
func rates(c observe.Churn, d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%.1f and %.1f per second)", float64(c.Opened)/d.Seconds(), float64(c.Closed)/d.Seconds())
}

// Fewer watches than minStanding cost a server little memory, and younger ones than minAge may be
// those of clients that wait for their turn.
const (
	minStanding = 1000
	minAge      = time.Minute
)

// age writes an age, which may be hours, to the second.
func age(d time.Duration) string { return d.Round(time.Second).String() }

func stands(s observe.Standing) bool { return s.Watches >= minStanding && s.AgeP50 >= minAge }

func standing(r observe.Report) (all []string) {
	for _, s := range r.Standing {
		if stands(s) {
			all = append(all, fmt.Sprintf("STANDING WATCHES: %s watches on %s were armed %s ago at the median, the oldest %s ago, and have not fired.",
				units.Count(s.Watches), s.Path, age(s.AgeP50), age(s.Oldest)))
		}
	}
	return all
}

// polls, rearmed, sessions and standingWatches return the numbers of the findings, and no rows where there is none.
func polls(places []observe.Place) view.Table {
	t := view.Table{Title: "Polling", Columns: numbers(false, "polled path", "requests", "unchanged", "interval p50")}
	for _, p := range places {
		if polled(p) {
			t.Rows = append(t.Rows, []string{shortened(p.Path), units.Count(p.Requests), units.Count(p.PollsSame), duration(p.PollEvery)})
		}
	}
	return t
}

func rearmed(r observe.Rearming) view.Table {
	t := view.Table{Title: "Watches armed again", Columns: numbers(false, "armed again", "sessions", "watches")}
	if storms(r) {
		t.Rows = [][]string{
			{"most in one second", units.Count(r.MostReconnects), units.Count(r.MostWatches)},
			{"after all reconnects", units.Count(r.Reconnects), units.Count(r.Watches)},
		}
	}
	return t
}

func sessions(c observe.Churn) view.Table {
	t := view.Table{Title: "Sessions", Columns: numbers(false, "sessions", "opened", "closed", "before their time-out", "most at once")}
	if churns(c) {
		t.Rows = [][]string{{"all", units.Count(c.Opened), units.Count(c.Closed), units.Count(c.ShortLived), units.Count(c.MostAtOnce)}}
	}
	return t
}

func standingWatches(all []observe.Standing) view.Table {
	t := view.Table{Title: "Standing watches", Columns: numbers(false, "standing watches on", "watches", "age p50", "oldest")}
	for _, s := range all {
		if stands(s) {
			t.Rows = append(t.Rows, []string{shortened(s.Path), units.Count(s.Watches), age(s.AgeP50), age(s.Oldest)})
		}
	}
	return t
}
