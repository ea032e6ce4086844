package observed

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/pathname"
	"github.com/stampede-bench/stampede/metrics/recovery"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/units"
)

// Findings returns the findings of an observation, the most important first. A sentence that begins
// with two spaces explains the one before. There is at least one.
func Findings(o results.Observation) (all []string) {
	r := o.Observed
	if all = append(herds(r), unknownForms(r)...); len(all) == 0 {
		all = []string{noHerd(r, o.Incomplete())}
	}
	if o.Recovery != nil {
		all = append([]string{o.Recovery.Sentence(recovery.Format{Duration: units.Duration, Count: units.Count})}, all...)
	}
	if o.Incomplete() == "" { // else it may have been told by what is missing
		all = append(all, missed(r)...)
	}
	all = append(all, refused(r)...)
	if o.Recovery == nil { // else a fault may have ended them
		all = append(all, expired(r)...)
	}
	for _, find := range []func(observation.Report) []string{polling, rearming, churn, standing} {
		all = append(all, find(r)...)
	}
	return all
}

// Clients says how many sessions there were, by what they were told apart where that is not their number,
// and of how many processes, and hosts whose processes are not known.
func Clients(r observation.Report) string {
	t := r.Traffic
	text, by := units.Plural(int(t.Sessions), "session"), []string{}
	for _, k := range []struct {
		n    int64
		name string
	}{
		{t.ToldApart.Numbered, "number"}, {t.ToldApart.Leased, "lease"},
		{t.ToldApart.Processes, "process"}, {t.ToldApart.Connections, "connection"},
	} {
		if k.n > 0 {
			by = append(by, k.name)
		}
	}
	if len(by) > 0 && t.ToldApart.Numbered < t.Sessions {
		text += " by " + strings.Join(by, " and ")
	}
	processes := 0
	for _, c := range r.Clients {
		if c.Process != nil && !c.Idle() {
			processes++
		}
	}
	of := []string{}
	switch {
	case processes == 1:
		of = append(of, "1 process")
	case processes > 1:
		of = append(of, fmt.Sprintf("%d processes", processes))
	}
	if n := t.Clients - processes; n > 0 || processes == 0 {
		of = append(of, units.Plural(n, "client host"))
	}
	return text + ", " + strings.Join(of, " and ")
}

// Name names a client by its process, or by its address if that is not known.
func Name(p *client.Process, address string) string {
	if p == nil {
		return address
	}
	return fmt.Sprintf("%s (%d)", p.Name, p.ID)
}

// herds returns sentences for each herd.
func herds(r observation.Report) (all []string) {
	for _, p := range r.Herds() {
		all = append(all, fmt.Sprintf("HERD: one change of %s wakes up to %s of %s.", p.Path,
			units.Count(p.FanoutMax), units.Plural(p.Sessions, "session")),
			fmt.Sprintf("  %s: %s.", p.Form.Name, p.Form.Evidence))
		if p.Form.Wakes > 0 {
			would := units.Count(p.Form.Wakes)
			if p.Followers > 0 { // they want to know it in any form
				would = fmt.Sprintf("%s of those that wait for their turn, and the %s that only %s it", would,
					units.Count(int64(p.Followers)), map[bool]string{true: "follows", false: "follow"}[p.Followers == 1])
			}
			all = append(all, fmt.Sprintf("  With the form %q a change would wake %s.", p.Form.Instead, would))
		}
	}
	return all
}

// The longest names of the first and the second path of a cause. A third one is not named.
const (
	longestFirst  = 28
	longestSecond = 16
)

// Cause says what began an event: "set /config", "session expired: /leader, /members/n#".
func Cause(e causality.Event) string {
	short := func(path string, longest int) string {
		return cmp.Or(pathname.Elide([]string{path}, longest)[path], path)
	}
	paths := short(e.Paths[0], longestFirst)
	switch n := len(e.Paths); {
	case n > 2:
		paths += fmt.Sprintf(" and %d more", n-1)
	case n == 2:
		paths += ", " + short(shareFolder(e.Paths[0], e.Paths[1]), longestSecond)
	}
	switch e.Op {
	case "expire":
		return "session expired: " + paths
	case "close":
		return "session closed: " + paths
	case "multi":
		return "transaction: " + paths
	case "":
		return "unseen change of " + paths
	}
	return e.Op + " " + paths
}

