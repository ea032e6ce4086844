package results

import (
	"fmt"
	"slices"
	"time"
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

func (r Run) isStorm() bool { return r.Recipe == "sessions" }

// stormTable adds the columns for storms, which affect all sessions at the same time: a row for each
// level and form.
func stormTable(s *sheet) {
	s.text(column{head: "clients", over: s.runs[0].place()},
		func(r Run) string { return Count(int64(r.Clients)) })
	s.text(column{head: "form", left: true, space: 2}, func(r Run) string { return r.Form })
	s.text(column{head: "storms", space: 2}, func(r Run) string { return Count(r.Rounds) })
	s.latency(column{head: "mean", over: "all back", space: 3}, over, Run.service, mean)
	s.times("each back", back, Run.service)
	s.latency(column{head: "mean", over: "an ordinary write before", space: 3}, calm, Run.service, mean)
	s.latency(column{head: "max", space: 2}, calm, Run.service, longest)
	s.latency(column{head: "mean", over: "and meanwhile", space: 3}, ordinary, Run.service, mean)
	s.latency(column{head: "max", space: 2}, ordinary, Run.service, longest)
	s.figure(column{head: "not made", space: 2}, func(r Run) (float64, bool) {
		if r.Storm == nil || r.Storm.Made+r.Storm.Omitted == 0 {
			return 0, false
		}
		return float64(r.Storm.Omitted) / float64(r.Storm.Made+r.Storm.Omitted), true
	}, share)
	s.safety()
}

func mean(d *Distribution) *int64 {
	if d == nil {
		return nil
	}
	v := int64(d.Mean)
	return &v
}

func longest(d *Distribution) *int64 {
	if d == nil {
		return nil
	}
	return &d.Max
}

// storms says what each form's storms cost, at the largest number of clients.
func storms(runs []Run) (lines []string) {
	most := slices.MaxFunc(runs, func(a, b Run) int { return a.Clients - b.Clients }).Clients
	for _, r := range runs {
		if r.Clients == most {
			lines = append(lines, r.stormed())
		}
	}
	return lines
}

// stormWords says what the sessions do in each form.
var stormWords = map[string]string{
	"connect": "open at once", "reconnect": "lose their connections at once",
	"expire": "end at once and are opened anew", "idle": "do nothing but stay",
}

func (r Run) stormed() string {
	line := fmt.Sprintf("When %s sessions %s, ", Count(int64(r.Clients)), stormWords[r.Form])
	if at := r.service(over); at != nil && r.Form != "idle" {
		line += fmt.Sprintf("all are back after %s, and meanwhile ", Duration(time.Duration(at.Mean)))
	}
	before, during := r.service(calm), r.service(ordinary)
	if before == nil || during == nil {
		return line + "no ordinary write was made."
	}
	line += fmt.Sprintf("an ordinary write takes %s on average and %s at most; before it took %s",
		Duration(time.Duration(during.Mean)), Duration(time.Duration(during.Max)), Duration(time.Duration(before.Mean)))
	if s := r.Storm; s != nil && s.Omitted > 0 {
		line += fmt.Sprintf(". %s of %s writes that were due meanwhile were not made, since the one before had not ended",
			Count(s.Omitted), Count(s.Made+s.Omitted))
	}
	return line + "."
}
