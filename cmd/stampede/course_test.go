package main

import (
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestCourse checks which run is in progress and how long is left: as asked before the first run has
// ended, later at the pace of the runs so far.
func TestCourse(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var c course
		says := func(want string) {
			t.Helper()
			if got := c.place().String(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		after := func(d time.Duration, runs int) {
			time.Sleep(d)
			c.end(runs)
		}
		says("")
		c.begin(slices.Repeat([]time.Duration{5 * time.Second}, 4), 0)
		says("run 1 of 4 · about 20 s left")
		time.Sleep(2 * time.Second)
		says("run 1 of 4 · about 18 s left")
		time.Sleep(6 * time.Second)
		says("run 1 of 4 · about 15 s left") // the first is late, and three are to come
		after(2*time.Second, 1)              // each takes twice as long as asked
		says("run 2 of 4 · about 30 s left")
		c.leaveOut(1)
		says("run 2 of 3 · about 20 s left")
		after(20*time.Second, 2)
		says("run 4 of 4") // one more than planned

		c.begin(slices.Repeat([]time.Duration{0}, 100), 90) // numbers of rounds decide, and 90 runs are done already
		says("run 91 of 100")
		after(time.Minute, 1)
		says("run 92 of 100 · about 9 min left")

		c.beginCounted([]time.Duration{4, 8, 16, 32})
		says("run 1 of 4")
		after(4*time.Second, 1)
		says("run 2 of 4 · about 56 s left")
		time.Sleep(time.Hour)
		says("run 2 of 4 · about 48 s left")
	})
}

// TestALineOfProgressFits checks that the parts which do not fit are left out, from the least important on.
func TestALineOfProgressFits(t *testing.T) {
	parts := []string{"run 12 of 48 · about 40 s left", "lock/predecessor", "128 clients", "3.2 s of 5 s", "2\u202f140 rounds/s", "acquire p90 1.20 ms", "client 0.7 of 2 cores"}
	for columns, want := range map[int]string{
		0:   "run 12 of 48 · about 40 s left · lock/predecessor · 128 clients · 3.2 s of 5 s · 2\u202f140 rounds/s · acquire p90 1.20 ms",
		200: "run 12 of 48 · about 40 s left · lock/predecessor · 128 clients · 3.2 s of 5 s · 2\u202f140 rounds/s · acquire p90 1.20 ms",
		80:  "run 12 of 48 · about 40 s left · lock/predecessor · 128 clients · 3.2 s of 5 s",
		10:  "run 12 of 48 · about 40 s left",
	} {
		if got := fitting(parts, columns); got != want {
			t.Errorf("in %d columns %q, %d long; want %q", columns, got, utf8.RuneCountInString(got), want)
		}
	}
	if got := fitting([]string{"a", "b"}, 0); got != "a · b" {
		t.Errorf("%q", got)
	}
}
