package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/results/stats"
)

// constant returns a comparison without scatter.
func constant(left, right float64) comparison { return compare([]float64{left}, []float64{right}) }

// The order of the sides alternates, and the first round does not count.
func TestInterleave(t *testing.T) {
	var order []int
	values := [3][]float64{{100, 1, 2}, {100, 3, 4}, {100, 5, 6}}
	var sides []side
	for i := range values {
		sides = append(sides, func(context.Context) ([]float64, error) {
			v := values[i][0]
			order, values[i] = append(order, i), values[i][1:]
			return []float64{v, 10 * v}, nil
		})
	}
	figures, err := interleave(t.Context(), 2, sides...)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 2, 2, 1, 0, 0, 1, 2}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if got, want := fmt.Sprint(figures), "[[[1 2] [3 4] [5 6]] [[10 20] [30 40] [50 60]]]"; got != want {
		t.Errorf("figures %s by side and round, want %s", got, want)
	}
	failing := func(context.Context) ([]float64, error) { return nil, context.Canceled }
	if _, err := interleave(t.Context(), 1, failing); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the error of the side", err)
	}
}

// The ratio is that of the figures beside it in every case, and its interval contains it and the
// ratios of most rounds.
func TestRatioAgreesWithItsFigures(t *testing.T) {
	for _, c := range []struct {
		name        string
		left, right []float64
		ratio       string
		atLeast     float64
		verdict     string
	}{
		{"steady", []float64{300, 310, 305, 295, 300, 302}, []float64{100, 101, 99, 100, 102, 98}, "3.01 [2.94, 3.08]", 2.9, met},
		{"steady and too low", []float64{190, 191, 189, 190, 192, 188}, []float64{100, 100, 100, 100, 100, 100}, "1.90 [1.88, 1.92]", 2, missed},
		{"scattered around the goal", []float64{150, 250, 190, 210, 180, 230}, []float64{100, 100, 100, 100, 100, 100}, "2.00 [1.50, 2.50]", 2, inconclusive},
		// In most rounds right is faster, although by the medians left is: 312 to 248.
		{"rounds that contradict the medians", []float64{200, 213, 312, 320, 330}, []float64{234, 249, 365, 248, 240}, "1.26 [0.855, 1.38]", 0.9, inconclusive},
		{"the same with a goal that both meet", []float64{200, 213, 312, 320, 330}, []float64{234, 249, 365, 248, 240}, "1.26 [0.855, 1.38]", 0.5, met},
		// Eleven rounds, in nine of which the ratio is about 0.85.
		{"medians outside of the rounds' interval", []float64{100, 101, 102, 103, 104, 400, 401, 1000, 1010, 1020, 1030},
			[]float64{118, 119, 120, 121, 122, 100, 101, 1170, 1190, 1200, 1210}, "3.31 [0.849, 3.31]", 1.1, inconclusive},
	} {
		r := row{toFloor, "gets", compare(c.left, c.right), "/s", ratioAtLeast(c.atLeast)}
		if got := withInterval(r.ratio); got != c.ratio || r.verdict() != c.verdict {
			t.Errorf("%s: ratio %s, %s; want %s, %s", c.name, got, r.verdict(), c.ratio, c.verdict)
		}
		if of := r.left.Value / r.right.Value; r.ratio.Value != of || of < r.ratio.Low || of > r.ratio.High {
			t.Errorf("%s: ratio %+v of %v to %v, want %v within its interval", c.name, r.ratio, r.left.Value, r.right.Value, of)
		}
	}
}

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		goal       goal
		words      string
		good, miss comparison
	}{
		{ratioAtLeast(3), "ratio ≥ 3", constant(3, 1), constant(2.99, 1)},
		{ratioAtMost(0.7), "ratio ≤ 0.7", constant(0.7, 1), constant(0.71, 1)},
		{leftBelow(200<<20, "B"), "< 200 MiB", constant(200<<20-1, 1), constant(200<<20, 1)},
		{leftAtMost(4, ""), "≤ 4", constant(4, 1), constant(4.1, 1)},
		{exactly(1), "= 1", constant(1, 1), constant(1.005, 1)},
		{exactly(0), "= 0", constant(0, math.NaN()), constant(1, math.NaN())},
	} {
		good, miss := row{goal: c.goal, comparison: c.good}.verdict(), row{goal: c.goal, comparison: c.miss}.verdict()
		if c.goal.words != c.words || good != met || miss != missed {
			t.Errorf("%q: %s and %s; want %q, met and missed", c.goal.words, good, miss, c.words)
		}
	}
	unknown := row{goal: ratioAtLeast(3), comparison: constant(0, 0)}
	if got := unknown.verdict(); got != inconclusive {
		t.Errorf("of no ratio: %s, want inconclusive", got)
	}
	allocations := row{goal: leftAtMost(4, ""), comparison: comparison{left: stats.Estimate{Value: 3.9, Low: 3.8, High: 4.1}}}
	if got := allocations.verdict(); got != inconclusive {
		t.Errorf("of a figure whose interval contains the bound: %s, want inconclusive", got)
	}
}

// Missed and inconclusive goals come first, with their figures and the reason, and are marked in the
// table.
func TestMissedAndInconclusiveGoalsAreShown(t *testing.T) {
	hundred := []float64{100, 100, 100, 100, 100, 100}
	r := report{server: "ZooKeeper 3.8.0", scale: full(), rows: []row{
		{toZooKeeper, "gets", constant(300, 100), "/s", ratioAtLeast(3)},
		{toZooKeeper, "sets", compare([]float64{190, 191, 189, 190, 192, 188}, hundred), "/s", ratioAtLeast(2)},
		{toZooKeeper, "creates", compare([]float64{150, 250, 190, 210, 180, 230}, hundred), "/s", ratioAtLeast(2)},
		{toZooKeeper, "mix", constant(100, 100), "/s", goal{}},
		{toZooKeeper, "elections", constant(0, math.NaN()), "", exactly(0)},
	}}
	var b bytes.Buffer
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "\n\n") // the line above describes the machine
	want := `  2 of 4 goals are met.
  missed: sets: native 190 /s, ZooKeeper 100 /s, ratio 1.90, goal ratio ≥ 2
  inconclusive: creates: native 200 /s, ZooKeeper 100 /s, ratio 2.00, goal ratio ≥ 2: only a part of the interval from 1.50 to 2.50 meets it

             native  ZooKeeper  ratio              goal       met
  gets       300 /s  100 /s     3.00               ratio ≥ 3  yes
  sets       190 /s  100 /s     1.90 [1.88, 1.92]  ratio ≥ 2  NO
  creates    200 /s  100 /s     2.00 [1.50, 2.50]  ratio ≥ 2  inconclusive
  mix        100 /s  100 /s     1.00               –          –
  elections  0       n/a        n/a                = 0        yes

  figures: medians of 6 interleaved rounds (11 of watched writes); those without an interval were measured once
  ratio: left to right, of the figures beside it, with a 95 % interval of the ratios within the rounds that is extended to it
  met: whether all of the interval meets the goal; inconclusive if only a part of it does
  operations per second: 64 connections with 16 requests in flight on each; ZooKeeper's JVM: -Xmx1000m
  floor: a server that sends frames of the same size, syncs the same requests, and does nothing else
  bare loop: the lean client without stampede's engine; on etcd its own clientv3
`
	if text != want {
		t.Errorf("got:\n%s\nwant:\n%s", text, want)
	}
}
