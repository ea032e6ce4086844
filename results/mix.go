package results

import (
	"fmt"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// A ReadRatio is the share of the operations that read, 0 to 1.
type ReadRatio struct {
	Asked    float64 `json:"asked"`
	Achieved float64 `json:"achieved"` // of those completed in the window
}

// Mix is what raw operations were.
type Mix struct {
	Keys        int     `json:"keys"`    // how many nodes were read and set
	KeysBy      string  `json:"keys_by"` // how they were chosen: "uniform", "zipfian"
	SizeBytes   int     `json:"size_bytes"`
	InFlight    int     `json:"in_flight"`   // requests that each client's session had in flight at a time; 0 in older files means 1
	Lists       float64 `json:"lists"`       // the share of the reads that listed nodes
	Creates     float64 `json:"creates"`     // the share of the writes that created one; as many deleted one
	Conditional bool    `json:"conditional"` // each set was on the version that a read before it had shown
	Watchers    int     `json:"watchers"`    // sessions beside the clients that watched
	// Retries is how many conditional sets were made again, since somebody else
	// had been faster.
	Retries int64 `json:"retries"`
}

// Preload is what there was on the service beside what was measured.
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

// mixed adds the measurements of the mix, if one was requested.
func (r *Run) mixed(s Setting, m *metrics.Mix) {
	if m == nil || s.Mix == nil {
		return
	}
	mix, ratio := *s.Mix, ReadRatio{Asked: s.Reads}.achieved(*m)
	mix.Retries = m.Retries
	r.Mix, r.ReadRatio = &mix, &ratio
}

func (r Run) isMix() bool { return r.Mix != nil }

// isLoad reports whether the run is of a load, not of a form of a recipe.
func (r Run) isLoad() bool { return r.Family == "load" }

// mixTable adds the columns for raw operations: a row for each level.
func mixTable(s *sheet) {
	operations := func(c column, share func(ReadRatio) float64) {
		s.figure(c, func(r Run) (float64, bool) { return r.ThroughputPerS * share(*r.ReadRatio), true }, Rate)
	}
	s.text(column{head: "clients", over: s.runs[0].place()},
		func(r Run) string { return Count(int64(r.Clients)) })
	from := ""
	if s.rates("ops/s") {
		from = " from when due"
	}
	s.figure(column{head: "reads", space: 2}, func(r Run) (float64, bool) { return r.ReadRatio.Achieved, true }, share)
	operations(column{head: "reads/s", space: 2}, func(r ReadRatio) float64 { return r.Achieved })
	operations(column{head: "writes/s", space: 2}, func(r ReadRatio) float64 { return 1 - r.Achieved })
	s.times("read"+from, "read", Run.latency)
	s.times("write"+from, "write", Run.latency)
	if slices.ContainsFunc(s.runs, func(r Run) bool { return r.Mix.Conditional }) {
		s.figure(column{head: "retries", space: 3}, func(r Run) (float64, bool) { return float64(r.Mix.Retries), true }, whole)
	}
	backgroundColumns(s)
	s.safety()
}

// share formats a fraction of 1: "91 %".
func share(v float64) string { return percent(int64(1e6*v), 1e6) }

// mixes says what throughput and latency the raw operations reached, at the largest number of clients.
func mixes(runs []Run, shown columns) []string {
	most := slices.MaxFunc(medians(runs), func(a, b Run) int { return a.Clients - b.Clients })
	line := fmt.Sprintf("With %s %s operations/s, %s of them reads", most.crowd(), Rate(most.ThroughputPerS), share(most.ReadRatio.Achieved))
	if most.open() {
		line = most.keepsUp() + fmt.Sprintf(", %s of it reads", share(most.ReadRatio.Achieved))
	}
	separator := ": "
	for _, phase := range most.Phases {
		of := func(r Run) *Distribution { return r.latency(phase) }
		if p, name := shown.highest(runs, of, most); name != "" {
			v, _ := shown.at(runs, of, most, p)
			line += fmt.Sprintf("%s%s %s is %s", separator, phase, name, Duration(time.Duration(v)))
			separator = ", "
		}
	}
	if most.open() {
		line += ", from when it was due"
	}
	return []string{line + "."}
}

// about describes the operations: "1 000 keys of 1 000 B".
func (m Mix) about() string {
	text := fmt.Sprintf("%s keys of %s B", Count(int64(m.Keys)), Count(int64(m.SizeBytes)))
	if m.KeysBy != "uniform" {
		text += ", " + m.KeysBy
	}
	if m.InFlight > 1 {
		text += fmt.Sprintf(", %s in flight per client", Count(int64(m.InFlight)))
	}
	return text
}
