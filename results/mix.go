package results

import (
	"github.com/stampede-bench/stampede/metrics"
)

// A ReadRatio is the share of the operations that read, 0 to 1.
type ReadRatio struct {
	Asked    float64 `json:"asked"`
	Achieved float64 `json:"achieved"` // of those completed in the window
}

// Mix describes raw operations.
type Mix struct {
	Keys        int     `json:"keys"`    // how many nodes were read and set
	KeysBy      string  `json:"keys_by"` // how they were chosen: "uniform", "zipfian"
	SizeBytes   int     `json:"size_bytes"`
	InFlight    int     `json:"in_flight"`   // requests that each client's session had in flight at a time
	Lists       float64 `json:"lists"`       // the share of the reads that listed nodes
	Creates     float64 `json:"creates"`     // the share of the writes that created one; as many deleted one
	Conditional bool    `json:"conditional"` // each set was on the version that a read before it had shown
	Watchers    int     `json:"watchers"`    // sessions beside the clients that watched
	// Retries is the number of conditional sets that were repeated because another
	// client had changed the node.
	Retries int64 `json:"retries"`
}

// Preload describes the data that the service held beside the measured nodes.
type Preload struct {
	Nodes   int `json:"nodes"`
	Watches int `json:"watches"` // on these; none fired
}

// achieved fills in the achieved share of reads.
func (r ReadRatio) achieved(m metrics.Mix) ReadRatio {
	if all := m.Reads + m.Writes; all > 0 {
		r.Achieved = float64(m.Reads) / float64(all)
	}
	return r
}

// addMix adds the measurements of the mix, if one was requested.
func (r *Run) addMix(s Setting, m *metrics.Mix) {
	if m == nil || s.Mix == nil {
		return
	}
	mix, ratio := *s.Mix, ReadRatio{Asked: s.Reads}.achieved(*m)
	mix.Retries = m.Retries
	r.Mix, r.ReadRatio = &mix, &ratio
}

func (r Run) IsMix() bool { return r.Mix != nil }

// IsLoad reports whether the run is of a load, not of a form of a recipe.
func (r Run) IsLoad() bool { return r.Family == "load" }
