package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/stats"
)

// A Series is one figure of one kind of measurement on one machine, over time.
type Series struct {
	Subject string // the kind of measurement: its form, backend, clients, and the settings in which kinds differ
	Machine string
	Figure  figure.Figure
	Points  []Point // in the order of their time; none if all results are left out
	// Exact says that a formula fixes every value, so that the first that differs is a change.
	Exact bool
	results.LeftOut
	// Acceptances are those of changes of the figure.
	Acceptances []Acceptance

	key      string  // the same for measurements that repeat each other
	doubtful []Point // that are left out
	places   int     // the number of results, those that are left out too
}

// A Point is the figure in one result: the median over its repetitions.
type Point struct {
	ID    string // of the result
	Time  time.Time
	Marks results.Marks
	Value float64 // of a doubtful result that counts, the one that its runs can have had and that is furthest against the change

	place int // among the results
	reach figure.Reading
}

// A Collection is the series of several results. Add results in the order of their time.
type Collection struct {
	Figures  []string // the names of the figures to follow; none: the default ones of each kind of result
	Accepted []Acceptance
	series   []*Series
	runs     map[string]results.Run // one for each key of a series of runs
	results  int
}

// Add adds the figures of a result with the id: of the runs of a run or a sweep, of what a count
// counted, and of an observation as a whole and of its paths. The runs of a sweep, which alternate with other
// levels, have series of their own. Other kinds of results have no figures. Add leaves out runs that were
// interrupted and results that violated safety, and counts them.
func (c *Collection) Add(id string, r results.Result) {
	c.results++
	switch r := r.(type) {
	case results.File:
		r.ID = id
		c.addFile(r, "")
	case results.Sweep:
		r.File.ID = id
		c.addFile(r.File, sweepPrefix)
	case results.CountReport:
		r.ID = id
		c.addCounts(r)
	case results.Observation:
		r.ID = id
		c.addObservation(r)
	}
}

// sweepPrefix begins the subject of runs of a sweep.
const sweepPrefix = "sweep: "

// addFile adds the runs of a file, to series whose keys and subjects have the prefix.
func (c *Collection) addFile(f results.File, prefix string) {
	groups := map[string][]results.Run{}
	var keys []string
	for _, r := range f.Runs {
		key := prefix + r.Key()
		if groups[key] == nil {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], r)
	}
	for _, key := range keys {
		c.addRuns(f, key, groups[key])
	}
}

func (c *Collection) addRuns(f results.File, key string, runs []results.Run) {
	names := c.Figures
	if len(names) == 0 {
		names = figure.Followed(runs[0].Phases)
	}
	for _, name := range names {
		m, err := figure.Parse(name, runs[0].Phases)
		if err != nil {
			continue // the figure of another kind of result, or of runs with other phases
		}
		var values, low, high []float64
		for _, r := range runs {
			if is := m.Read(r); is.Known() {
				values, low, high = append(values, is.Value), append(low, max(is.Low, 0)), append(high, max(is.High, 0))
			}
		}
		if c.runs == nil {
			c.runs = map[string]results.Run{}
		}
		c.runs[key] = runs[0]
		s := c.find(key, f.Host.Machine(), m)
		switch {
		case len(values) == 0:
			s.leaveOut(&s.Unknown)
			continue
		case f.Interrupted:
			s.leaveOut(&s.Interrupted)
			continue
		case results.Unsafe(runs):
			s.leaveOut(&s.Unsafe)
			continue
		}
		point := Point{ID: f.ID, Time: f.Started, Marks: f.Marks, Value: stats.Median(values).Value}
		if m.Void(runs) != "" {
			point.reach = figure.Reading{Low: stats.Median(low).Value, High: stats.Median(high).Value}
			point.place = s.places
			s.doubtful = append(s.doubtful, point)
			s.leaveOut(&s.Doubtful)
			continue
		}
		exact := !slices.ContainsFunc(runs, func(r results.Run) bool { return !m.Exact(r) })
		s.add(point, exact)
	}
}

