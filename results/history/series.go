package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/metric"
	"github.com/stampede-bench/stampede/results/stats"
)

// A Series is one figure of one kind of run on one machine, over time.
type Series struct {
	Subject string // the kind of run: its form, backend, clients and settings
	Machine string
	Metric  metric.Metric
	Points  []Point // in the order of their time
	// Acceptances are those of changes of the figure.
	Acceptances []Acceptance
	observed    bool // of an observation
}

// A Point is the figure in one result: the median over its repetitions.
type Point struct {
	ID    string // of the result
	Time  time.Time
	Marks results.Marks
	Value float64
}

// A Collection is the series of several results. Add results in the order of their time.
type Collection struct {
	Figures  []string // the names of the figures to follow; none: the default ones of each kind of result
	Accepted []Acceptance
	Series   []*Series
	results  int
}

// Default returns the figures that a history follows unless others are named: throughput, the median of
// the key phase, and the exact costs of whole rounds.
func Default(phases []string) []string {
	names := []string{"rounds_per_s"}
	if key := results.KeyPhase(phases); key != "" {
		names = append(names, key+".p50")
	}
	return append(names, "whole.notifications_per_round", "whole.reads_per_round", "whole.writes_per_round")
}

// Add adds the figures of a result with the id: of the runs of a run or a sweep, of what a count
// counted, and of the paths of an observation. The runs of a sweep, which alternate with other levels,
// have series of their own. Other kinds of results have no figures. Add leaves out results that were
// interrupted, and runs that violated safety.
func (c *Collection) Add(id string, r results.Result) error {
	c.results++
	switch r := r.(type) {
	case results.File:
		r.ID = id
		return c.addFile(r, "")
	case results.Sweep:
		r.File.ID = id
		return c.addFile(r.File, "sweep: ")
	case results.CountReport:
		r.ID = id
		c.addCounts(r)
	case results.Observation:
		r.ID = id
		c.addObservation(r)
	}
	return nil
}

