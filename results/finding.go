package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// finding says in a line or two what the runs on one backend show. For a recipe in a closed loop
// without faults, it compares a naive form with another one, at the largest number of clients
// that has both.
func finding(runs []Run, shown columns) []string {
	if void := violations(runs); len(void) > 0 {
		return void
	}
	measured := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Cost.PerRound == nil })
	if len(measured) == 0 {
		return []string{"Nothing was measured: no round was completed."}
	}
	if measured[0].isMix() {
		return append(mixes(measured, shown), outages(measured)...)
	}
	if measured[0].isStorm() {
		return storms(measured)
	}
	if measured[0].Fanout != nil {
		return tellings(measured)
	}
	if lines := outages(measured); lines != nil {
		return lines
	}
	if slices.ContainsFunc(measured, Run.open) {
		return offers(measured, shown)
	}
	if naive, calm, ok := sideBySide(medians(measured)); ok {
		return compare(naive, calm, measured, shown)
	}
	return alone(medians(measured), runs)
}

// violations names the runs with safety violations. The numbers of such a run are void.
func violations(runs []Run) (lines []string) {
	for _, r := range runs {
		if r.Safety.Violations == 0 {
			continue
		}
		lines = append(lines, fmt.Sprintf("SAFETY VIOLATED: %s/%s with %s broke its promise %s in %s checks; its numbers are void.",
			r.Recipe, r.Form, Clients(r.Clients), times(r.Safety.Violations), Count(r.Safety.Checked)))
		if len(r.Safety.Details) > 0 {
			lines = append(lines, "  "+r.Safety.Details[0])
		}
	}
	return lines
}

// sideBySide returns the first naive form and the first other form at the largest number of
// clients that has both. A library form counts only if there is no recipe form.
func sideBySide(runs []Run) (naive, calm Run, ok bool) {
	for i := range runs {
		n := runs[i]
		if n.Family != "naive" || ok && n.Clients <= naive.Clients {
			continue
		}
		for _, family := range []string{"recipe", "library"} {
			j := slices.IndexFunc(runs, func(r Run) bool {
				return r.Recipe == n.Recipe && r.Clients == n.Clients && r.Family == family
			})
			if j >= 0 {
				naive, calm, ok = n, runs[j], true
				break
			}
		}
	}
	return naive, calm, ok
}

func compare(naive, calm Run, runs []Run, shown columns) []string {
	many, few := naive.Cost.PerRound.Notifications, calm.Cost.PerRound.Notifications
	herd, form := called(naive, runs), called(calm, runs)
	who := fmt.Sprintf("With %s %s wakes", naive.crowd(), roundOf(naive.Recipe))
	var line string
	switch {
	case about(many) == 0 && about(few) > 0:
		line = fmt.Sprintf("%s nobody in %s, which does not wait to be woken, and %s in %s.", who, herd, short(few), form)
	case about(many) == about(few):
		line = fmt.Sprintf("%s as many in %s as in %s: %s. No herd here.", who, herd, form, short(many))
	case many < few:
		line = fmt.Sprintf("%s fewer in %s than in %s: %s against %s.", who, herd, form, short(many), short(few))
	default:
		line = fmt.Sprintf("%s %s in %s and %s in %s%s.", who, short(many), herd, short(few), form, asleep(naive))
	}
	return slices.Concat([]string{line}, slower(naive, calm, runs, shown), harm(naive, calm, runs, shown))
}

// asleep says how many of the clients that the naive form wakes go back to sleep.
func asleep(r Run) string {
	woken := r.Herd.Useful + r.Herd.Wasted
	n := r.Cost.PerRound.Notifications
	if woken == 0 || n < 1.5 {
		return ""
	}
	vain := n * float64(r.Herd.Wasted) / float64(woken)
	if about(vain) == 0 {
		return ""
	}
	if about(vain) == about(n) && r.Herd.Useful > 0 {
		vain = math.Floor(vain) // not all: some clients proceeded
	}
	return fmt.Sprintf("; %s of the %s go back to sleep", short(vain), short(n))
}

