package metrics

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A FaultLog logs the events of a run with faults: the faults that were injected, and how each
// client was affected. Times are from the beginning of the window. Its methods may be called
// from any goroutine; before Begin they record nothing.
type FaultLog struct {
	mu     sync.Mutex
	begun  time.Time
	breaks []Break
	faults []fault           // the breaks that began a fault
	served [][]time.Duration // moments of service, by client
	// operated has the moments at which operations ended, by phase, where not every turn makes one of each.
	operated map[string][]time.Duration
	states   []stateChange
	led      []time.Duration
	errors   []failure
	samples  []sample
	others   [][]sample // of other processes
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
func NewFaultLog(clients int) *FaultLog {
	return &FaultLog{served: make([][]time.Duration, clients), operated: make(map[string][]time.Duration)}
}

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

// Operated records that an operation of a phase ended at when, of a form that makes operations of
// several phases independently.
func (d *FaultLog) Operated(phase string, when time.Time) {
	d.note(when, func(at time.Duration) { d.operated[phase] = append(d.operated[phase], at) })
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

// Led records that the service has a leader again, since when.
func (d *FaultLog) Led(when time.Time) {
	d.note(when, func(at time.Duration) { d.led = append(d.led, at) })
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

// Recoveries describes the recovery from each fault in a window of the given length. It leaves out faults after its end:
// what happened then is not their doing.
func (d *FaultLog) Recoveries(window time.Duration) (all []Recovery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	faults := slices.Clone(d.faults)
	slices.SortStableFunc(faults, func(a, b fault) int { return int(a.At - b.At) })
	var explained []gap // explained by earlier faults
	for i, f := range faults {
		if f.At > window {
			break
		}
		until := window
		if i+1 < len(faults) && faults[i+1].At > f.At {
			until = min(until, faults[i+1].At)
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
func (d *FaultLog) connections(r *Recovery, from, until time.Duration) {
	away, were := map[int]bool{}, map[int]bool{}
	for _, s := range d.states {
		if s.at < from || s.at >= until {
			continue
		}
		after := s.at - from
		switch s.state {
		case drivers.Disconnected:
			if r.Noticed == nil {
				r.Noticed = &after
			}
		case drivers.SessionLost:
			r.Lost++
		case drivers.SessionGivenUp:
			r.GivenUp++
		case drivers.Connected:
			if away[s.client] {
				r.Reconnected = &after
			}
			delete(away, s.client)
			continue
		}
		away[s.client], were[s.client] = true, true
	}
	if len(away) > 0 {
		r.Reconnected = nil
	}
	r.Disconnected = len(were)
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

// FaultEvents are the events of a FaultLog, for another process. Times are from the beginning of the window.
type FaultEvents struct {
	Breaks []Break
	Faults []FaultEvent
	Served [][]time.Duration // by client
	// Operated has the moments at which operations ended, by phase.
	Operated map[string][]time.Duration
	States   []StateEvent
	Led      []time.Duration // when the service had a leader again
	Errors   []ErrorEvent
	Samples  []SampleEvent
}

// A FaultEvent is a break that began a fault, and when its injection was complete.
type FaultEvent struct {
	Break
	Done time.Duration
}

// A StateEvent is a change of a client's session state.
type StateEvent struct {
	At     time.Duration
	Client int
	State  drivers.State
}

// An ErrorEvent is an error of a client.
type ErrorEvent struct {
	At   time.Duration
	Text string
}

// A SampleEvent has the wire counts up to a time.
type SampleEvent struct {
	At     time.Duration
	Counts Counts
}

// Events returns the events so far.
func (d *FaultLog) Events() FaultEvents {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := FaultEvents{Breaks: slices.Clone(d.breaks), Led: slices.Clone(d.led)}
	for _, f := range d.faults {
		e.Faults = append(e.Faults, FaultEvent{f.Break, f.done})
	}
	for _, moments := range d.served {
		e.Served = append(e.Served, slices.Clone(moments))
	}
	e.Operated = make(map[string][]time.Duration)
	for phase, moments := range d.operated {
		e.Operated[phase] = slices.Clone(moments)
	}
	for _, s := range d.states {
		e.States = append(e.States, StateEvent{s.at, s.client, s.state})
	}
	for _, f := range d.errors {
		e.Errors = append(e.Errors, ErrorEvent{f.at, f.text})
	}
	for _, s := range d.samples {
		e.Samples = append(e.Samples, SampleEvent{s.at, s.counts})
	}
	return e
}

// Add adds the events of another process, whose clients come after those that the log has. here returns
// what a time of that process is in this log. Faults that both have injected, each into its own clients,
// are one fault, which lasts from the first injection to the last.
func (d *FaultLog) Add(e FaultEvents, here func(time.Duration) time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	first := len(d.served)
	for _, moments := range e.Served {
		var all []time.Duration
		for _, at := range moments {
			all = append(all, here(at))
		}
		d.served = append(d.served, all)
	}
	for phase, moments := range e.Operated {
		for _, at := range moments {
			d.operated[phase] = append(d.operated[phase], here(at))
		}
	}
	for _, s := range e.States {
		d.states = append(d.states, stateChange{here(s.At), first + s.Client, s.State})
	}
	slices.SortStableFunc(d.states, func(a, b stateChange) int { return cmp.Compare(a.at, b.at) })
	for _, at := range e.Led {
		d.led = append(d.led, here(at))
	}
	slices.Sort(d.led)
	for _, f := range e.Errors {
		d.errors = append(d.errors, failure{here(f.At), f.Text})
	}
	var samples []sample
	for _, s := range e.Samples {
		samples = append(samples, sample{here(s.At), s.Counts})
	}
	d.others = append(d.others, samples)
	d.addFaults(e, here)
}

func (d *FaultLog) addFaults(e FaultEvents, here func(time.Duration) time.Duration) {
	for i, b := range e.Breaks {
		b.At = here(b.At)
		k := nth(e.Breaks[:i], b.What)
		if j := find(d.breaks, k, b.What, func(o Break) string { return o.What }); j >= 0 {
			d.breaks[j].At = min(d.breaks[j].At, b.At)
		} else {
			d.breaks = append(d.breaks, b)
		}
	}
	what := func(f fault) string { return f.What }
	for i, f := range e.Faults {
		at, done := here(f.At), here(f.Done)
		var before []Break
		for _, o := range e.Faults[:i] {
			before = append(before, o.Break)
		}
		if j := find(d.faults, nth(before, f.What), f.What, what); j >= 0 {
			d.faults[j].At, d.faults[j].done = min(d.faults[j].At, at), max(d.faults[j].done, done)
		} else {
			d.faults = append(d.faults, fault{Break{at, f.What}, done})
		}
	}
}

// nth returns how many of the breaks have the text.
func nth(breaks []Break, what string) (n int) {
	for _, b := range breaks {
		if b.What == what {
			n++
		}
	}
	return n
}

// find returns the index of the kth of those that have the text, counted from 0, or -1.
func find[E any](all []E, k int, what string, of func(E) string) int {
	for i, e := range all {
		if of(e) != what {
			continue
		}
		if k == 0 {
			return i
		}
		k--
	}
	return -1
}
