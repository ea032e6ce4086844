package results_test

import (
	"testing"

	"github.com/stampede-bench/stampede/results"
)

func TestKeyPhase(t *testing.T) {
	for _, c := range []struct {
		phases []string // in the order in which the recipe has them
		want   string
	}{
		{[]string{"acquire", "handoff", "release"}, "handoff"},
		{[]string{"campaign", "failover", "resign"}, "failover"},
		{[]string{"lookup", "converge", "update"}, "converge"},
		{[]string{"decide", "vote"}, "decide"},
		{[]string{"write", "first", "median", "last", "each"}, "last"},
		{[]string{"write"}, "write"},
		{nil, ""},
	} {
		if got := results.KeyPhase(c.phases); got != c.want {
			t.Errorf("phases %q are judged by %q, want %q", c.phases, got, c.want)
		}
	}
}
