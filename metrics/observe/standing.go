package observe

import (
	"cmp"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Standing are the watches of one path pattern that are armed at the end of the observation.
type Standing struct {
	Path    string        `json:"path"`
	Watches int64         `json:"watches"`
	AgeP50  time.Duration `json:"age_p50_ns"` // since they were armed
	Oldest  time.Duration `json:"oldest_ns"`
}

// maxStanding is how many path patterns a Report lists.
const maxStanding = 10

// oldestAge is the largest age that the median is exact to.
const oldestAge = 1000 * time.Hour

// standing returns the patterns with most armed watches. It looks at every watch, so it is made for
// the end of the observation only.
func (a *Analysis) standing() (all []Standing) {
	ages := map[*pattern]*hdrhistogram.Histogram{}
	oldest := map[*pattern]time.Duration{}
	for _, s := range a.byMeter {
		for _, w := range s.watches {
			if ages[w.pattern] == nil {
				ages[w.pattern] = hdrhistogram.New(1, int64(oldestAge/time.Millisecond), digits)
			}
			age := max(a.now.Sub(w.at), 0)
			_ = ages[w.pattern].RecordValue(min(int64(age/time.Millisecond), int64(oldestAge/time.Millisecond))) // in range
			oldest[w.pattern] = max(oldest[w.pattern], age)
		}
	}
	for p, h := range ages {
		all = append(all, Standing{p.name, h.TotalCount(), min(time.Duration(h.ValueAtQuantile(50))*time.Millisecond, oldest[p]), oldest[p]})
	}
	slices.SortFunc(all, func(x, y Standing) int {
		return cmp.Or(cmp.Compare(y.Watches, x.Watches), cmp.Compare(x.Path, y.Path))
	})
	return all[:min(len(all), maxStanding)]
}
