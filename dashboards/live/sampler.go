package live

import "time"

// A sampler selects a typical write of each second of a run. The zero sampler follows no writes.
type sampler struct {
	following bool
	held      bool      // the writes of this second are known
	since     time.Time // when following began, or when it was held
	woken     int       // sessions notified until the last look
}

const (
	// gatherFor is how long writes are gathered. Their outcomes are known soon after, so that a
	// release is shown about once a second: long enough to see the effect of a release before
	// the next one, and too slow for a flashing field to harm people.
	gatherFor = 3 * lookEvery
	// patience is the longest wait for all outcomes to be known.
	patience = time.Second
)

// look returns a typical write once its outcomes are known or patience has passed. After a
// release it begins to gather the writes for the next one.
func (s *sampler) look(source Source, now time.Time) (r release, ok bool) {
	if !s.following {
		s.begin(source, now)
		return r, false
	}
	if !s.held && now.Sub(s.since) < gatherFor-lookEvery/2 {
		return r, false
	}
	r = newRelease(source.Woken())
	if r.Woken == 0 {
		return r, false // gather until there is a write
	}
	if !s.held {
		source.Hold()
		s.held, s.since = true, now
	}
	known := r.Useful+r.Wasted == r.Woken && r.Woken == s.woken
	s.woken = r.Woken
	if !known && now.Sub(s.since) < patience {
		return r, false
	}
	s.begin(source, now)
	return r, true
}

func (s *sampler) begin(source Source, now time.Time) {
	source.Follow()
	*s = sampler{following: true, since: now}
}

// last returns a typical one of the writes gathered so far, when the run is over.
func (s *sampler) last(source Source) (r release, ok bool) {
	if !s.following {
		return r, false
	}
	r = newRelease(source.Woken())
	return r, r.Woken > 0
}

// rest ends following until the next look.
func (s *sampler) rest(source Source) {
	if s.following {
		source.Unfollow()
		*s = sampler{}
	}
}
