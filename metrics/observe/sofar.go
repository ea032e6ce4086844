package observe

import (
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// SoFar returns what has been observed until now. Unlike Report it decides nothing that is still
// open: a change counts once no further notification of it can come.
func (a *Analysis) SoFar() Report {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.meter.Prune()
	return a.reportNow()
}

// A Pattern is what has been counted of one path pattern until now. Its counts never decrease,
// except Watches.
type Pattern struct {
	Path          string
	Requests      map[string]int64 // by operation, those that were sent
	Notifications int64
	Watches       int64 // standing now
	// Acted, Read and Waited count the notifications by what the session did next: it acted, it read
	// what had changed, or it waited again.
	Acted, Read, Waited int64
	Fanout              metrics.Tally // notifications for each change, nil without a change
}

// Patterns returns the path patterns with requests or notifications, sorted by path. The last one is
// "others" if there were more than the limit.
func (a *Analysis) Patterns() (all []Pattern) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.meter.Prune()
	for _, name := range slices.Sorted(maps.Keys(a.patterns)) {
		all = append(all, a.patterns[name].soFar())
	}
	return slices.DeleteFunc(append(all, a.others.soFar()), func(p Pattern) bool { return len(p.Requests) == 0 && p.Notifications == 0 })
}

func (p *pattern) soFar() Pattern {
	now := Pattern{Path: p.name, Requests: map[string]int64{}, Notifications: p.notifications(), Watches: p.standing}
	for op, counts := range p.ops {
		if counts.requests > 0 {
			now.Requests[drivers.Op(op).String()] += counts.requests
		}
	}
	for _, of := range p.woken {
		now.Acted, now.Read, now.Waited = now.Acted+of[acted], now.Read+of[read], now.Waited+of[waited]
	}
	now.Fanout = maps.Clone(p.fanout)
	return now
}
