// Package shortage tells when a load generator or its machine was short of processor time: the times that it measured may
// not be the service's own then.
package shortage

import (
	"maps"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/stampede-bench/stampede/metrics"
)

// MostForeign is the share of the processors that programs outside the run may use. The processors, also
// below, are those that the generator and its servers may use.
const MostForeign = 0.15

// The limits above which the measured times may not be the service's own.
const (
	// full is the share of the processors in use above which threads wait for one.
	full = 0.85
	// waited is the share of the time with work that the generator's threads may wait for a processor
	// while other programs use some.
	waited = 0.5
	// late is how late timers may be, as a share of the measured times.
	late = 0.5
	// leastLate is the lateness that the kernel and the runtime explain without a shortage: on an
	// idle virtual machine 1 % of the timers are a millisecond or two late.
	leastLate = 10 * time.Millisecond
	// stolen is the share of the processors that the hypervisor may take.
	stolen = 0.05
	// leastTime is more than chance explains: the kernel counts in ticks of 10 ms.
	leastTime = 30 * time.Millisecond
)

// Doubts returns the doubts that come from the generator and its machine, at any time of
// the run: which program was short of processors, and why. They say how far times can be wrong, as far as that is
// known, unless the generator itself used up the processors.
func Doubts(m *metrics.Record) (all []metrics.Warning) {
	doubt := func(is bool, code string, numbers metrics.Numbers) {
		if is {
			all = append(all, metrics.Warning{Code: code, Numbers: numbers})
		}
	}
	g, cores := m.Generator, metrics.Cores()
	doubt(g.CPUCores > full*cores, metrics.ClientBound, metrics.Numbers{"generator_cores": g.CPUCores, "machine_cores": cores})
	worth := g.LostTime(leastLate)
	sized := func(numbers metrics.Numbers) metrics.Numbers {
		maps.Copy(numbers, worth)
		return numbers
	}
	if c := g.Machine; c != nil {
		waiting := c.Waiting / max(c.Waiting+g.CPUCores, 1e-9)
		doubt((c.Busy > full*c.Cores || waiting > waited) && more(m, c.Others, MostForeign), metrics.Others, sized(metrics.Numbers{
			"others_cores": c.Others, "machine_cores": c.Cores, "generator_cores": g.CPUCores, "started_cores": c.Started, "service_cores": c.Service, "waiting_share": waiting}))
		doubt(more(m, c.Stolen, stolen), metrics.Stolen, sized(metrics.Numbers{"stolen_cores": c.Stolen, "machine_cores": c.Cores}))
	}
	if p := lateFor(m); p.Name != "" {
		tail, name := tailOf(p.Service)
		all = append(all, metrics.Warning{Code: metrics.Starved, Names: metrics.Names{"phase": p.Name},
			Numbers: sized(metrics.Numbers{"late_p99_ns": float64(at99(g.Lag)), name: float64(tail)})})
	}
	return all
}

// more reports whether processors, averaged over the window, exceed a share of the processors
// and exceed chance.
func more(m *metrics.Record, processors, share float64) bool {
	return processors > share*m.Generator.Machine.Cores && processors*m.Duration.Seconds() > leastTime.Seconds()
}

// lateFor returns the first phase for which the generator's own lateness is too large a share of
// the measured times; a phase without a name if there is none.
func lateFor(m *metrics.Record) metrics.Phase {
	lag := at99(m.Generator.Lag)
	if lag < leastLate {
		return metrics.Phase{}
	}
	for _, p := range m.Phases {
		if p.Service == nil || p.Service.TotalCount() == 0 {
			continue
		}
		if tail, _ := tailOf(p.Service); float64(lag) > late*float64(tail) {
			return p
		}
	}
	return metrics.Phase{}
}

// tailOf returns the 99th percentile of the times of a phase, or the longest time if they are too few for the
// percentile to be known, and its name among the numbers of a warning.
func tailOf(h *hdrhistogram.Histogram) (time.Duration, string) {
	if metrics.Supports(h.TotalCount(), 99) {
		return at99(h), "phase_p99_ns"
	}
	return time.Duration(h.Max()), "phase_max_ns"
}

// SharedMachine returns a warning if the generator and the servers kept the machine busy together.
// That is no reason to doubt a comparison of runs that share the machine in the same way.
func SharedMachine(m *metrics.Record) (w metrics.Warning, busy bool) {
	g := m.Generator
	c := g.Machine
	if c == nil || c.Busy <= full*c.Cores {
		return w, false
	}
	return metrics.Warning{Code: metrics.Shared, Numbers: metrics.Numbers{"busy_share": c.Busy / c.Cores,
		"generator_cores": g.CPUCores, "machine_cores": c.Cores, "started_cores": c.Started}}, true
}

// at99 returns the 99th percentile of a histogram of durations.
func at99(h *hdrhistogram.Histogram) time.Duration {
	if h == nil {
		return 0
	}
	return time.Duration(h.ValueAtQuantile(99))
}
