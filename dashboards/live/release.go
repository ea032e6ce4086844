package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics/fanout"
	"github.com/stampede-bench/stampede/results/units"
)

// A release is one write that caused notifications, as shown.
type release struct {
	N int `json:"n"` // from 1
	// Cells are the outcomes of the sessions in order of seats, run-length encoded: pairs of an
	// outcome and its number of repetitions.
	Cells  []int  `json:"cells"`
	Woken  int    `json:"woken"`
	Useful int    `json:"useful"`
	Wasted int    `json:"wasted"`
	Words  string `json:"words"`
}

// newRelease returns a release with the given outcomes of the sessions. It is the median of so
// many writes.
func newRelease(seats []fanout.Outcome, drain time.Duration, writes int) release {
	var r release
	for i, outcome := range seats {
		if i == 0 || outcome != seats[i-1] {
			r.Cells = append(r.Cells, int(outcome), 0)
		}
		r.Cells[len(r.Cells)-1]++
		switch outcome {
		case fanout.Useful:
			r.Useful++
		case fanout.Wasted:
			r.Wasted++
		}
		if outcome != fanout.NotNotified {
			r.Woken++
		}
	}
	r.Words = r.words(len(seats), drain, writes)
	return r
}

// words returns a text such as "woke 97 of 128 clients within 12.3 ms: 1 proceeded, 96 wait
// again (median fan-out of 55 writes)".
func (r release) words(of int, drain time.Duration, writes int) string {
	text := fmt.Sprintf("woke %s of %s clients", count(r.Woken), count(of))
	if r.Woken > 1 {
		text += " within " + units.Duration(drain)
	}
	var outcomes []string
	if r.Useful > 0 {
		outcomes = append(outcomes, count(r.Useful)+" proceeded")
	}
	if r.Wasted > 0 {
		outcomes = append(outcomes, count(r.Wasted)+" went back to waiting")
	}
	if len(outcomes) > 0 {
		text += ": " + strings.Join(outcomes, ", ")
	}
	if writes > 1 {
		text += " (median fan-out of " + count(writes) + " writes)"
	}
	return text
}

func count(n int) string { return units.Count(int64(n)) }