// slower compares how long it takes until the next client is served.
func slower(naive, calm Run, runs []Run, shown columns) []string {
	phase := tailPhase(naive)
	if phase == "" {
		return nil
	}
	name := strings.ToUpper(phase[:1]) + label(phase)[1:]
	e, medians, percentile := shown.slowdown(runs, func(r Run) *Distribution { return r.latency(phase) }, naive, calm)
	times := len(repetitionsOf(naive, runs))
	ratio, within := e.Value, e.within(times, "ratio ", "%.2f")
	if percentile == "" {
		return []string{name + ": too few rounds to compare."}
	}
	name += " " + percentile
	switch {
	case ratio >= 1.95:
		return append([]string{fmt.Sprintf("%s is %s times slower%s.", name, short(ratio), e.within(times, "", "%.3g"))}, e.notOfTheMedians(medians[0], medians[1], times)...)
	case ratio >= 1.05:
		return []string{fmt.Sprintf("%s is %.0f %% slower%s.", name, 100*(ratio-1), within)}
	case ratio > 0.95:
		return []string{name + " is no slower" + within + "."}
	}
	return []string{fmt.Sprintf("%s is no slower, but %.0f %% faster%s.", name, 100*(1-ratio), within)}
}

// slowdown compares the two forms by the highest percentile that the table shows and that both
// have enough observations for. It returns the ratio, the two medians as the table shows them,
// and the percentile's name; the name is "" if there is no such percentile.
func (c columns) slowdown(runs []Run, time func(Run) *Distribution, naive, calm Run) (ratio Estimate, medians [2]float64, percentile string) {
	p, name := c.highest(runs, time, naive, calm)
	if name == "" {
		return Estimate{}, medians, ""
	}
	medians[0], _ = c.at(runs, time, naive, p)
	medians[1], _ = c.at(runs, time, calm, p)
	return ratioOf(repetitionsOf(naive, runs), repetitionsOf(calm, runs), valueAt(time, p)), medians, name
}

// alone says what one family shows where there is no other to compare it with, and why. The
// argument all has all runs, also those without a completed round.
func alone(runs, all []Run) []string {
	most := slices.MaxFunc(runs, func(a, b Run) int { return a.Clients - b.Clients })
	line := fmt.Sprintf("With %s %s wakes %s in %s/%s%s.", most.crowd(), roundOf(most.Recipe),
		short(most.Cost.PerRound.Notifications), most.Recipe, most.Form, asleep(most))
	return []string{line, uncompared(most, all)}
}

// uncompared says why there is no form to compare the run with: none ran, or the form completed no
// round, or it ran with other numbers of clients only.
func uncompared(r Run, all []Run) string {
	other := "herd-avoiding"
	if r.Family != "naive" {
		other = "naive"
	}
	i := slices.IndexFunc(all, func(o Run) bool { return o.Recipe == r.Recipe && (o.Family == "naive") != (r.Family == "naive") })
	if i < 0 {
		return fmt.Sprintf("No %s form of it ran, so there is nothing to compare.", other)
	}
	if all[i].Cost.PerRound == nil {
		return fmt.Sprintf("The %s form %s completed no round with %s, so there is nothing to compare.", other, all[i].Form, Clients(all[i].Clients))
	}
	return fmt.Sprintf("The %s form %s ran with another number of clients only, so there is nothing to compare.", other, all[i].Form)
}

// called returns the name of a run's form in a sentence: its family, followed by the form's name
// where the runs have several forms of that family.
func called(r Run, runs []Run) string {
	var name string
	kin := slices.DeleteFunc(slices.Clone(runs), func(o Run) bool { return o.Family != r.Family })
	if len(distinct(kin, func(o Run) string { return o.Form })) > 1 {
		name = " " + r.Form
	}
	switch r.Family {
	case "naive":
		return "the naive form" + name
	case "library":
		return "the library's " + r.Form
	case "load":
		return "the " + r.Recipe
	}
	return "the recipe" + name
}

// roundOf returns the event that wakes clients in a round of the recipe, e.g. "a release".
func roundOf(recipe string) string {
	switch recipe {
	case "lock", "shared-lock", "revocable-lock":
		return "a release"
	case "election":
		return "a change of leader"
	}
	return "a round"
}

// crowd returns the number of clients in words, with the number of groups if there are several.
func (r Run) crowd() string {
	if r.Groups > 1 {
		return fmt.Sprintf("%s in %d groups", Clients(r.Clients), r.Groups)
	}
	return Clients(r.Clients)
}

// Clients formats a number of clients: "1 client", "128 clients".
func Clients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return Count(int64(n)) + " clients"
}

func times(n int64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Count(n) + " times"
}

// about rounds a number for prose: to an integer from 10 up, to one decimal below.
func about(v float64) float64 {
	if v >= 10 {
		return math.Round(v)
	}
	return math.Round(10*v) / 10
}

// short formats a number for prose: "99", "3.4", "1".
func short(v float64) string {
	if v = about(v); v == math.Trunc(v) {
		return Count(int64(v))
	}
	return fmt.Sprintf("%.1f", v)
}
