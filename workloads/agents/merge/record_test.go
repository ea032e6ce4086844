package merge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/figure"
)

// fill gives every field that can be set a value other than zero.
func fill(t *testing.T, v reflect.Value, r *rand.Rand) {
	t.Helper()
	switch v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1 + r.Int64N(1000))
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1 + r.Float64())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), r)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), r)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, r)
		fill(t, value, r)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*hdrhistogram.Histogram]() {
			v.Set(reflect.ValueOf(record(samples(r))))
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), r)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && f.Type() != reflect.TypeFor[*metrics.Record]() {
				fill(t, f, r)
			}
		}
	default:
		t.Fatalf("a record has a field of kind %v", v.Kind())
	}
}

// TestEveryFieldOfARecordIsSent fills in all fields, also those that are added later.
func TestEveryFieldOfARecordIsSent(t *testing.T) {
	want := new(metrics.Record)
	fill(t, reflect.ValueOf(want).Elem(), rand.New(rand.NewPCG(1, 1)))
	want.Background = new(metrics.Record)
	fill(t, reflect.ValueOf(want.Background).Elem(), rand.New(rand.NewPCG(1, 2)))
	for _, r := range []*metrics.Record{want, want.Background} {
		r.Herd, r.Fanout = metrics.Herd{}, nil // a part of a run has none
	}
	text, err := Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unmarshal(text)
	if err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b *hdrhistogram.Histogram) bool { return a == b || a != nil && b != nil && equal(t, a, b) })
	if d := cmp.Diff(want, got, same, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("(-made +sent):\n%s", d)
	}
	if want.Phases[0].Service == nil || want.Intervals[1].Times == nil || want.Generator.Lag == nil {
		t.Error("Marshal has changed the record")
	}
}

func TestDamagedRecords(t *testing.T) {
	for _, text := range []string{"", "{", `{"Histograms":[]}`, `{"Record":{"Phases":[{}]},"Histograms":["AAAA","","",""]}`} {
		if r, err := Unmarshal([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, r)
		}
	}
}

// FuzzUnmarshal decodes any text: the result is a record or an error.
func FuzzUnmarshal(f *testing.F) {
	r := &metrics.Record{Phases: []metrics.Phase{{Name: "acquire", Service: record([]time.Duration{1000})}}}
	text, err := Marshal(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := Unmarshal(text); err == nil && r == nil {
			t.Error("neither a record nor an error")
		}
	})
}

// A process is what one process measures of some rounds. Each round is of a client, in an interval.
func process(rounds []round, clients, intervals int) *metrics.Record {
	l := metrics.NewLatency("acquire")
	r := &metrics.Record{Duration: time.Second, Errors: map[string]int64{}, Fairness: &metrics.Fairness{Served: make([]int64, clients)},
		Little: &metrics.Little{}}
	for i := range intervals {
		r.Intervals = append(r.Intervals, metrics.Interval{Start: time.Duration(i) * time.Second, Times: metrics.NewDurations()})
	}
	for _, o := range rounds {
		l.Record(o.took, o.took)
		r.Rounds++
		r.WholeRounds++
		r.Counts.Notifications += o.notified
		r.Whole.Reads++
		r.Fairness.Served[o.client]++
		r.Errors[fmt.Sprint(o.notified)]++
		i := &r.Intervals[o.interval]
		i.Rounds++
		i.Notifications += o.notified
		metrics.RecordDuration(i.Times, o.took)
		r.Generator.CPUCores += 0.25
	}
	for i := range r.Intervals {
		h := r.Intervals[i].Times
		r.Intervals[i].P50, r.Intervals[i].P90, r.Intervals[i].P99 = percentile(h, 50), percentile(h, 90), percentile(h, 99)
	}
	r.Phases = []metrics.Phase{l.Phase()}
	return r
}

type round struct {
	client, interval int
	notified         int64
	took             time.Duration
}

// TestAnySplitOfARunEqualsOneProcess divides the clients of a run among agents at random.
func TestAnySplitOfARunEqualsOneProcess(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		const clients, intervals = 12, 3
		n := 1 + r.IntN(6)
		parts := make([][]round, n)
		var all []round
		for range r.IntN(1500) {
			o := round{r.IntN(clients), r.IntN(intervals), r.Int64N(4), time.Duration(r.Int64N(int64(time.Second)))}
			all = append(all, o)
			parts[o.client%n] = append(parts[o.client%n], o)
		}
		var records []Part
		for i, p := range parts {
			text, err := Marshal(process(p, clients, intervals))
			if err != nil {
				t.Fatal(err)
			}
			sent, err := Unmarshal(text)
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, Part{fmt.Sprint(i), sent})
		}
		got, err := Records(records, false)
		if err != nil {
			t.Fatal(err)
		}
		want := process(all, clients, intervals)
		same := cmp.Comparer(func(a, b *hdrhistogram.Histogram) bool { return a == b || a != nil && b != nil && equal(t, a, b) })
		if d := cmp.Diff(want, got, same, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("seed %d, %d agents (-one process +merged):\n%s", seed, n, d)
		}
		if err := got.Identities(); err != nil {
			t.Error(err)
		}
	}
}

