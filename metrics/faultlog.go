package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A FaultLog logs the events of a run with faults: the faults that were injected, and how each
// client was affected. Times are from the beginning of the window. Its methods may be called
// from any goroutine; before Begin they record nothing.
type FaultLog struct {
	mu      sync.Mutex
	begun   time.Time
	breaks  []Break
	faults  []fault           // the breaks that began a fault
	served  [][]time.Duration // moments of service, by client
	states  []stateChange
	led     []time.Duration
	errors  []failure
	samples []sample
	others  [][]sample // of other processes
}

// A fault is a break that began a fault, and the time when its injection was complete.
type fault struct {
	Break
	done time.Duration
}

type stateChange struct {
	at     time.Duration
	client int
	state  drivers.State
}

type failure struct {
	at   time.Duration
	text string
}

type sample struct {
	at     time.Duration
	counts Counts
}

// NewFaultLog returns an empty diary for the given number of clients.
func NewFaultLog(clients int) *FaultLog { return &FaultLog{served: make([][]time.Duration, clients)} }

// Begin opens the window.
func (d *FaultLog) Begin() { d.BeginAt(time.Now()) }

// BeginAt opens the window at a moment, which may be still to come.
func (d *FaultLog) BeginAt(when time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = when
}

// Begun returns when the window opened, zero if it has not.
func (d *FaultLog) Begun() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun
}

// note calls f with the time since the window opened, if the window was open at when.
func (d *FaultLog) note(when time.Time, f func(at time.Duration)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := when.Sub(d.begun); !d.begun.IsZero() && at >= 0 {
		f(at)
	}
}

// Served records that a client (numbered from 0) was served at when.
func (d *FaultLog) Served(client int, when time.Time) {
	d.note(when, func(at time.Duration) { d.served[client] = append(d.served[client], at) })
}

// State records a change of a client's session state. Connected also means that a new session
// has replaced a lost one.
func (d *FaultLog) State(client int, s drivers.State) {
	d.note(time.Now(), func(at time.Duration) { d.states = append(d.states, stateChange{at, client, s}) })
}

// Failed records an error of a client.
func (d *FaultLog) Failed(text string) {
	d.note(time.Now(), func(at time.Duration) { d.errors = append(d.errors, failure{at, text}) })
}

// Led records that the service has a leader again.
func (d *FaultLog) Led() {
	d.note(time.Now(), func(at time.Duration) { d.led = append(d.led, at) })
}

// Broke records a break that began at when and has ended now. first says that it began a fault.
func (d *FaultLog) Broke(what string, when time.Time, first bool) {
	d.note(when, func(at time.Duration) {
		b := Break{at, what}
		if first {
			d.faults = append(d.faults, fault{b, time.Since(d.begun)})
		}
		d.breaks = append(d.breaks, b)
	})
}

// Counted records the wire counts up to now.
func (d *FaultLog) Counted(c Counts) {
	d.note(time.Now(), func(at time.Duration) { d.samples = append(d.samples, sample{at, c}) })
}

// Breaks returns all breaks in order of time.
func (d *FaultLog) Breaks() []Break {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.breaks)
	slices.SortStableFunc(all, func(a, b Break) int { return int(a.At - b.At) })
	return all
}

// Recoveries describes the recovery from each fault in a window of the given length.
func (d *FaultLog) Recoveries(window time.Duration) (all []Recovery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	faults := slices.Clone(d.faults)
	slices.SortStableFunc(faults, func(a, b fault) int { return int(a.At - b.At) })
	var explained []gap // explained by earlier faults
	for i, f := range faults {
		until := window
		if i+1 < len(faults) && faults[i+1].At > f.At {
			until = faults[i+1].At
		}
		r, felt := d.recovery(f, until, explained)
		all, explained = append(all, r), append(explained, felt)
	}
	return all
}

// grants returns, in order, the moments at which any client was served.
func (d *FaultLog) grants() (all []time.Duration) {
	for _, moments := range d.served {
		all = append(all, moments...)
	}
	slices.Sort(all)
	return all
}

// disconnections returns the times, from since on, at which a client was notified that its
// session broke, and at which it was connected again. -1 stands for all clients.
func (d *FaultLog) disconnections(client int, since time.Duration) (all []time.Duration) {
	away := map[int]bool{}
	for _, s := range d.states {
		switch {
		case s.at < since || client >= 0 && s.client != client:
		case s.state != drivers.Connected:
			away[s.client] = true
			all = append(all, s.at)
		case away[s.client]:
			delete(away, s.client)
			all = append(all, s.at)
		}
	}
	return all
}

// connections summarizes what happened to the clients' sessions between from and until.
func (d *FaultLog) connections(from, until time.Duration) (noticed, reconnected *time.Duration, disconnected, lost int) {
	away, were := map[int]bool{}, map[int]bool{}
	for _, s := range d.states {
		if s.at < from || s.at >= until {
			continue
		}
		after := s.at - from
		switch s.state {
		case drivers.Disconnected:
			if noticed == nil {
				noticed = &after
			}
			away[s.client], were[s.client] = true, true
		case drivers.SessionLost:
			lost++
			away[s.client], were[s.client] = true, true
		case drivers.Connected:
			if away[s.client] {
				reconnected = &after
			}
			delete(away, s.client)
		}
	}
	if len(away) > 0 {
		reconnected = nil
	}
	return noticed, reconnected, len(were), lost
}

// counted returns the wire counts between from and until, to the precision of the samples.
func (d *FaultLog) counted(from, until time.Duration) (all Counts) {
	for _, samples := range append([][]sample{d.samples}, d.others...) {
		var at, begin Counts
		for _, s := range samples {
			if s.at <= from {
				begin = s.counts
			}
			if at = s.counts; s.at >= until {
				break
			}
		}
		all = all.Add(at.Sub(begin))
	}
	return all
}
