package merge

import (
	"fmt"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// Histograms returns the sum of the histograms, in each bucket. It leaves out those that are nil, and
// returns nil if all are. Histograms with different buckets are an error.
func Histograms(parts ...*hdrhistogram.Histogram) (*hdrhistogram.Histogram, error) {
	var sum *hdrhistogram.Histogram
	for _, part := range parts {
		switch {
		case part == nil:
		case sum == nil:
			sum = part.Clone()
		case buckets(part) != buckets(sum):
			return nil, fmt.Errorf("merge histograms: one has buckets %v, another %v", buckets(sum), buckets(part))
		default:
			if dropped := sum.Merge(part); dropped > 0 {
				return nil, fmt.Errorf("merge histograms: %d values are out of range", dropped)
			}
		}
	}
	return sum, nil
}

// A layout identifies the buckets of a histogram.
type layout struct{ Lowest, Highest, Digits int64 }

func buckets(h *hdrhistogram.Histogram) layout {
	return layout{h.LowestTrackableValue(), h.HighestTrackableValue(), h.SignificantFigures()}
}

// Phases merges the phases of each agent. All agents measure the same phases, in the same order; an agent
// without clients has none.
func Phases(parts ...[]metrics.Phase) (merged []metrics.Phase, err error) {
	for _, part := range parts {
		switch {
		case len(part) == 0:
		case merged == nil:
			merged = slices.Clone(part)
		case !slices.EqualFunc(merged, part, func(a, b metrics.Phase) bool { return a.Name == b.Name }):
			return nil, fmt.Errorf("merge phases: one agent has %q, another %q", names(merged), names(part))
		default:
			for i := range merged {
				if merged[i], err = phase(merged[i], part[i]); err != nil {
					return nil, err
				}
			}
		}
	}
	return merged, nil
}

func phase(a, b metrics.Phase) (merged metrics.Phase, err error) {
	merged.Name = a.Name
	if merged.Service, err = Histograms(a.Service, b.Service); err != nil {
		return merged, fmt.Errorf("phase %s, service time: %w", a.Name, err)
	}
	if merged.Response, err = Histograms(a.Response, b.Response); err != nil {
		return merged, fmt.Errorf("phase %s, response time: %w", a.Name, err)
	}
	return merged, nil
}

func names(phases []metrics.Phase) (all []string) {
	for _, p := range phases {
		all = append(all, p.Name)
	}
	return all
}