// measured returns what one process measures of the rounds, for every rule by which figures merge.
func measured(t *testing.T, rounds []round, clients int, seed uint64) *metrics.Record {
	t.Helper()
	r := process(rounds, clients, 1)
	r.Intervals = nil
	own := rand.New(rand.NewPCG(seed, 3))
	r.Mix, r.Generator.Lag, r.Background = &metrics.Mix{}, metrics.NewDurations(), process(rounds, clients, 1)
	for _, o := range rounds {
		var c metrics.Counts
		fill(t, reflect.ValueOf(&c).Elem(), rand.New(rand.NewPCG(uint64(o.took), 4)))
		r.Counts, r.Whole = r.Counts.Add(c), r.Whole.Add(c)
		r.Mix.Reads, r.Mix.Writes, r.Mix.Retries = r.Mix.Reads+c.Reads, r.Mix.Writes+c.Writes, r.Mix.Retries+c.Rearms
		metrics.RecordDuration(r.Generator.Lag, o.took/3)
		r.Generator.Offered, r.Generator.Late = r.Generator.Offered+2, r.Generator.Late+o.notified
		r.Generator.Skipped, r.Generator.Failed, r.Generator.Unfinished = r.Generator.Skipped+o.notified, r.Generator.Failed+1, r.Generator.Unfinished+2
		r.Safety.Checked, r.Safety.Violations, r.Safety.BeliefOverlaps = r.Safety.Checked+1, r.Safety.Violations+o.notified, r.Safety.BeliefOverlaps+3
	}
	r.Generator.GCPause = time.Duration(own.Int64N(1e9))
	r.Fairness.Inversions, r.Fairness.LongestWait = own.Int64N(100), time.Duration(own.Int64N(1e9))
	r.Background.Mix, r.Background.Intervals = r.Mix, nil
	r.Background.Phases[0].Name = "read"
	r.Background.Generator.Late, r.Background.Generator.Skipped, r.Background.Generator.Unfinished = r.Generator.Late, 2*r.Generator.Late, 3
	return r
}

// misfit says how the figure of the merged run contradicts the rule that the table has for it, "" if it
// does not. whole is what one process would have measured.
func misfit(f figure.Figure, parts []results.Run, merged, whole results.Run) string {
	sum, most := 0.0, 0.0
	for _, p := range parts {
		v, _ := f.RunValue(p)
		sum, most = sum+v, max(most, v)
	}
	got, known := f.RunValue(merged)
	one, of := f.RunValue(whole)
	want := map[figure.Merge]float64{figure.Sum: sum, figure.Max: most, figure.Histogram: one, figure.Derived: one, figure.Coordinator: 0}
	switch v, ruled := want[f.Merge]; {
	case !ruled:
		return fmt.Sprintf("has no rule by which agents merge it: %q", f.Merge)
	case f.Merge != figure.Coordinator && known != of:
		return fmt.Sprintf("%s: known %v, in one process %v", f.Merge, known, of)
	case math.Abs(got-v) > 1e-9*math.Abs(v):
		return fmt.Sprintf("%s: %v, want %v", f.Merge, got, v)
	}
	return ""
}

