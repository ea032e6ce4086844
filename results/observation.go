package results

import "github.com/stampede-bench/stampede/metrics/observe"

// AllPaths is the subject of figures of a whole observation.
const AllPaths = "all paths"

// An Observation is what other programs' traffic did to a service. It has no node data, no
// credentials and no arguments of the command that was run.
type Observation struct {
	Head
	Backend string `json:"backend"` // URL, without credentials
	Source  string `json:"source"`  // "proxy", "capture file" or "interface"
	// Program is the program around which traffic was observed, and Exit its exit code; null
	// without one.
	Program *string `json:"program"`
	Exit    *int    `json:"exit"`
	// Dropped is the number of bytes that were passed on but not analysed.
	Dropped int64 `json:"dropped_bytes"`
	// PacketsDropped is the number of packets that the kernel dropped, because the capture was late.
	PacketsDropped uint64         `json:"dropped_packets"`
	Observed       observe.Report `json:"observed"`
	// Projected is the number of clients of the projection; 0 without one.
	Projected int     `json:"projected_clients"`
	Gates     []Gate  `json:"gates"`
	Verdict   Verdict `json:"verdict"` // the worst of the gates; "" without gates
}
