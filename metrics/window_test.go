package metrics

import (
	"sync"
	"testing"
	"time"
)

// TestNothingIsOvertakenByTheEdges checks that a moment which was found to be in a window is in it after
// the window has closed, and one which was found to be before it or after it is not, however the window's
// opening and closing interleave with the questions.
func TestNothingIsOvertakenByTheEdges(t *testing.T) {
	for range 300 {
		w := NewWindow()
		var asking sync.WaitGroup
		type answer struct {
			at time.Time
			in bool
		}
		answers := make([][]answer, 4)
		stop := make(chan struct{})
		for i := range answers {
			asking.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						at := time.Now()
						answers[i] = append(answers[i], answer{at, w.Contains(at)})
					}
				}
			})
		}
		time.Sleep(20 * time.Microsecond)
		w.OpenNow()
		time.Sleep(50 * time.Microsecond)
		w.CloseNow()
		time.Sleep(20 * time.Microsecond)
		close(stop)
		asking.Wait()
		for _, some := range answers {
			for _, a := range some {
				if a.in != w.Contains(a.at) {
					t.Fatalf("%v was in the window: %v, and is: %v; it is from %v to %v", a.at, a.in, w.Contains(a.at), w.Opens(), w.EndOrNow(time.Now()))
				}
			}
		}
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
