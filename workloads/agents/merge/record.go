package merge

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// maxDetails is how many findings of safety checks a merged record keeps.
const maxDetails = 10

// A Part is what one agent measured in its window.
type Part struct {
	Agent  string
	Record *metrics.Record
}

// Records returns the record that one process would have had: sums of counts, merged histograms, and the
// longest durations. Warnings name their agent. The caller fills in what follows only from all clients
// together, such as the herd, and may add to the times of intervals. The server's own counts are missing.
// together says that the clients take their turns together.
func Records(parts []Part, together bool) (*metrics.Record, error) {
	m := &metrics.Record{Errors: map[string]int64{}}
	var phases [][]metrics.Phase
	var lags, wakes []*hdrhistogram.Histogram
	for _, p := range parts {
		r := p.Record
		if r.Fanout != nil || len(r.Breaks)+len(r.Recoveries) > 0 {
			return nil, fmt.Errorf("agent %s: a fan-out and faults cannot be merged", p.Agent)
		}
		add(m, r)
		if err := addFairness(m, r.Fairness); err != nil {
			return nil, fmt.Errorf("agent %s: %w", p.Agent, err)
		}
		addLittle(m, r.Little, together)
		m.Warnings, m.Doubts = join(m.Warnings, r.Warnings, p.Agent), join(m.Doubts, r.Doubts, p.Agent)
		phases, lags, wakes = append(phases, r.Phases), append(lags, r.Generator.Lag), append(wakes, r.Generator.Wakes)
	}
	var errs [4]error
	m.Phases, errs[0] = Phases(phases...)
	m.Generator.Lag, errs[1] = Histograms(lags...)
	m.Generator.Wakes, errs[2] = Histograms(wakes...)
	m.Intervals, errs[3] = intervals(parts)
	m.Warn(m.Little.Warnings()...)
	return m, errors.Join(append(errs[:], addBackground(m, parts))...)
}

// addBackground merges the backgrounds. An agent without clients of the background has none.
func addBackground(m *metrics.Record, parts []Part) (err error) {
	var all []Part
	for _, p := range parts {
		if p.Record.Background != nil {
			all = append(all, Part{p.Agent, p.Record.Background})
		}
	}
	if len(all) == 0 {
		return nil
	}
	if m.Background, err = Records(all, false); err != nil {
		return fmt.Errorf("background: %w", err)
	}
	for _, w := range m.Background.Little.Warnings() {
		w.Names = metrics.Names{metrics.OfLoad: metrics.Background}
		m.Warn(w)
	}
	return nil
}

// add adds the counts of an agent.
func add(m, r *metrics.Record) {
	if r.Warmup.Took > m.Warmup.Took {
		m.Warmup = r.Warmup
	}
	addNumbers(m, r)
	addNumbers(&m.Counts, &r.Counts)
	addNumbers(&m.Whole, &r.Whole)
	addNumbers(&m.Upkeep, &r.Upkeep)
	addNumbers(&m.WholeUpkeep, &r.WholeUpkeep)
	addNumbers(&m.Sessions, &r.Sessions)
	addNumbers(&m.Generator, &r.Generator) // without the machine: each agent has its own
	m.Safety = m.Safety.Add(r.Safety, maxDetails)
	for text, n := range r.Errors {
		m.Errors[text] += n
	}
	addPart(&m.Mix, r.Mix)
	addPart(&m.Storm, r.Storm)
}

// addPart adds a part that not every record has.
func addPart[T any](into **T, from *T) {
	if from == nil {
		return
	}
	if *into == nil {
		*into = new(T)
	}
	addNumbers(*into, from)
}

// addNumbers adds the fields of one structure to those of another: counts and rates are added, of times
// the longest counts, and what is true of one is true of both. It leaves out fields of other types.
func addNumbers[T any](into, from *T) {
	sum, part := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	for i := range sum.NumField() {
		switch a, b := sum.Field(i), part.Field(i); {
		case a.Type() == reflect.TypeFor[time.Duration]():
			a.SetInt(max(a.Int(), b.Int()))
		case a.CanInt():
			a.SetInt(a.Int() + b.Int())
		case a.CanFloat():
			a.SetFloat(a.Float() + b.Float())
		case a.Kind() == reflect.Bool:
			a.SetBool(a.Bool() || b.Bool())
		}
	}
}