// TestFiguresMergeAsTheTableSays divides the rounds of a run among agents at random. Each figure of the
// merged run must be what its rule in the table of figures makes of the parts, also figures that are added
// later.
func TestFiguresMergeAsTheTableSays(t *testing.T) {
	phases := []string{"acquire"}
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 5))
		const clients = 6
		agents := make([][]round, 2+r.IntN(3))
		var all []round
		for i := range 1500 {
			o := round{client: r.IntN(clients), notified: r.Int64N(4), took: time.Duration(1 + r.Int64N(int64(time.Second)))}
			all = append(all, o)
			agents[i%len(agents)] = append(agents[i%len(agents)], o)
		}
		setting := results.Setting{Mix: &results.Mix{}, Background: &results.Background{}, Open: &results.Open{}}
		var parts []Part
		var runs []results.Run
		for i, rounds := range agents {
			record := measured(t, rounds, clients, seed+uint64(i))
			parts = append(parts, Part{fmt.Sprint(i), record})
			runs = append(runs, results.FromRecord(setting, record))
		}
		record, err := Records(parts, false)
		if err != nil {
			t.Fatal(err)
		}
		merged, whole := results.FromRecord(setting, record), results.FromRecord(setting, measured(t, all, clients, seed))
		values := 0
		for _, f := range figure.All(phases) {
			if why := misfit(f, runs, merged, whole); why != "" {
				t.Errorf("seed %d: %s %s", seed, f.Name, why)
			}
			if v, _ := f.RunValue(merged); v != 0 {
				values++
			}
			if f.Name == "rounds" || f.Name == "rounds_per_s" || f.Name == "acquire.p99" {
				f.Merge = figure.Max
				if misfit(f, runs, merged, whole) == "" {
					t.Errorf("%s may merge by any rule", f.Name)
				}
			}
		}
		if values < 60 {
			t.Errorf("only %d figures have a value other than 0", values)
		}
	}
	if misfit(figure.Figure{Name: "new"}, nil, results.Run{}, results.Run{}) == "" {
		t.Error("a figure without a rule is merged")
	}
}

func TestWarningsNameTheirAgent(t *testing.T) {
	starved := metrics.Warning{Code: metrics.Starved, Numbers: metrics.Numbers{"late_p99_ns": 5}, Names: metrics.Names{"phase": "acquire"}}
	cut := metrics.Warning{Code: metrics.Abandoned, Numbers: metrics.Numbers{"unfinished": 3, "remaining_ns": 10}}
	longer := metrics.Warning{Code: metrics.Abandoned, Numbers: metrics.Numbers{"unfinished": 4, "remaining_ns": 20}}
	law := metrics.Warning{Code: metrics.LittlesLaw}
	a, b := &metrics.Record{}, &metrics.Record{Little: &metrics.Little{InProgress: 10, Ended: 1, Most: 10}}
	a.Doubt(starved)
	a.Warn(cut, law)
	b.Warn(longer)
	m, err := Records([]Part{{"east", a}, {"west", b}}, false)
	if err != nil {
		t.Fatal(err)
	}
	named := starved
	named.Names = metrics.Names{"phase": "acquire", metrics.OfAgent: "east"}
	both := metrics.Warning{Code: metrics.Abandoned, Numbers: metrics.Numbers{"unfinished": 7, "remaining_ns": 20}}
	merged := metrics.Warning{Code: metrics.LittlesLaw, Numbers: metrics.Numbers{"in_progress": 10, "ended": 1, "error": 0}}
	if d := cmp.Diff([]metrics.Warning{named, both, merged}, m.Warnings); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]metrics.Warning{named}, m.Doubts); d != "" {
		t.Errorf("doubts (-want +got):\n%s", d)
	}
	if cut.Numbers["unfinished"] != 3 || len(starved.Names) != 1 {
		t.Error("the warnings of the parts have changed")
	}
}

// TestWhatCannotBeMergedIsAnError has parts that no agent can have yet.
func TestWhatCannotBeMergedIsAnError(t *testing.T) {
	for _, r := range []*metrics.Record{
		{Fanout: &metrics.Fanout{}}, {Breaks: make([]metrics.Break, 1)},
	} {
		if _, err := Records([]Part{{"a", r}}, false); err == nil {
			t.Errorf("%+v is merged", r)
		}
	}
	two := []Part{{"a", process(nil, 3, 1)}, {"b", process(nil, 4, 1)}}
	if _, err := Records(two, false); err == nil || !slices.Contains([]string{"agent b: it has 4 clients, another agent 3"}, err.Error()) {
		t.Errorf("got %v", err)
	}
}

// TestStoppedAgent merges an agent that was stopped for most of three intervals, and whose intervals have no
// common length for that: each merged interval has what all agents did from its beginning to the next.
func TestStoppedAgent(t *testing.T) {
	with := func(name string, starts []int, rounds ...int64) Part {
		r := &metrics.Record{}
		for i, n := range rounds {
			r.Intervals = append(r.Intervals, metrics.Interval{Start: time.Duration(starts[i]) * time.Second, Rounds: n})
		}
		return Part{name, r}
	}
	m, err := Records([]Part{with("a", []int{0, 1, 2, 3, 4, 5, 6}, 10, 20, 21, 22, 23, 10, 11), with("b", []int{0, 1, 4, 5, 6}, 5, 3, 7, 6, 5)}, false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range m.Intervals {
		got = append(got, fmt.Sprint(i.Start, " ", i.Rounds))
	}
	if want := "[0s 15 1s 66 4s 30 5s 16 6s 16]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
