package merge

import (
	"errors"
	"fmt"
	"maps"
	"math"
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
// together, such as the herd. The server's own counts are missing. together says that the clients take their turns
// together.
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
		addGenerator(&m.Generator, r.Generator)
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
	m.Duration, m.Ramp = max(m.Duration, r.Duration), max(m.Ramp, r.Ramp)
	if r.Warmup.Took > m.Warmup.Took {
		m.Warmup = r.Warmup
	}
	m.Rounds, m.WholeRounds = m.Rounds+r.Rounds, m.WholeRounds+r.WholeRounds
	m.Counts, m.Whole = m.Counts.Add(r.Counts), m.Whole.Add(r.Whole)
	m.Disturbed = m.Disturbed || r.Disturbed
	m.Safety = m.Safety.Add(r.Safety, maxDetails)
	for text, n := range r.Errors {
		m.Errors[text] += n
	}
	if r.Mix != nil {
		if m.Mix == nil {
			m.Mix = &metrics.Mix{}
		}
		m.Mix.Reads, m.Mix.Writes, m.Mix.Retries = m.Mix.Reads+r.Mix.Reads, m.Mix.Writes+r.Mix.Writes, m.Mix.Retries+r.Mix.Retries
	}
	if r.Storm != nil {
		if m.Storm == nil {
			m.Storm = &metrics.Storm{}
		}
		m.Storm.Made, m.Storm.Omitted = m.Storm.Made+r.Storm.Made, m.Storm.Omitted+r.Storm.Omitted
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

// addGenerator adds arrivals and processor time. Machine is not merged: each agent has its own.
func addGenerator(m *metrics.Generator, g metrics.Generator) {
	m.CPUCores += g.CPUCores
	m.GCPause = max(m.GCPause, g.GCPause)
	m.Offered, m.Late, m.Completed = m.Offered+g.Offered, m.Late+g.Late, m.Completed+g.Completed
	m.Failed, m.Skipped, m.Unfinished = m.Failed+g.Failed, m.Skipped+g.Skipped, m.Unfinished+g.Unfinished
	m.Overdue += g.Overdue
	m.Oldest, m.Longest = max(m.Oldest, g.Oldest), max(m.Longest, g.Longest)
	m.Waiting, m.Behind = m.Waiting+g.Waiting, max(m.Behind, g.Behind)
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

// intervals merges the intervals of all agents, whose windows open at the same time.
func intervals(parts []Part) (merged []metrics.Interval, err error) {
	for _, p := range parts {
		for i, one := range p.Record.Intervals {
			if i == len(merged) {
				merged = append(merged, metrics.Interval{Start: one.Start})
			}
			m := &merged[i]
			m.Rounds, m.Notifications = m.Rounds+one.Rounds, m.Notifications+one.Notifications
			m.Reads, m.Writes = m.Reads+one.Reads, m.Writes+one.Writes
			if m.Times, err = Histograms(m.Times, one.Times); err != nil {
				return nil, fmt.Errorf("agent %s, interval %d: %w", p.Agent, i+1, err)
			}
		}
	}
	for i := range merged {
		m := &merged[i]
		m.P50, m.P90, m.P99 = percentile(m.Times, 50), percentile(m.Times, 90), percentile(m.Times, 99)
		m.Times = nil
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