// addFairness adds how often an agent's clients were served. Each agent has an entry for each client of
// the whole run.
func addFairness(m *metrics.Record, f *metrics.Fairness) error {
	switch {
	case f == nil:
		return nil
	case m.Fairness == nil:
		m.Fairness = &metrics.Fairness{Served: make([]int64, len(f.Served))}
	case len(f.Served) != len(m.Fairness.Served):
		return fmt.Errorf("it has %d clients, another agent %d", len(f.Served), len(m.Fairness.Served))
	}
	for client, n := range f.Served {
		m.Fairness.Served[client] += n
	}
	m.Fairness.Inversions += f.Inversions
	m.Fairness.LongestWait = max(m.Fairness.LongestWait, f.LongestWait)
	return nil
}

// addLittle adds the turns of an agent. Where turns of different agents are independent, the squares of their
// errors are added.
func addLittle(m *metrics.Record, l *metrics.Little, together bool) {
	if l == nil {
		return
	}
	if m.Little == nil {
		m.Little = &metrics.Little{}
	}
	s := m.Little
	if s.InProgress, s.Ended, s.Most = s.InProgress+l.InProgress, s.Ended+l.Ended, s.Most+l.Most; together {
		s.Error += l.Error
		return
	}
	s.Error = math.Hypot(s.Error, l.Error)
}

// join adds the warnings of an agent. One about its machine names it. Of others there is one for all
// agents: it has the sums of their numbers, and the longest of their times. Little's law is checked on the
// merged record instead.
func join(all, further []metrics.Warning, agent string) []metrics.Warning {
	for _, w := range further {
		i := slices.IndexFunc(all, func(o metrics.Warning) bool { return o.Code == w.Code && maps.Equal(o.Names, w.Names) })
		switch {
		case w.Code == metrics.LittlesLaw:
		case strings.HasPrefix(w.Code, "cpu"):
			names := metrics.Names{metrics.OfAgent: agent}
			maps.Copy(names, w.Names)
			w.Names = names
			all = append(all, w)
		case i < 0:
			w.Numbers = maps.Clone(w.Numbers)
			all = append(all, w)
		default:
			for name, n := range w.Numbers {
				if strings.HasSuffix(name, "_ns") {
					all[i].Numbers[name] = max(all[i].Numbers[name], n)
				} else {
					all[i].Numbers[name] += n
				}
			}
		}
	}
	return all
}

// intervals merges the intervals of all agents, whose windows open at the same time. An agent that was stopped
// or short of processors has longer ones: a merged interval begins where one begins in every agent.
func intervals(parts []Part) (merged []metrics.Interval, err error) {
	begin := make(map[time.Duration]int) // in how many agents an interval begins at a time
	agents := 0
	for _, p := range parts {
		for _, one := range p.Record.Intervals {
			begin[one.Start]++
		}
		agents += min(len(p.Record.Intervals), 1)
	}
	for _, p := range parts {
		i := -1
		for _, one := range p.Record.Intervals {
			if i < 0 || begin[one.Start] == agents {
				i++
			}
			if i == len(merged) {
				merged = append(merged, metrics.Interval{Start: one.Start})
			}
			m := &merged[i]
			one.Start = m.Start
			addNumbers(m, &one)
			if m.Times, err = Histograms(m.Times, one.Times); err != nil {
				return nil, fmt.Errorf("agent %s, interval %d: %w", p.Agent, i+1, err)
			}
		}
	}
	for i := range merged {
		m := &merged[i]
		m.P50, m.P90, m.P99 = percentile(m.Times, 50), percentile(m.Times, 90), percentile(m.Times, 99)
	}
	return merged, nil
}

// percentile returns 0 if there are too few times.
func percentile(h *hdrhistogram.Histogram, p float64) time.Duration {
	if h == nil {
		return 0
	}
	v, _ := metrics.Percentile(h, p)
	return time.Duration(v)
}
