package merge

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// samples returns random times of all magnitudes, from 0 to more than a histogram holds.
func samples(r *rand.Rand) []time.Duration {
	all := make([]time.Duration, r.IntN(2000))
	for i := range all {
		all[i] = time.Duration(math.Exp(r.Float64() * 30))
		if r.IntN(50) == 0 {
			all[i] = 0
		}
	}
	return all
}

// record returns what one process records of the samples.
func record(all []time.Duration) *hdrhistogram.Histogram {
	h := metrics.NewDurations()
	for _, took := range all {
		metrics.RecordDuration(h, took)
	}
	return h
}

// equal reports whether two histograms are the same in all buckets, and after encoding.
func equal(t *testing.T, a, b *hdrhistogram.Histogram) bool {
	t.Helper()
	encode := func(h *hdrhistogram.Histogram) string {
		text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return a.Equals(b) && encode(a) == encode(b) && a.Min() == b.Min() && a.Max() == b.Max() && a.Mean() == b.Mean()
}

// sent returns the histogram as another machine decodes it.
func sent(t *testing.T, h *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	t.Helper()
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := hdrhistogram.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// TestAnySplitEqualsOneProcess divides samples among agents at random, sends what each recorded, and merges it.
func TestAnySplitEqualsOneProcess(t *testing.T) {
	runs := 60
	if testing.Short() {
		runs = 10
	}
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := samples(r)
		agents := make([][]time.Duration, 1+r.IntN(6))
		for _, s := range all {
			i := r.IntN(len(agents))
			agents[i] = append(agents[i], s)
		}
		var wholes []*hdrhistogram.Histogram
		for _, part := range agents {
			wholes = append(wholes, sent(t, record(part)))
		}
		want := record(all)
		got, err := Histograms(wholes...)
		if err != nil {
			t.Fatal(err)
		}
		if !equal(t, got, want) {
			t.Errorf("seed %d: the sum of %d agents is not what one process recorded", seed, len(agents))
		}
	}
}

// TestTheComparisonCanFail changes one of many values by a bucket, and takes the mean of percentiles.
func TestTheComparisonCanFail(t *testing.T) {
	a := record([]time.Duration{1000, 2000, 3_000_000})
	b := record([]time.Duration{1000, 2002, 3_000_000})
	if equal(t, a, b) {
		t.Error("2000 and 2002 ns are in one bucket")
	}
	fast := record(slices.Repeat([]time.Duration{1000}, 900))
	slow := record(slices.Repeat([]time.Duration{100_000}, 100))
	sum, err := Histograms(fast, slow)
	if err != nil {
		t.Fatal(err)
	}
	if mean := (fast.ValueAtQuantile(50) + slow.ValueAtQuantile(50)) / 2; sum.ValueAtQuantile(50) != 1000 || mean < 50_000 {
		t.Errorf("median %d, want 1000; the mean of medians is %d", sum.ValueAtQuantile(50), mean)
	}
}

func TestMergingLeavesThePartsAlone(t *testing.T) {
	a := record([]time.Duration{1000})
	b := record([]time.Duration{2000})
	sum, err := Histograms(nil, a, nil, b)
	if err != nil || sum.TotalCount() != 2 || a.TotalCount() != 1 || b.TotalCount() != 1 {
		t.Errorf("%d values of %d and %d, %v; want 2 of 1 and 1", sum.TotalCount(), a.TotalCount(), b.TotalCount(), err)
	}
	if none, err := Histograms(nil, nil); none != nil || err != nil {
		t.Errorf("no histograms: %v, %v; want nil", none, err)
	}
}

func TestDifferentBucketsAreAnError(t *testing.T) {
	for _, other := range []*hdrhistogram.Histogram{
		hdrhistogram.New(1, int64(time.Hour), 2), hdrhistogram.New(1, int64(time.Minute), 3),
	} {
		if _, err := Histograms(metrics.NewDurations(), other); err == nil || !strings.Contains(err.Error(), "buckets") {
			t.Errorf("%v, want an error", err)
		}
	}
}

func TestPhases(t *testing.T) {
	part := func(name string, took ...time.Duration) metrics.Phase {
		l := metrics.NewLatency(name)
		for _, d := range took {
			l.Record(d, 2*d)
		}
		return l.Phase()
	}
	got, err := Phases(
		[]metrics.Phase{part("acquire", 1000), part("release", 10)},
		nil, // an agent without clients
		[]metrics.Phase{part("acquire", 3000, 5000), part("release")},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []metrics.Phase{part("acquire", 1000, 3000, 5000), part("release", 10)}
	if !slices.EqualFunc(got, want, func(a, b metrics.Phase) bool {
		return a.Name == b.Name && equal(t, a.Service, b.Service) && equal(t, a.Response, b.Response)
	}) {
		t.Error("the phases are not those of one process")
	}
	for _, other := range [][]metrics.Phase{{part("acquire")}, {part("release"), part("acquire")}} {
		if _, err := Phases(want, other); err == nil || !strings.Contains(err.Error(), `["acquire" "release"]`) {
			t.Errorf("%v, want an error that names the phases", err)
		}
	}
}
