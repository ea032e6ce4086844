package metrics

import (
	"math"
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

// never is a moment that no run reaches.
const never = math.MaxInt64

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

// Close ends the window before the given time, unless it ends earlier.
func (w *Window) Close(at time.Time) {
	end := int64(at.Sub(w.origin))
	for {
		old := w.closes.Load()
		if end >= old || w.closes.CompareAndSwap(old, end) {
			return
		}
	}
}

// Contains reports whether the moment lies in the window, as far as the window is decided.
func (w *Window) Contains(at time.Time) bool {
	since := int64(at.Sub(w.origin))
	return since >= w.opens.Load() && since < w.closes.Load()
}

// IsOpen reports whether the opening of the window is decided.
func (w *Window) IsOpen() bool { return w.opens.Load() != never }

// Opens returns when the window opens. That must be decided.
func (w *Window) Opens() time.Time { return w.origin.Add(time.Duration(w.opens.Load())) }

// ClosesAfter reports whether the window ends after the moment, or its end is not decided.
func (w *Window) ClosesAfter(at time.Time) bool { return int64(at.Sub(w.origin)) < w.closes.Load() }

// EndOrNow returns the end of the window, or now if that is earlier.
func (w *Window) EndOrNow(now time.Time) time.Time {
	if w.ClosesAfter(now) {
		return now
	}
	return w.origin.Add(time.Duration(w.closes.Load()))
}

// Elapsed returns how much of the window lies before now. It is its whole duration after its end, and 0
// before its opening.
func (w *Window) Elapsed(now time.Time) time.Duration {
	if !w.IsOpen() {
		return 0
	}
	return max(w.EndOrNow(now).Sub(w.Opens()), 0)
}
