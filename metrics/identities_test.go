package metrics

import (
	"testing"
	"time"
)

// Each identity has a record that violates it and one that satisfies it.
func TestIdentitiesOfARecord(t *testing.T) {
	for name, c := range map[string]struct {
		record Record
		keeps  bool
	}{
		"all arrivals":        {Record{Generator: Generator{Offered: 10, Completed: 5, Failed: 1, Skipped: 2, Unfinished: 2}}, true},
		"a lost arrival":      {Record{Generator: Generator{Offered: 10, Completed: 5, Failed: 1, Skipped: 2, Unfinished: 1}}, false},
		"one too many":        {Record{Generator: Generator{Offered: 10, Completed: 11}}, false},
		"a closed loop":       {Record{Generator: Generator{Unfinished: 4, Overdue: 4, Oldest: time.Second}, Little: &Little{InProgress: 4, Most: 4}}, true},
		"an idle closed loop": {Record{}, true},
		"too many overdue":    {Record{Generator: Generator{Unfinished: 4, Overdue: 5}}, false},
		"an age of none":      {Record{Generator: Generator{Oldest: time.Second}}, false},
		"too many turns":      {Record{Little: &Little{InProgress: 4.1, Most: 4}}, false},
		"no number":           {Record{Little: &Little{InProgress: -1, Most: 4}}, false},
		"both loops":          {Record{Generator: Generator{Offered: 1, Completed: 1}, Little: &Little{InProgress: 1, Most: 1}}, false},
		"a background":        {Record{Background: &Record{Generator: Generator{Offered: 1, Completed: 1}}}, true},
		"a background's loss": {Record{Background: &Record{Generator: Generator{Offered: 1}}}, false},
	} {
		if err := c.record.Identities(); (err == nil) != c.keeps {
			t.Errorf("%s: %v", name, err)
		}
	}
}
