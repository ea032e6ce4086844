package charts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/outage"
	"github.com/stampede-bench/stampede/results/units"
)

// barHigh is the height of the marks of a row.
const barHigh float64 = 16

// returning draws what crosses the wire while clients return after the fault with the longest outage: for each
// form a bar for the notifications, and a triangle at the reads.
func returning(s subject) *Chart {
	all := outage.Worst(s.runs)
	if !slices.ContainsFunc(all, func(r outage.Recovered) bool { return r.Disconnected > 0 && r.Notifications+r.Reads > 0 }) {
		return nil
	}
	var p panel
	var about []string
	var most []float64
	at := 0.0
	for _, r := range slices.Backward(all) {
		name := s.key(r.Run)
		of, y := s.looks[name], at+barHigh/2
		told, reads := float64(r.Notifications), float64(r.Reads)
		bar := look{ink: of.ink, shape: disc}
		p.lines = append(p.lines,
			line{look: bar, joined: true, at: []point{{x: 0, y: y}, {x: told, y: y}}},
			line{look: bar, marked: true, at: []point{{x: told, y: y}}},
			line{look: look{ink: muted, shape: pyramid}, marked: true, at: []point{{x: reads, y: y}}})
		most = append(most, told, reads)
		at += barHigh + wordsHigh
		p.notes = append(p.notes, note{y: at, left: name, right: r.Traffic(), ink: of.ink})
		about = append(about, name+": "+r.Traffic())
	}
	slices.Reverse(about)
	p.x = linear("notifications and reads until all clients were back", most, number)
	p.rows(at)
	c := &Chart{Name: slug(s.name, "returning"), panels: []panel{p},
		Title:   titled(fmt.Sprintf("While %s return after %q", units.Clients(all[0].Run.Clients), all[0].Fault()), s),
		Caption: "The dot is the number of notifications, the grey triangle that of reads, until all clients were back, for at least a second. A naive form wakes again those that have just returned."}
	c.About = c.Title + ". " + strings.Join(about, "; ") + "."
	return c
}

// breaks returns a numbered mark for the time of each fault, and the meaning of the numbers. A fault may hit
// another member in each of the runs.
func breaks(runs []results.Run, name func(results.Run) string) (marks []rule, meaning string) {
	first := runs[0]
	if first.Faults == nil {
		return nil, ""
	}
	var all []string
	for i, b := range first.Faults.Done {
		x, number := b.AtNS.Seconds(), fmt.Sprint(i+1)
		if last := len(marks) - 1; last >= 0 && x-marks[last].x < first.DurationNS.Seconds()/100 {
			marks[last].name += ", " + number // there is no room for both
		} else {
			marks = append(marks, rule{x: x, name: number})
		}
		all = append(all, number+": "+hit(runs, i, name))
	}
	return marks, "Faults: " + strings.Join(all, "; ") + "."
}

// hit says what the i-th fault of each run was: once if it was the same, else with the names of the runs.
func hit(runs []results.Run, i int, name func(results.Run) string) string {
	var faults []string
	of := map[string][]string{}
	for _, r := range runs {
		if r.Faults == nil || i >= len(r.Faults.Done) {
			continue
		}
		what := r.Faults.Done[i].What
		if of[what] == nil {
			faults = append(faults, what)
		}
		of[what] = append(of[what], name(r))
	}
	if len(faults) == 1 {
		return faults[0]
	}
	for i, what := range faults {
		faults[i] = fmt.Sprintf("%s (%s)", what, strings.Join(of[what], ", "))
	}
	return strings.Join(faults, ", ")
}

// faultSpan returns the part of the window with the faults and what they did in any of the runs, with as much
// before and after it as shows the ordinary course. It is the whole window where that is hardly longer.
func faultSpan(runs []results.Run) (from, to float64) {
	whole := slices.MaxFunc(runs, func(a, b results.Run) int { return cmp.Compare(a.DurationNS, b.DurationNS) }).DurationNS.Seconds()
	from = whole
	for _, r := range outage.All(runs) {
		at := r.AtNS.Seconds()
		from, to = min(from, at), max(to, at)
		for _, took := range []*time.Duration{r.BackNS, r.ReconnectedNS, r.LongestStallNS} {
			if took != nil {
				to = max(to, at+took.Seconds())
			}
		}
	}
	if to == 0 {
		return 0, whole
	}
	for _, r := range runs {
		for _, b := range r.Faults.Done {
			to = max(to, b.AtNS.Seconds())
		}
	}
	rest := max(1, to-from)
	if len(runs[0].Intervals) > 0 {
		rest = max(rest, 5*lasted(runs[0], 0).Seconds())
	}
	from, to = max(0, from-rest), min(whole, to+rest)
	if to-from > 0.8*whole {
		return 0, whole
	}
	return from, to
}
