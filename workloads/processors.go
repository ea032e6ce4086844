package workloads

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// MostForeign is the share of the machine's processors that programs outside the run may use.
const MostForeign = 0.15

// The limits above which the measured times may not be the service's own.
const (
	// full is the share of the machine's processors in use above which threads wait for one.
	full = 0.85
	// late is how late timers may be, as a share of the measured times.
	late = 0.5
	// leastLate is the lateness that the kernel and the runtime explain without a shortage: on an
	// idle virtual machine 1 % of the timers are a millisecond or two late.
	leastLate = 10 * time.Millisecond
	// stolen is the share of the machine's processors that the hypervisor may take.
	stolen = 0.05
	// leastTime is more than chance explains: the kernel counts in ticks of 10 ms.
	leastTime = 30 * time.Millisecond
)

// generatorDoubts returns the doubts that come from the generator and its machine, at any time of
// the run: which program was short of processors, and why.
func generatorDoubts(m *metrics.Record) (all []metrics.Warning) {
	doubt := func(is bool, code string, numbers metrics.Numbers) {
		if is {
			all = append(all, metrics.Warning{Code: code, Numbers: numbers})
		}
	}
	g, cores := m.Generator, float64(metrics.Cores())
	doubt(g.CPUCores > full*cores, metrics.ClientBound, metrics.Numbers{"generator_cores": g.CPUCores, "machine_cores": cores})
	if c := g.Machine; c != nil {
		doubt(c.Busy > full*float64(c.Cores) && more(m, c.Others, MostForeign), metrics.Others, metrics.Numbers{
			"others_cores": c.Others, "machine_cores": float64(c.Cores), "generator_cores": g.CPUCores, "started_cores": c.Started,
			"waiting_share": c.Waiting / max(c.Waiting+g.CPUCores, 1e-9)})
		doubt(more(m, c.Stolen, stolen), metrics.Stolen, metrics.Numbers{"stolen_cores": c.Stolen, "machine_cores": float64(c.Cores)})
	}
	if p := lateFor(m); p.Name != "" {
		all = append(all, metrics.Warning{Code: metrics.Starved, Names: metrics.Names{"phase": p.Name},
			Numbers: metrics.Numbers{"late_p99_ns": float64(at99(g.Lag)), "phase_p99_ns": float64(at99(p.Service))}})
	}
	return all
}

// more reports whether processors, averaged over the window, exceed a share of the machine's
// processors and exceed chance.
func more(m *metrics.Record, processors, share float64) bool {
	return processors > share*float64(m.Generator.Machine.Cores) && processors*m.Duration.Seconds() > leastTime.Seconds()
}

// lateFor returns the first phase for which the generator's own lateness is too large a share of
// the measured times; a phase without a name if there is none.
func lateFor(m *metrics.Record) metrics.Phase {
	lag := at99(m.Generator.Lag)
	if lag < leastLate {
		return metrics.Phase{}
	}
	for _, p := range m.Phases {
		if p.Service != nil && p.Service.TotalCount() > 0 && float64(lag) > late*float64(at99(p.Service)) {
			return p
		}
	}
	return metrics.Phase{}
}

// sharedMachine returns a warning if the generator and the servers kept the machine busy together.
// That is no reason to doubt a comparison of runs that share the machine in the same way.
func sharedMachine(m *metrics.Record) (w metrics.Warning, busy bool) {
	g := m.Generator
	c := g.Machine
	if c == nil || c.Busy <= full*float64(c.Cores) {
		return w, false
	}
	return metrics.Warning{Code: metrics.Shared, Numbers: metrics.Numbers{"busy_share": c.Busy / float64(c.Cores),
		"generator_cores": g.CPUCores, "machine_cores": float64(c.Cores), "started_cores": c.Started}}, true
}

// at99 returns the 99th percentile of a histogram of durations.
func at99(h *hdrhistogram.Histogram) time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.ValueAtQuantile(99))
}