// leaveOut counts a result that is left out.
func (s *Series) leaveOut(why *int) {
	*why++
	s.NewestLeftOut++
	s.places++
}

// add adds a point. A series is exact if all of its points are.
func (s *Series) add(p Point, exact bool) {
	s.NewestLeftOut = 0
	p.place, s.places = s.places, s.places+1
	s.Exact = exact && (s.Exact || len(s.Points) == 0)
	s.Points = append(s.Points, p)
}

// find returns the series of a figure, of measurements with the key on a machine.
func (c *Collection) find(key, on string, m figure.Figure) *Series {
	for _, s := range c.series {
		if s.key == key && s.Machine == on && s.Figure.Name == m.Name {
			return s
		}
	}
	s := &Series{key: key, Subject: key, Machine: on, Figure: m}
	for _, a := range c.Accepted {
		if a.Figure == m.Name {
			s.Acceptances = append(s.Acceptances, a)
		}
	}
	c.series = append(c.series, s)
	return s
}

// Series returns the series, with their subjects. Those of figures that no result has are left out.
func (c *Collection) Series() []*Series {
	name := results.Namer(func(b results.Backend) string { return b.URL }, slices.Collect(maps.Values(c.runs)))
	for _, s := range c.series {
		if r, is := c.runs[s.key]; is {
			s.Subject = name(r)
			if strings.HasPrefix(s.key, sweepPrefix) {
				s.Subject = sweepPrefix + s.Subject
			}
		}
	}
	var all []*Series
	for _, s := range c.series {
		if len(s.Points) > 0 || s.Unknown == 0 || s.Unknown != s.NewestLeftOut {
			all = append(all, s.settled())
		}
	}
	return all
}

// settled returns the series with the doubtful results that count: those since the newest change, if it is not found without
// them and is there whatever the doubts are worth. Each then has that value which its runs can have had and which is
// furthest against the change. All other doubtful results prove nothing.
func (s *Series) settled() *Series {
	measured := s.joined(s.doubtful)
	c, found := measured.newest()
	if len(s.doubtful) == 0 || len(s.Points) == 0 || !found {
		return s
	}
	since := measured.Points[c.At].place
	about := s.firstSince(since)
	if slices.ContainsFunc(s.Analyze(), func(known Change) bool { return about-near <= known.At && known.At <= about+near }) {
		return s
	}
	var counting []Point
	for _, p := range s.doubtful {
		if p.Value = p.reach.High; c.Size > 0 {
			p.Value = p.reach.Low
		}
		if p.place >= since {
			counting = append(counting, p)
		}
	}
	settled := s.joined(counting)
	about = settled.firstSince(since)
	again, found := settled.newest()
	if !found || again.At < about-near || again.At > about+near || again.Size > 0 != (c.Size > 0) {
		return s
	}
	settled.Doubtful -= len(counting)
	settled.NewestLeftOut = s.places - 1 - settled.Points[len(settled.Points)-1].place
	return settled
}

// joined returns the series with more points.
func (s *Series) joined(more []Point) *Series {
	all := *s
	all.Points = slices.SortedFunc(slices.Values(slices.Concat(s.Points, more)), func(a, b Point) int { return a.place - b.place })
	return &all
}

// firstSince returns the index of the first point from a place on.
func (s *Series) firstSince(place int) int {
	if i := slices.IndexFunc(s.Points, func(p Point) bool { return p.place >= place }); i >= 0 {
		return i
	}
	return len(s.Points)
}

// newest returns the newest change, false if there is none.
func (s *Series) newest() (Change, bool) {
	if len(s.Points) == 0 {
		return Change{}, false
	}
	changes := s.Analyze()
	if len(changes) == 0 {
		return Change{}, false
	}
	return changes[len(changes)-1], true
}

