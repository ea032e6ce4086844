package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestGoals(t *testing.T) {
	for _, c := range []struct {
		goal      goal
		words     string
		met, miss comparison
	}{
		{ratioAtLeast(3), "ratio ≥ 3", comparison{ratio: 3}, comparison{ratio: 2.99}},
		{ratioAtMost(0.7), "ratio ≤ 0.7", comparison{ratio: 0.7}, comparison{ratio: 0.71}},
		{leftBelow(200, "MiB"), "< 200 MiB", comparison{left: 199.9}, comparison{left: 200}},
		{leftAtMost(4, ""), "≤ 4", comparison{left: 4}, comparison{left: 4.1}},
		{exactly(1), "= 1", comparison{left: 1}, comparison{left: 1.005}},
		{ratioAtLeast(3), "ratio ≥ 3", comparison{ratio: math.Inf(1)}, comparison{ratio: math.NaN()}},
	} {
		if c.goal.words != c.words || !c.goal.met(c.met) || c.goal.met(c.miss) {
			t.Errorf("%q: met by %v: %v, by %v: %v", c.goal.words, c.met, c.goal.met(c.met), c.miss, c.goal.met(c.miss))
		}
	}
}

// Missed goals come first, with their figures, and are marked in the table.
func TestMissedGoalIsMarked(t *testing.T) {
	r := report{server: "ZooKeeper 3.8.0", scale: full(), tables: []table{{"native", "ZooKeeper", []row{
		{"gets", comparison{300, 100, 3}, perSecond, ratioAtLeast(3), ofServers},
		{"sets", comparison{190, 100, 1.9}, perSecond, ratioAtLeast(2), ofServers},
		{"mix", comparison{100, 100, 1}, perSecond, none, ofServers},
	}}}}
	var b bytes.Buffer
	if err := r.write(&b); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(b.String(), "\n\n") // the line above describes the machine
	want := `  1 of 2 goals are met.
  missed: sets: 190/s to 100/s, ratio 1.90, goal ratio ≥ 2

        native  ZooKeeper  ratio   goal       met
  gets   300/s      100/s   3.00   ratio ≥ 3  yes
  sets   190/s      100/s   1.90   ratio ≥ 2  NO
  mix    100/s      100/s   1.00   –

  ratio: left to right, the median of 5 interleaved rounds (11 of watched writes, 3 of starts); memory and the lock were measured once
  operations per second: 64 connections with 16 requests in flight on each; ZooKeeper's JVM: -Xmx1000m
  floor: a server that sends frames of the same size, syncs the same requests, and does nothing else
  bare loop: the lean client without stampede's engine; on etcd its own clientv3
`
	if text != want {
		t.Errorf("got:\n%s\nwant:\n%s", text, want)
	}
}
