package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Diary is what happened, and when, in the window of a run in which things are
// broken: what was broken, and what each client had of it. Its methods may be
// called from any goroutine; before Begin they note nothing.
type Diary struct {
	mu      sync.Mutex
	begun   time.Time
	breaks  []Break
	faults  []fault           // the breaks with which a fault began
	served  [][]time.Duration // by client
	states  []stateChange
	led     []time.Duration
	errors  []failure
	samples []sample
}

// A fault is a break with which a fault began, and when it was done.
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

// NewDiary returns the diary of so many clients.
func NewDiary(clients int) *Diary { return &Diary{served: make([][]time.Duration, clients)} }

// Begin opens the window.
func (d *Diary) Begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = time.Now()
}

// note calls f with how far the window has got, if it is open.
func (d *Diary) note(when time.Time, f func(at time.Duration)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := when.Sub(d.begun); !d.begun.IsZero() && at >= 0 {
		f(at)
	}
}

// Served says that a client, from 0, got what it wanted.
func (d *Diary) Served(client int, when time.Time) {
	d.note(when, func(at time.Duration) { d.served[client] = append(d.served[client], at) })
}

// State says how a client's session is; Connected also of a new one after one
// that was lost.
func (d *Diary) State(client int, s drivers.State) {
	d.note(time.Now(), func(at time.Duration) { d.states = append(d.states, stateChange{at, client, s}) })
}

// Failed says that a client had an error.
func (d *Diary) Failed(text string) {
	d.note(time.Now(), func(at time.Duration) { d.errors = append(d.errors, failure{at, text}) })
}

// Led says that the service has a leader again.
func (d *Diary) Led() {
	d.note(time.Now(), func(at time.Duration) { d.led = append(d.led, at) })
}

// Broke says what was done, from when until now; first: a fault began with it.
func (d *Diary) Broke(what string, when time.Time, first bool) {
	d.note(when, func(at time.Duration) {
		b := Break{at, what}
		if first {
			d.faults = append(d.faults, fault{b, time.Since(d.begun)})
		}
		d.breaks = append(d.breaks, b)
	})
}

// Counted says what had crossed the wire by now.
func (d *Diary) Counted(c Counts) {
	d.note(time.Now(), func(at time.Duration) { d.samples = append(d.samples, sample{at, c}) })
}

// Breaks are all that were done, in their order.
func (d *Diary) Breaks() []Break {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := slices.Clone(d.breaks)
	slices.SortStableFunc(all, func(a, b Break) int { return int(a.At - b.At) })
	return all
}

// Recoveries sums up each fault that was begun in a window of that length.
func (d *Diary) Recoveries(window time.Duration) (all []Recovery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	faults := slices.Clone(d.faults)
	slices.SortStableFunc(faults, func(a, b fault) int { return int(a.At - b.At) })
	var explained []gap // by earlier faults
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

// everybody are the moments at which anybody was served.
func (d *Diary) everybody() (all []time.Duration) {
	for _, moments := range d.served {
		all = append(all, moments...)
	}
	slices.Sort(all)
	return all
}

// disconnections returns when a client, or with -1 any client, was notified that its session
// broke, not before since, and when it was connected again.
func (d *Diary) disconnections(client int, since time.Duration) (all []time.Duration) {
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

// connections tells how the clients' sessions fared in a span.
func (d *Diary) connections(from, until time.Duration) (noticed, reconnected *time.Duration, disconnected, lost int) {
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

// counted is what crossed the wire in a span, as far as samples go.
func (d *Diary) counted(from, until time.Duration) Counts {
	var at, begin Counts
	for _, s := range d.samples {
		if s.at <= from {
			begin = s.counts
		}
		if at = s.counts; s.at >= until {
			break
		}
	}
	return at.Sub(begin)
}
