package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/stampede-bench/stampede/fit"
)

// These are the names in a level's PerRound.
const (
	perNotification = "notifications"
	perOperation    = "operations"
)

// A percentile is one of the percentiles of a Distribution.
type percentile struct {
	name string
	of   func(*Distribution) *int64
}

// percentiles returns the percentiles that levels are compared by, the highest first.
func percentiles() []percentile {
	return []percentile{
		{"p99", p99},
		{"p90", func(d *Distribution) *int64 { return d.P90 }},
		{"p50", median},
	}
}

// levels groups the runs by form and level, sorted by level, with the forms of one level next to each
// other.
func (s Sweep) levels() []Level {
	var all []Level
	for i, r := range s.Runs {
		at := slices.IndexFunc(all, func(l Level) bool { return l.has(r) })
		if at < 0 {
			at = len(all)
			all = append(all, levelOf(r))
		}
		all[at].Runs = append(all[at].Runs, i)
	}
	for i := range all {
		all[i].measure(s.at(all[i]), s.Percentiles)
	}
	slices.SortFunc(all, func(a, b Level) int {
		return cmp.Or(cmp.Compare(a.Recipe, b.Recipe), cmp.Compare(a.Backend.URL, b.Backend.URL), cmp.Compare(a.Clients, b.Clients),
			cmp.Compare(a.Groups, b.Groups), cmp.Compare(a.HoldNS, b.HoldNS), cmp.Compare(a.Rate, b.Rate),
			cmp.Compare(a.Reads, b.Reads), cmp.Compare(a.Size, b.Size),
			-cmp.Compare(a.Family, b.Family), cmp.Compare(a.Form, b.Form))
	})
	return all
}

func levelOf(r Run) Level {
	l := Level{Recipe: r.Recipe, Form: r.Form, Family: r.Family, Backend: r.Backend, Clients: r.Clients, Groups: r.Groups, HoldNS: r.HoldNS}
	if r.Open != nil {
		l.Rate, _ = strconv.ParseFloat(r.Open.Rate, 64) // 0 for a ramp, which a sweep does not have
	}
	if r.isMix() {
		l.Reads, l.Size = r.ReadRatio.Asked, r.Mix.SizeBytes
	}
	return l
}

func (l Level) has(r Run) bool {
	other := levelOf(r)
	return l.Recipe == other.Recipe && l.Form == other.Form && l.Backend == other.Backend &&
		l.Clients == other.Clients && l.Groups == other.Groups && l.HoldNS == other.HoldNS && l.Rate == other.Rate &&
		l.Reads == other.Reads && l.Size == other.Size
}

// at returns the runs of a level.
func (s Sweep) at(l Level) []Run {
	runs := make([]Run, len(l.Runs))
	for i, place := range l.Runs {
		runs[i] = s.Runs[place]
	}
	return runs
}

// measure computes the medians, including those of the chosen percentiles.
func (l *Level) measure(runs []Run, chosen []float64) {
	l.Throughput, _ = across(runs, func(r Run) (float64, bool) { return r.ThroughputPerS, true })
	l.PerRound, l.Latency = map[string]Estimate{}, map[string]map[string]Estimate{}
	for name, of := range map[string]func(*PerRound) float64{
		perNotification: func(p *PerRound) float64 { return p.Notifications },
		perOperation:    func(p *PerRound) float64 { return p.Reads + p.Writes },
	} {
		if e, ok := across(runs, func(r Run) (float64, bool) { return perRoundOf(r, of) }); ok {
			l.PerRound[name] = e
		}
	}
	for _, phase := range runs[0].Phases {
		l.Latency[phase] = map[string]Estimate{}
		for _, p := range percentiles() {
			if e, ok := across(runs, func(r Run) (float64, bool) { return at(r.latency(phase), p) }); ok {
				l.Latency[phase][p.name] = e
			}
		}
		for _, p := range chosen {
			if e, ok := across(runs, valueAt(func(r Run) *Distribution { return r.latency(phase) }, p)); ok {
				l.Latency[phase][percentileName(p)] = e
			}
		}
	}
}

func perRoundOf(r Run, of func(*PerRound) float64) (float64, bool) {
	if r.Cost.PerRound == nil {
		return 0, false
	}
	return of(r.Cost.PerRound), true
}

func at(d *Distribution, p percentile) (float64, bool) {
	if d == nil || p.of(d) == nil {
		return 0, false
	}
	return float64(*p.of(d)), true
}

// across returns the median of a figure over the runs, false if one of them does not have it.
func across(runs []Run, of func(Run) (float64, bool)) (Estimate, bool) {
	var values []float64
	for _, r := range runs {
		v, ok := of(r)
		if !ok {
			return Estimate{}, false
		}
		values = append(values, v)
	}
	return Estimate(fit.Median(values)), true
}

// On returns the level's value on an axis.
func (l Level) On(axis string) float64 {
	switch axis {
	case "rate":
		return l.Rate
	case "groups":
		return float64(l.Groups)
	case "hold":
		return float64(l.HoldNS)
	case "reads":
		return l.Reads
	case "size":
		return float64(l.Size)
	}
	return float64(l.Clients)
}

// place formats a level of an axis for prose: "16 clients".
func place(axis string, at float64) string {
	switch axis {
	case "rate":
		return short(at) + " arrivals/s"
	case "groups":
		return plural(int(at), "group")
	case "hold":
		return "hold " + setting(time.Duration(at))
	case "reads":
		return shareAsked(at) + " reads"
	case "size":
		return fmt.Sprintf("values of %s B", Count(int64(at)))
	}
	return fmt.Sprintf("%s clients", short(at))
}

// shareAsked formats a share that the user chose, as short as possible: "33.3 %".
func shareAsked(share float64) string {
	return strconv.FormatFloat(math.Round(1e4*share)/100, 'f', -1, 64) + " %"
}

// beside formats the level of the second axis, "" if there is none.
func (s Sweep) beside(l Level) string {
	if len(s.Axes) < 2 {
		return ""
	}
	return place(s.Axes[1], l.On(s.Axes[1]))
}

// series splits the levels into series: those of one form along the first axis, at one level of the
// second.
func (s Sweep) series() (all [][]Level) {
	same := func(a, b Level) bool {
		return a.Recipe == b.Recipe && a.Form == b.Form && a.Backend == b.Backend && s.beside(a) == s.beside(b)
	}
	for _, l := range s.Levels {
		i := slices.IndexFunc(all, func(series []Level) bool { return same(series[0], l) })
		if i < 0 {
			i = len(all)
			all = append(all, nil)
		}
		all[i] = append(all[i], l)
	}
	return all
}

// A Series is the levels of one form along the first axis, at one level of the second.
type Series struct {
	Name   string // the form, and what else distinguishes the series
	Beside string // the level of the second axis, "" if there is none
	Levels []Level
	Curve  *Curve // nil if no curve was fitted
}

// Series returns the sweep's levels as series, each with its curve.
func (s Sweep) Series() (all []Series) {
	for _, levels := range s.series() {
		l := levels[0]
		series := Series{Beside: s.beside(l), Levels: levels}
		series.Name = s.form(l.Recipe, l.Form, l.Backend.URL, series.Beside)
		if i := slices.IndexFunc(s.Curves, func(c Curve) bool { return c.of(l) && c.Beside == series.Beside }); i >= 0 {
			series.Curve = &s.Curves[i]
		}
		all = append(all, series)
	}
	return all
}
