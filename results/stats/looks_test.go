package stats_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/results/stats"
)

func TestLooks(t *testing.T) {
	for _, c := range []struct {
		most, figures int
		want          []int
	}{
		{40, 4, []int{10, 14, 20, 28, 40}},
		{30, 4, []int{11, 15, 21, 30}}, // a first look after 8 pairs cannot show anything about four figures
		{26, 4, []int{13, 18, 26}},
		{13, 4, []int{9, 13}},
		{12, 4, nil},
		{40, 100, []int{14, 20, 28, 40}},
	} {
		if diff := cmp.Diff(c.want, stats.Looks(c.most, c.figures)); diff != "" {
			t.Errorf("looks of %d pairs and %d figures (-want +got):\n%s", c.most, c.figures, diff)
		}
	}
}
