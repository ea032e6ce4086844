package figure_test

import (
	"testing"

	"github.com/stampede-bench/stampede/results/figure"
)

func TestParseBound(t *testing.T) {
	phases := []string{"acquire"}
	for text, want := range map[string]figure.Bound{
		"acquire.response.p99<50ms":    {Op: figure.Below, Limit: 50e6},
		"acquire.p50 <= 1.5 s":         {Op: figure.AtMost, Limit: 1.5e9},
		"from_ack.first.p50 > -1ms":    {Op: figure.Above, Limit: -1e6},
		"bytes_in_per_round<2KiB":      {Op: figure.Below, Limit: 2048},
		"rounds_per_s>=500/s":          {Op: figure.AtLeast, Limit: 500},
		"rounds_per_s >= 500":          {Op: figure.AtLeast, Limit: 500},
		"notifications_per_round<=1.5": {Op: figure.AtMost, Limit: 1.5},
		"reads_per_round < 3/round":    {Op: figure.Below, Limit: 3},
		"wasted<99%":                   {Op: figure.Below, Limit: 0.99},
		"wasted < 0.5":                 {Op: figure.Below, Limit: 0.5},
		"safety.violations==0":         {Op: figure.Equals},
	} {
		b, err := figure.ParseBound(text, phases)
		if err != nil || b.Op != want.Op || b.Limit != want.Limit {
			t.Errorf("%s is read as %s %v, %v", text, b.Op, b.Limit, err)
			continue
		}
		if again, err := figure.ParseBound(b.String(), phases); err != nil || again.Figure.Name != b.Figure.Name || again.Op != b.Op || again.Limit != b.Limit {
			t.Errorf("%s is written as %s, which is read as %+v, %v", text, b, again, err)
		}
	}
	const grammar = `: want METRIC < LIMIT, or another of <= > >= ==, such as acquire.p99<50ms`
	for text, want := range map[string]string{
		"acquire.p99":            `"acquire.p99"` + grammar,
		"acquire.p99=5ms":        `"acquire.p99=5ms"` + grammar,
		"<5ms":                   `"<5ms"` + grammar,
		"acquire.p99<":           `"acquire.p99<"` + grammar,
		"acquire.p99<1ms<2ms":    `"acquire.p99<1ms<2ms"` + grammar,
		"acquire.p99=>5ms":       `"acquire.p99=>5ms"` + grammar,
		"acquire.p99<50":         `acquire.response.p99 "50": want a duration such as 50ms`,
		"rounds_per_s>5ms":       `rounds_per_s "5ms": want a number a second such as 500/s`,
		"bytes_in_per_round<5ms": `bytes_in_per_round "5ms": want a size such as 1KiB`,
		"reads_per_round<3/s":    `reads_per_round "3/s": want a number such as 3`,
		"wasted<much":            `wasted "much": want a share such as 0.99 or 99%`,
		"errors<nan":             `errors "nan": want a number such as 3`,
		"aquire.p99<50ms":        `unknown metric "aquire.p99": did you mean "acquire.p99"?`,
	} {
		if _, err := figure.ParseBound(text, phases); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestOps(t *testing.T) {
	for op, want := range map[figure.Op][3]bool{ // of 1, 2 and 3 against 2
		figure.Below: {true, false, false}, figure.AtMost: {true, true, false}, figure.Equals: {false, true, false},
		figure.AtLeast: {false, true, true}, figure.Above: {false, false, true},
	} {
		for i, holds := range want {
			if got := op.Holds(float64(i+1), 2); got != holds {
				t.Errorf("%d %s 2 is %v", i+1, op, got)
			}
			if not := op.Not(); not != "" && not.Holds(float64(i+1), 2) == holds {
				t.Errorf("%d %s 2 is %v, and so is %s", i+1, op, holds, not)
			}
		}
	}
	if not := figure.Equals.Not(); not != "" {
		t.Errorf("not == is %s", not)
	}
}