// Analyze returns the changes of the series. Sizes are shares of the value before: 0.1 is 10 % more, and a
// change from 0 is infinite.
//
// Note: it analyses the logarithms of figures that have noise, since noise is proportional to a figure. If
// some values are 0, each is increased by half of the smallest other one first.
func (s *Series) Analyze() []Change {
	values := make([]float64, len(s.Points))
	least, shift := math.Inf(1), 0.0
	for i, p := range s.Points {
		values[i] = p.Value
		if p.Value > 0 {
			least = min(least, p.Value)
		}
	}
	switch {
	case s.Exact:
		return differences(values)
	case math.IsInf(least, 1):
		return nil // all are 0
	case slices.Min(values) <= 0:
		shift = least / 2
	}
	for i, v := range values {
		values[i] = min(math.Log(max(v, 0)+shift), endless)
	}
	changes, from := Detect(values), 0
	for i, c := range changes {
		before := s.level(from, max(c.At, from+1))
		changes[i].Size = max((math.Exp(c.Size)*(before+shift)-shift)/before-1, -1)
		if math.IsInf(before, 1) {
			changes[i].Size = -1
		}
		from = c.At
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return math.Abs(c.Size) < smallest })
}

// endless stands for the logarithm of an infinite value: it is far beyond that of any measured one, and what is left of a difference
// from it is infinite again.
const endless = 1e6

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
	switch s.Figure.Better {
	case figure.Less:
		return c.Size > 0
	case figure.More:
		return c.Size < 0
	}
	return false
}

// anyMachine stands for the machine of figures that do not depend on it.
const anyMachine = "any machine"

// follows reports whether the collection follows the figure, which is one of the default ones or not.
func (c *Collection) follows(name string, byDefault bool) bool {
	return len(c.Figures) == 0 && byDefault || slices.Contains(c.Figures, name)
}

// addCounts adds those counts that the collection follows; all of them unless figures were named.
func (c *Collection) addCounts(r results.CountReport) {
	for _, s := range r.Settled {
		for _, f := range figure.Counts() {
			if !c.follows(f.Name, true) {
				continue
			}
			series := c.find(countSubject(s), anyMachine, f)
			if s.Safety.Violations > 0 {
				series.leaveOut(&series.Unsafe)
				continue
			}
			e, _ := f.CountValue(s)
			series.add(Point{ID: r.ID, Time: r.Started, Marks: r.Marks, Value: float64(e.Counted)}, f.ExactCount(s))
		}
	}
}

// countSubject describes what was counted.
func countSubject(s results.Settled) string {
	text := fmt.Sprintf("count: %s/%s on %s, %d clients", s.Recipe, s.Form, s.Backend.URL, s.Clients)
	for _, letter := range slices.Sorted(maps.Keys(s.Parameters)) {
		text += fmt.Sprintf(", %s = %d", letter, s.Parameters[letter])
	}
	return text
}

// addObservation adds the figures of the whole observation, in which a herd is seen whatever the names of its
// nodes, and of each path pattern that changed. Counts have one series for all machines.
func (c *Collection) addObservation(o results.Observation) {
	for _, f := range figure.Observations(nil) {
		value, known := f.ObservationValue(o)
		c.addObserved(o, results.AllPaths, f, value, known)
	}
	for _, place := range o.Observed.Places {
		for _, f := range figure.Paths() {
			value, known := f.PathValue(place)
			c.addObserved(o, place.Path, f, value, known && place.Changes > 0)
		}
	}
}

func (c *Collection) addObserved(o results.Observation, path string, f figure.Figure, value float64, known bool) {
	if !known || !c.follows(f.Name, slices.Contains(figure.FollowedPaths(), f.Name)) {
		return
	}
	on := anyMachine
	if f.Timed() {
		on = o.Host.Machine()
	}
	s := c.find(observedSubject(o, path), on, f)
	if _, bias := f.ObservationDoubt(o); bias != 0 {
		s.leaveOut(&s.Doubtful)
		return
	}
	s.add(Point{ID: o.ID, Time: o.Started, Marks: o.Marks, Value: value}, false)
}

// observedSubject describes what was observed.
func observedSubject(o results.Observation, path string) string {
	program := "observe"
	if o.Program != nil {
		program += " " + *o.Program
	}
	return program + " on " + o.Backend + ", " + path
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

// Accepted returns the acceptance of a change of the series. The place of a change may still move a little
// with the results that follow, so an acceptance of a result near it counts.
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
