package metrics

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// A Window is the measured part of a run. Everything that measures the run shares it. Whether work belongs
// to it follows from the work's own time, not from the time at which the work is recorded: in an open loop
// from when its arrival was due, in a closed loop from when its turn ended.
//
// A new Window is not open. It contains the moments from its opening until before its end. Its methods may
// be called from any goroutine.
type Window struct {
	origin        time.Time
	opens, closes atomic.Int64 // nanoseconds since origin
}

const (
	// never is a moment that no run reaches.
	never = math.MaxInt64
	// deciding stands for the present while it is being read.
	deciding = never - 1
)

// NewWindow returns a window that has no opening and no end yet.
func NewWindow() *Window {
	w := &Window{origin: time.Now()}
	w.opens.Store(never)
	w.closes.Store(never)
	return w
}

// Open opens the window at the given time, which must not be before the present, so that nothing that has
// been decided by then changes.
func (w *Window) Open(at time.Time) { w.opens.Store(int64(at.Sub(w.origin))) }

// OpenNow opens the window in the present. A moment that was found to be before the opening is before it.
func (w *Window) OpenNow() { w.decide(&w.opens, w.now) }

// CloseNow ends the window in the present, unless it has ended. A moment that was found to be in the window
// is in it: whoever reads the clock and then asks is not overtaken by an end that was read before and is
// stored later.
func (w *Window) CloseNow() { w.decide(&w.closes, w.now) }

// now returns the time since the origin in nanoseconds.
func (w *Window) now() int64 { return int64(time.Since(w.origin)) }

// decide lets others wait, and then reads the clock, unless the moment has passed.
func (w *Window) decide(at *atomic.Int64, now func() int64) {
	for {
		planned := moment(at)
		if planned <= now() {
			return
		}
		if at.CompareAndSwap(planned, deciding) {
			at.Store(min(planned, now()))
			return
		}
	}
}

// moment returns an opening or an end, after it has been decided if that is in progress.
func moment(at *atomic.Int64) int64 {
	for {
		if m := at.Load(); m != deciding {
			return m
		}
		runtime.Gosched()
	}
}

// Close ends the window before the given time, unless it ends earlier.
func (w *Window) Close(at time.Time) {
	end := int64(at.Sub(w.origin))
	for {
		old := moment(&w.closes)
		if end >= old || w.closes.CompareAndSwap(old, end) {
			return
		}
	}
}

// Contains reports whether the moment lies in the window, as far as the window is decided.
func (w *Window) Contains(at time.Time) bool {
	since := int64(at.Sub(w.origin))
	return since >= moment(&w.opens) && since < moment(&w.closes)
}

// IsOpen reports whether the opening of the window is decided.
func (w *Window) IsOpen() bool { return moment(&w.opens) != never }

// Opens returns when the window opens. That must be decided.
func (w *Window) Opens() time.Time { return w.origin.Add(time.Duration(moment(&w.opens))) }

// Opened returns how much of the time between two moments lies after the opening of the window.
func (w *Window) Opened(from, to time.Time) time.Duration {
	since, opens := int64(from.Sub(w.origin)), moment(&w.opens)
	if opens == never {
		return 0
	}
	return time.Duration(max(int64(to.Sub(w.origin))-max(since, opens), 0))
}

// ClosesAfter reports whether the window ends after the moment, or its end is not decided.
func (w *Window) ClosesAfter(at time.Time) bool { return int64(at.Sub(w.origin)) < moment(&w.closes) }

// EndOrNow returns the end of the window, or now if that is earlier.
func (w *Window) EndOrNow(now time.Time) time.Time {
	if w.ClosesAfter(now) {
		return now
	}
	return w.origin.Add(time.Duration(moment(&w.closes)))
}

// Elapsed returns how much of the window lies before now. It is its whole duration after its end, and 0
// before its opening.
func (w *Window) Elapsed(now time.Time) time.Duration {
	if !w.IsOpen() {
		return 0
	}
	return max(w.EndOrNow(now).Sub(w.Opens()), 0)
}
