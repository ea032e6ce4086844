package results

import (
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results/units"
)

// A ReadRatio is the share of the operations that read, 0 to 1.
type ReadRatio struct {
	Asked    float64 `json:"asked"`
	Achieved float64 `json:"achieved"` // of those completed in the window
}

// Mix describes raw operations.
type Mix struct {
	Keys        int     `json:"keys"`                  // how many nodes were read and set
	KeysBy      string  `json:"keys_by"`               // how they were chosen: "uniform", "zipfian"
	NameLength  int     `json:"name_length,omitempty"` // the least bytes of their names
	SizeBytes   int     `json:"size_bytes"`            // of each value, or of the largest
	SizeBy      string  `json:"size_by,omitempty"`     // how sizes were chosen, if not all were the same: "uniform", "zipfian", a histogram "100=90,1000=9"
	InFlight    int     `json:"in_flight"`             // requests that each client's session had in flight at a time
	Lists       float64 `json:"lists"`                 // the share of the reads that listed nodes
	ListSize    int     `json:"list_size,omitempty"`   // how many nodes each list returned
	Creates     float64 `json:"creates"`               // the share of the writes that created one; as many deleted one, unless the set grew
	Grow        bool    `json:"grow,omitempty"`
	Txns        float64 `json:"txns,omitempty"`    // the share of the writes that were transactions
	TxnOps      int     `json:"txn_ops,omitempty"` // how many nodes each of them set
	Conditional bool    `json:"conditional"`       // each set was on the version that a read before it had shown
	Watchers    int     `json:"watchers"`          // sessions beside the clients that watched
	// Retries is the number of conditional sets that were repeated because another
	// client had changed the node.
	Retries int64 `json:"retries"`
	// Transactions is the number of transactions that were completed, and Refused how often one was refused and made
	// again, because another client had changed a node.
	Transactions int64 `json:"txns_completed,omitempty"`
	Refused      int64 `json:"txns_refused,omitempty"`
}

// Describe names what the operations work on: "1 000 keys of 1 000 B", or without the size.
func (m Mix) Describe(sized bool) string {
	text := units.Count(int64(m.Keys)) + " keys"
	if sized {
		text += " of " + m.sizes()
	}
	if m.KeysBy != "uniform" {
		text += ", " + m.KeysBy
	}
	if m.NameLength > 0 {
		text += fmt.Sprintf(", names of %d B", m.NameLength)
	}
	if m.Lists > 0 && m.ListSize > 0 {
		text += fmt.Sprintf(", lists of %s", units.Count(int64(m.ListSize)))
	}
	if m.Txns > 0 {
		text += fmt.Sprintf(", transactions of %d", m.TxnOps)
	}
	if m.Grow {
		text += ", growing"
	}
	if m.InFlight > 1 {
		text += fmt.Sprintf(", %s in flight per client", units.Count(int64(m.InFlight)))
	}
	return text
}

// sizes describes the sizes of the values.
func (m Mix) sizes() string {
	most := units.Count(int64(m.SizeBytes)) + " B"
	switch {
	case m.SizeBy == "":
		return most
	case strings.Contains(m.SizeBy, "="):
		return "up to " + most + " (histogram)"
	}
	return "1 to " + most + " (" + m.SizeBy + ")"
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
	mix.Retries, mix.Transactions, mix.Refused = m.Retries, m.Transactions, m.Refused
	r.Mix, r.ReadRatio = &mix, &ratio
}

// TransactionsPerS returns how many transactions of a mix were completed in a second.
func (r Run) TransactionsPerS() float64 { return perSecond(r.Mix.Transactions, r.DurationNS) }

func (r Run) IsMix() bool { return r.Mix != nil }

// IsLoad reports whether the run is of a load, not of a form of a recipe.
func (r Run) IsLoad() bool { return r.Family == "load" }

// A Background is the mix that ran beside a recipe in the same window, with clients
// that do not take part in the recipe. None of it is in the run's own counts.
type Background struct {
	Clients        int                `json:"clients"`
	RatePerS       float64            `json:"rate_per_s,omitempty"` // operations asked for; 0 in a closed loop
	ReadRatio      ReadRatio          `json:"read_ratio"`
	Keys           int                `json:"keys"`
	SizeBytes      int                `json:"size_bytes"`
	Watchers       int                `json:"watchers,omitempty"` // sessions beside its clients that watch
	Rounds         int64              `json:"rounds"`             // operations completed
	ThroughputPerS float64            `json:"throughput_per_s"`
	Latency        map[string]Latency `json:"latency"` // by phase
	Phases         []string           `json:"phases"`
	Offered        int64              `json:"offered,omitempty"` // arrivals that were due in the window; in an open loop only
	Late           int64              `json:"late"`
	Completed      int64              `json:"completed,omitempty"`
	Failed         int64              `json:"failed,omitempty"`
	Skipped        int64              `json:"skipped"`
	Unfinished     int64              `json:"unfinished"`
	OldestNS       time.Duration      `json:"oldest_unfinished_ns,omitempty"` // for how long the first of them had been due
	Little         *Little            `json:"littles_law,omitempty"`          // in a closed loop only
	Errors         map[string]int64   `json:"errors"`                         // how often, by the error's text
	Checked        int64              `json:"checked"`                        // violations are among the run's own
}

// Lost returns the number of arrivals that have no response time. A closed loop has none.
func (b Background) Lost() int64 {
	if b.Offered == 0 {
		return 0
	}
	return b.Failed + b.Skipped + b.Unfinished
}

// Describe names the load: "background of 16 clients at 5 000/s, 90 % reads".
func (b Background) Describe() string {
	rate := ""
	if b.RatePerS > 0 {
		rate = " at " + units.Rate(b.RatePerS) + "/s"
	}
	return fmt.Sprintf("background of %s%s, %s reads", units.Clients(b.Clients), rate, units.Share(b.ReadRatio.Asked))
}

// addBackground adds the measurements of the background load, if one was requested.
func (r *Run) addBackground(s Setting, m *metrics.Record, write writing) {
	if m == nil || s.Background == nil {
		return
	}
	b, g := *s.Background, m.Generator
	b.ReadRatio = b.ReadRatio.achieved(*m.Mix)
	b.Rounds, b.ThroughputPerS = m.Rounds, perSecond(m.Rounds, m.Duration)
	b.Offered, b.Late, b.Completed, b.Failed, b.Skipped, b.Unfinished = g.Offered, g.Late, g.Completed, g.Failed, g.Skipped, g.Unfinished
	b.OldestNS, b.Little = g.Oldest, little(m.Little)
	b.Errors, b.Checked = m.Errors, m.Safety.Checked
	b.Phases, b.Latency = phases(m, write)
	r.Background = &b
}