// shareFolder returns the path with … for the folder that it has in common with another.
func shareFolder(other, path string) string {
	end := 0
	for i := range min(len(other), len(path)) {
		if other[i] != path[i] {
			break
		}
		if path[i] == '/' {
			end = i
		}
	}
	if end == 0 {
		return path
	}
	return "…" + path[end:]
}

// AtRest says what sessions asked for that no event had woken, "" if there was no event.
func AtRest(r observation.Report) string {
	e := r.Events
	if e.Count == 0 || r.Traffic.Unjoined > 0 {
		return ""
	}
	return fmt.Sprintf("at rest, apart from %s: %s of %s requests, %s over %s", units.Plural(int(e.Count), "event"),
		units.Count(e.AtRest), units.Count(r.Traffic.Requests), units.Value(e.AtRestPerS, "/s"), units.Duration(r.Duration))
}

// unknownForms returns a sentence for each path whose form is not known and whose changes wake many.
func unknownForms(r observation.Report) (all []string) {
	for _, p := range r.Undecided() {
		why := "its form is not recognised"
		switch {
		case p.Beyond > 0:
			why = fmt.Sprintf("these are %s at up to %s, beyond the path patterns that are told apart",
				units.Plural(int(p.Changes), "change"), units.Plural(int(p.Beyond), "path"))
		case p.Unjoined > 0:
			why = "what they do then is not known"
		case p.Form != nil:
			why = fmt.Sprintf("whether they wait for their turn, or want to know, is not known (%s: %s)", p.Form.Name, p.Form.Evidence)
		}
		all = append(all, fmt.Sprintf("NOT KNOWN: one change of %s wakes up to %s of %s; %s.",
			p.Path, units.Count(p.FanoutMax), units.Plural(p.Sessions, "session"), why))
	}
	return all
}

// noHerd says what was seen if there is nothing to find, and claims nothing about what was not analysed.
func noHerd(r observation.Report, incomplete string) string {
	t := r.Traffic
	switch {
	case t.Requests == 0 && incomplete != "":
		return "No request was decoded."
	case t.Requests == 0:
		return "No request was observed."
	case incomplete != "":
		return "No herd in what was analysed, which is not all."
	case t.Changes == 0:
		return "No change woke a session."
	}
	return fmt.Sprintf("No herd: a change wakes %s at the median and at most %s%s.", units.Plural(int(t.FanoutP50), "session"), units.Count(t.FanoutMax), whyNone(r))
}

// whyNone says why changes that wake several sessions are no herd, "" if none does.
func whyNone(r observation.Report) string {
	var useful, wasted int64
	all, followers := true, 0
	for _, p := range r.Places {
		if p.FanoutMax < 2 || p.Wasted == nil {
			continue
		}
		useful, wasted = useful+*p.Useful, wasted+*p.Wasted
		all, followers = all && p.Form != nil && p.Form.WaitFor == observation.News, followers+p.Followers
	}
	switch {
	case useful == 0:
		return ""
	case all && wasted == 0:
		return "; all of them want to know"
	case followers > 0:
		return fmt.Sprintf("; %s of them only follow who has the turn, and %s of the notifications were in vain", units.Count(int64(followers)), units.Percent(wasted, useful+wasted))
	}
	return fmt.Sprintf("; %s of the notifications were in vain", units.Percent(wasted, useful+wasted))
}

