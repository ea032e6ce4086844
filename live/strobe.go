package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
)

// A release is one write that caused notifications, as shown.
type release struct {
	N int `json:"n"` // from 1
	// Cells are the fates of the sessions in order of seats, run-length encoded: pairs of a
	// fate and its number of repetitions.
	Cells  []int  `json:"cells"`
	Woken  int    `json:"woken"`
	Useful int    `json:"useful"`
	Wasted int    `json:"wasted"`
	Words  string `json:"words"`
}

// newRelease returns a release with the given fates of the sessions.
func newRelease(seats []metrics.Fate, drain time.Duration) release {
	var r release
	for i, fate := range seats {
		if i == 0 || fate != seats[i-1] {
			r.Cells = append(r.Cells, int(fate), 0)
		}
		r.Cells[len(r.Cells)-1]++
		switch fate {
		case metrics.Useful:
			r.Useful++
		case metrics.Wasted:
			r.Wasted++
		}
		if fate != metrics.Asleep {
			r.Woken++
		}
	}
	r.Words = r.words(len(seats), drain)
	return r
}

// words returns a text such as "woke 97 of 128 within 12.3 ms; 1 went on, 96 went back to
// sleep".
func (r release) words(of int, drain time.Duration) string {
	text := fmt.Sprintf("woke %s of %s", count(r.Woken), count(of))
	if r.Woken > 1 {
		text += " within " + results.Duration(drain)
	}
	var fates []string
	if r.Useful > 0 {
		fates = append(fates, count(r.Useful)+" went on")
	}
	if r.Wasted > 0 {
		fates = append(fates, count(r.Wasted)+" went back to sleep")
	}
	if len(fates) == 0 {
		return text
	}
	return text + "; " + strings.Join(fates, ", ")
}

func count(n int) string { return results.Count(int64(n)) }

// A strobe selects one write after the other from a run. The zero strobe has selected none.
type strobe struct {
	following bool
	woken     int       // sessions notified until the last look
	since     time.Time // when a look first saw a notified session
	shown     time.Time // when the last release was shown
}

const (
	// releaseEvery is long enough to see the effect of a release before the next one. It also
	// keeps a whole field from flashing at a rate that can harm people.
	releaseEvery = time.Second
	// patience is the longest wait for all fates to be known.
	patience = time.Second
)

// look returns the followed release once it is complete or patience has passed.
func (s *strobe) look(source Source, now time.Time) (r release, ok bool) {
	if !s.following {
		if now.Sub(s.shown) >= releaseEvery-lookEvery {
			source.Follow()
			*s = strobe{following: true, shown: s.shown}
		}
		return r, false
	}
	r = newRelease(source.Woken())
	if r.Woken > 0 && s.woken == 0 {
		s.since = now
	}
	known := r.Useful+r.Wasted == r.Woken && r.Woken == s.woken
	s.woken = r.Woken
	if r.Woken == 0 || !known && now.Sub(s.since) < patience {
		return r, false
	}
	s.shown = now
	s.rest(source)
	return r, true
}

// rest ends following until the next look.
func (s *strobe) rest(source Source) {
	if s.following {
		source.Unfollow()
		s.following = false
	}
}
