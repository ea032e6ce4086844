package merge

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stampede-bench/stampede/metrics"
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
		for i := range want.Intervals {
			want.Intervals[i].Times = nil
		}
		same := cmp.Comparer(func(a, b *hdrhistogram.Histogram) bool { return a == b || a != nil && b != nil && equal(t, a, b) })
		if d := cmp.Diff(want, got, same, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("seed %d, %d agents (-one process +merged):\n%s", seed, n, d)
		}
		if err := got.Identities(); err != nil {
			t.Error(err)
		}
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