// missed returns sentences on the places of which sessions were not told as often as they watched.
func missed(r observation.Report) (all []string) {
	for _, p := range r.Places {
		if p.Missed != nil && *p.Missed > 0 {
			all = append(all, fmt.Sprintf("NOT TOLD: changes of %s passed %s without a notification.", p.Path, watches(*p.Missed)))
		}
		if p.Unproven > 0 {
			all = append(all, fmt.Sprintf("NOT KNOWN IF TOLD: %s of %s stood over a change, or may have, and nothing shows whether a notification was lost.", watches(p.Unproven), p.Path))
		}
		if p.Unasked != nil && *p.Unasked > 0 {
			all = append(all, fmt.Sprintf("TOLD TWICE: %s of %s belong to no watch.", units.Plural(int(*p.Unasked), "notification"), p.Path))
		}
	}
	return all
}

func watches(n int64) string {
	if n == 1 {
		return "1 watch"
	}
	return units.Count(n) + " watches"
}

// refused returns a sentence for each place at which most writes failed and that is no herd.
func refused(r observation.Report) (all []string) {
	for _, p := range r.Places {
		if p.Refused() && !p.Herd() {
			all = append(all, fmt.Sprintf("FAILED WRITES: %s of %s writes of %s failed.", units.Count(p.FailedWrites), units.Count(p.Writes), p.Path))
		}
	}
	return all
}

func expired(r observation.Report) []string {
	if r.Traffic.Lost == 0 {
		return nil
	}
	return []string{"EXPIRED: " + units.Plural(int(r.Traffic.Lost), "session") + " had no connection for longer than the time-out."}
}

func polling(r observation.Report) (all []string) {
	for _, p := range r.Places {
		if p.PolledByWrites() {
			all = append(all, fmt.Sprintf("POLLING: %s of %s requests for %s create a node in a line, list that without a watch and delete the node again, as the same session had done before; in %s of %s rounds it was not the first.",
				units.Count(p.Rounds.Requests), units.Count(p.Requests), p.Path, units.Count(p.Rounds.Behind), units.Count(p.Rounds.Times)))
		}
		if !p.PolledByReads() {
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

func rearming(r observation.Report) []string {
	a := r.Rearming
	if !a.Storm() {
		return nil
	}
	return []string{fmt.Sprintf("RE-ARM STORM: within one second %s armed %s watches again.",
		units.Plural(int(a.MostReconnects), "reconnected session"), units.Count(a.MostWatches))}
}

func churn(r observation.Report) []string {
	c, rates, noun := r.Churn, "", "session"
	if r.Traffic.ToldApart.Leased > 0 {
		noun = "lease"
	}
	if !c.Heavy(r.Duration) {
		return nil
	}
	if s := r.Duration.Seconds(); s > 0 {
		rates = fmt.Sprintf(" (%.1f and %.1f per second)", float64(c.Opened)/s, float64(c.Closed)/s)
	}
	return []string{
		fmt.Sprintf("%s CHURN: %s were opened and %s closed%s, and at most %s were open at once.", strings.ToUpper(noun),
			units.Plural(int(c.Opened), noun), units.Count(c.Closed), rates, units.Count(c.MostAtOnce)),
		fmt.Sprintf("  %s of those closed lived shorter than their time-out. Each open and close is a write.", units.Percent(c.ShortLived, c.Closed)),
	}
}

func standing(r observation.Report) (all []string) {
	for _, s := range r.Standing {
		if s.Many() {
			all = append(all, fmt.Sprintf("STANDING WATCHES: %s watches on %s were armed %s ago at the median, the oldest %s ago, and have not fired.",
				units.Count(s.Watches), s.Path, units.Age(s.AgeP50), units.Age(s.Oldest)))
		}
	}
	return all
}

// JoinedCount shows a count of what the sessions of the place did after notifications, which is not known of all.
func JoinedCount(p observation.Place, n int64) string {
	if p.Unjoined > 0 {
		return units.Absent
	}
	return units.Count(n)
}

// WastedShare shows the share of the notifications that were wasted.
func WastedShare(p observation.Place) string {
	if p.Wasted == nil || *p.Useful+*p.Wasted == 0 {
		return units.Absent
	}
	return units.Percent(*p.Wasted, *p.Useful+*p.Wasted)
}
