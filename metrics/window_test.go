package metrics

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestNothingIsOvertakenByTheEdges checks that an opening and an end are read from the clock while all who ask wait: one that
// is read before, and stored a moment later, overtakes those who asked in between and were told something else.
func TestNothingIsOvertakenByTheEdges(t *testing.T) {
	w := NewWindow()
	for name, edge := range map[string]*atomic.Int64{"opening": &w.opens, "end": &w.closes} {
		read, waited := int64(0), map[int64]bool{} // whether others waited at each reading
		w.decide(edge, func() int64 {
			read++
			waited[read] = edge.Load() == deciding
			return read
		})
		if stored := edge.Load(); !waited[stored] {
			t.Errorf("the %s is the reading %d of %v, at which nobody waited", name, stored, waited)
		}
	}
}

// Whoever asks while an edge is decided is told what holds afterwards.
func TestQuestionsWaitForTheDecision(t *testing.T) {
	w := NewWindow()
	w.opens.Store(deciding)
	told := make(chan bool)
	go func() { told <- w.Contains(w.origin.Add(2)) }()
	for range 100 {
		runtime.Gosched()
	}
	w.opens.Store(1)
	if !<-told {
		t.Error("the moment after the opening is not in the window")
	}
}

// TestCloseNowKeepsAnEarlierEnd checks that a window that was planned to end keeps its end if that has
// passed, and ends now otherwise.
func TestCloseNowKeepsAnEarlierEnd(t *testing.T) {
	w := NewWindow()
	w.OpenNow()
	opens := w.Opens()
	w.Close(opens.Add(time.Nanosecond))
	w.CloseNow()
	if got := w.Elapsed(time.Now()); got != time.Nanosecond {
		t.Errorf("a window of 1 ns lasted %v", got)
	}
	w = NewWindow()
	w.OpenNow()
	w.Close(w.Opens().Add(time.Hour))
	w.CloseNow()
	if got := w.Elapsed(time.Now()); got > time.Minute || w.ClosesAfter(time.Now()) {
		t.Errorf("it lasted %v", got)
	}
}
