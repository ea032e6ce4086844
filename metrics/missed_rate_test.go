package metrics

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// TestMissedRate checks the one rule of whether a run reached its rate, with runs of known answers. A run keeps
// up if no more arrivals are missing at the end of its window than Little's law puts in progress. It falls
// behind if its queue grows or the service stalls, even if all arrivals are served later. An arrival that
// failed was not late.
func TestMissedRate(t *testing.T) {
	type took struct {
		times   int64
		service time.Duration
	}
	for name, c := range map[string]struct {
		offered, failed, rounds int64 // in five seconds
		took                    []took
		hold                    time.Duration
		clients                 int
		behind                  bool
	}{
		"all done":              {4000, 0, 4000, []took{{4000, 10 * time.Millisecond}}, 0, 64, false},
		"one in progress":       {10, 0, 9, []took{{10, 100 * time.Millisecond}}, 0, 8, false},
		"as many as usual":      {4000, 0, 3725, []took{{4000, 300 * time.Millisecond}}, 0, 512, false},
		"held for long":         {100, 0, 88, []took{{100, time.Millisecond}}, 500 * time.Millisecond, 64, false},
		"no time is known":      {100, 0, 99, nil, 0, 64, false},
		"a queue that grows":    {750, 0, 500, []took{{750, 830 * time.Millisecond}}, 0, 83, true},
		"few clients wait":      {4000, 0, 3850, []took{{4000, 300 * time.Millisecond}}, 0, 64, true},
		"ten percent are short": {4000, 0, 3600, []took{{4000, 10 * time.Millisecond}}, 0, 64, true},
		"an eighth":             {7500, 0, 940, []took{{7500, 5 * time.Millisecond}}, 0, 64, true},
		"stalled":               {60, 0, 12, []took{{12, time.Millisecond}, {48, 1500 * time.Millisecond}}, 0, 64, true},
		"stalled at half":       {60, 0, 31, []took{{31, time.Millisecond}, {29, 10 * time.Second}}, 0, 64, true},
		"few failed":            {300, 3, 297, []took{{297, time.Millisecond}}, 0, 4, false},
		"many failed":           {300, 100, 200, []took{{200, time.Millisecond}}, 0, 4, false},
		"failed and behind":     {300, 100, 150, []took{{150, time.Millisecond}}, 0, 4, true},
		"a closed loop":         {0, 0, 100, []took{{100, time.Millisecond}}, 0, 4, false},
	} {
		service := hdrhistogram.New(1, int64(time.Minute), 3)
		for _, some := range c.took {
			if err := service.RecordValues(int64(some.service), some.times); err != nil {
				t.Fatal(err)
			}
		}
		r := Record{Rounds: c.rounds, Duration: 5 * time.Second, Generator: Generator{Offered: c.offered, Failed: c.failed},
			Phases: []Phase{{Name: "acquire", Service: service}}}
		if w := r.MissedRate(c.hold, c.clients); len(w) > 0 != c.behind {
			t.Errorf("%s: %v, want a warning: %v", name, w, c.behind)
		}
	}
}
