package metrics

import (
	"cmp"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// FaultEvents are the events of a FaultLog, for another process. Times are from the beginning of the window.
type FaultEvents struct {
	Breaks  []Break
	Faults  []FaultEvent
	Served  [][]time.Duration // by client
	States  []StateEvent
	Led     []time.Duration // when the service had a leader again
	Errors  []ErrorEvent
	Samples []SampleEvent
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

// Add adds the events of another process, whose clients come after those that the log has. here returns what a
// time of that process is in this log. Faults that both have injected, each into its own clients, are one fault,
// which lasts from the first injection to the last.
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