// addFile adds the runs of a file, to series whose subjects have the prefix.
func (c *Collection) addFile(f results.File, prefix string) error {
	if f.Interrupted {
		return nil
	}
	groups := map[string][]results.Run{}
	var subjects []string
	for _, r := range f.Runs {
		is := prefix + subject(r)
		if r.Safety.Violations > 0 {
			continue
		}
		if groups[is] == nil {
			subjects = append(subjects, is)
		}
		groups[is] = append(groups[is], r)
	}
	for _, is := range subjects {
		if err := c.addRuns(f, is, groups[is]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Collection) addRuns(f results.File, is string, runs []results.Run) error {
	names := c.Figures
	if len(names) == 0 {
		names = Default(runs[0].Phases)
	}
	for _, name := range names {
		if isCount(name) || isObserved(name) && !isOfRuns(name, runs[0].Phases) {
			continue
		}
		m, err := metric.Parse(name, runs[0].Phases)
		if err != nil && len(c.Figures) > 0 && phaseOfAnother(name, runs[0].Phases) {
			continue
		}
		if err != nil {
			return err
		}
		var values []float64
		for _, r := range runs {
			if v, known := m.Of(r); known {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			c.add(is, machine(f.Host), m, Point{f.ID, f.Started, f.Marks, stats.Median(values).Value})
		}
	}
	return nil
}

// isOfRuns reports whether the name is that of a figure of runs with these phases.
func isOfRuns(name string, phases []string) bool {
	_, err := metric.Parse(name, phases)
	return err == nil
}

// phaseOfAnother reports whether the name is a latency of a phase that these runs do not have.
func phaseOfAnother(name string, phases []string) bool {
	phase, statistic, found := strings.Cut(name, ".")
	if !found || slices.Contains(phases, phase) {
		return false
	}
	return isOfRuns(phase+"."+statistic, []string{phase})
}

// add adds a point to the series of the metric, of a kind of run on a machine.
func (c *Collection) add(is, on string, m metric.Metric, p Point) *Series {
	s := c.find(is, on, m)
	s.Points = append(s.Points, p)
	return s
}

func (c *Collection) find(is, on string, m metric.Metric) *Series {
	for _, s := range c.Series {
		if s.Subject == is && s.Machine == on && s.Metric.Name == m.Name {
			return s
		}
	}
	s := &Series{Subject: is, Machine: on, Metric: m}
	for _, a := range c.Accepted {
		if a.Figure == m.Name {
			s.Acceptances = append(s.Acceptances, a)
		}
	}
	c.Series = append(c.Series, s)
	return s
}

// subject describes a kind of run. Runs of different settings are not compared.
func subject(r results.Run) string {
	text := fmt.Sprintf("%s/%s on %s, %d clients", r.Recipe, r.Form, r.Backend.URL, r.Clients)
	if r.Scenario != "" {
		text = r.Scenario + ": " + text
	}
	chosen := r.Chosen()
	for _, name := range []string{"groups", "hold", "think", "rate", "reads", "keys", "size", "background", "preload"} {
		if v := chosen[name]; v != "" && v != "0" && v != "0s" && v != "1" {
			text += ", " + name + " " + v
		}
	}
	return text
}

// machine describes a machine. Its kernel may change: a history should reveal what that costs.
func machine(h results.Host) string { return fmt.Sprintf("%d × %s, %s", h.Cores, h.CPU, h.OS) }

// Exact reports whether the figure is an exact count: one at rest, or one of whole rounds or of an
// observation that rarely differs between results. A count that depends on the order in which clients come differs from result to result, and is
// analysed as a figure that has noise.
func (s *Series) Exact() bool {
	if isCount(s.Metric.Name) {
		return true
	}
	if s.Metric.Timed || !strings.HasPrefix(s.Metric.Name, "whole.") && !s.observed {
		return false
	}
	differ := 0
	for i := 1; i < len(s.Points); i++ {
		if !same(s.Points[i].Value, s.Points[i-1].Value) {
			differ++
		}
	}
	return 5*differ <= max(len(s.Points), 10)
}

// Analyze returns the changes of the series. Sizes are shares of the value before: 0.1 is 10 % more.
//
// Note: it analyses the logarithms of figures that have noise, since noise is proportional to a figure.
func (s *Series) Analyze() []Change {
	values := make([]float64, len(s.Points))
	for i, p := range s.Points {
		values[i] = p.Value
	}
	if s.Exact() {
		return differences(values)
	}
	for i, v := range values {
		if v <= 0 {
			return nil
		}
		values[i] = math.Log(v)
	}
	changes := Detect(values)
	for i := range changes {
		changes[i].Size = math.Expm1(changes[i].Size)
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return math.Abs(c.Size) < smallest })
}

// smallest is the smallest change that matters, as a share. A count per round differs by less between two
// results, since the first and the last round of a run cost less than the others.
const smallest = 0.01

// same reports whether two values of a count are equal but for the ends of the runs.
func same(a, b float64) bool { return math.Abs(a-b) < smallest*max(math.Abs(a), math.Abs(b)) || a == b }

// differences returns the places at which a count differs from the value at the change before, or from the
// first one.
func differences(values []float64) (all []Change) {
	before := values[0]
	for i, v := range values {
		if same(v, before) {
			continue
		}
		size := math.Inf(1)
		if before != 0 {
			size = v/before - 1
		}
		all = append(all, Change{At: i, To: i, Seen: i + 1, Size: size})
		before = v
	}
	return all
}

// worse reports whether a change of the series is for the worse.
func (s *Series) worse(c Change) bool {
	switch s.Metric.Better {
	case metric.Less:
		return c.Size > 0
	case metric.More:
		return c.Size < 0
	}
	return false
}

// An Acceptance says that a change is known and meant, and why: it is no regression any more.
type Acceptance struct {
	Figure string    `json:"figure"` // as it is named in thresholds
	Result string    `json:"result"` // the id of the first result after the change
	Reason string    `json:"reason"`
	At     time.Time `json:"accepted"`
}

// ReadAccepted reads acceptances, one in each line.
func ReadAccepted(r io.Reader) (all []Acceptance, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var a Acceptance
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if a.Figure == "" || a.Result == "" || a.Reason == "" {
			return nil, fmt.Errorf("line %d: want a figure, a result and a reason", n)
		}
		all = append(all, a)
	}
	return all, lines.Err()
}

// Accepted returns the acceptance of a change of the series. The place of a change may still move a little with the
// results that follow, so an acceptance of a result near it counts.
func (s *Series) Accepted(c Change) (Acceptance, bool) {
	around := s.Points[max(0, c.At-near):min(len(s.Points), c.At+near+1)]
	i := slices.IndexFunc(s.Acceptances, func(a Acceptance) bool {
		return slices.ContainsFunc(around, func(p Point) bool { return p.ID == a.Result })
	})
	if i < 0 {
		return Acceptance{}, false
	}
	return s.Acceptances[i], true
}
