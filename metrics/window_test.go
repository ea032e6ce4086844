package metrics

import (
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// overtaken opens and closes windows while four others ask whether moments are in them, and returns how
// many were told something else than what holds in the end.
func overtaken(open, end func(*Window)) (wrong int) {
	for range 100 {
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
		open(w)
		time.Sleep(50 * time.Microsecond)
		end(w)
		time.Sleep(20 * time.Microsecond)
		close(stop)
		asking.Wait()
		for _, some := range answers {
			for _, a := range some {
				if a.in != w.Contains(a.at) {
					wrong++
				}
			}
		}
	}
	return wrong
}

// TestNothingIsOvertakenByTheEdges checks that a moment which was found to be in a window is in it after
// the window has closed, and one which was found to be before it or after it is not, however the window's
// opening and closing interleave with the questions. An edge that is read from the clock, and stored a
// moment later, is found.
func TestNothingIsOvertakenByTheEdges(t *testing.T) {
	testenv.SkipIfShort(t)
	if n := overtaken((*Window).OpenNow, (*Window).CloseNow); n > 0 {
		t.Errorf("%d moments were overtaken", n)
	}
	late := func(store func(*Window, time.Time)) func(*Window) {
		return func(w *Window) {
			now := time.Now()
			time.Sleep(20 * time.Microsecond)
			store(w, now)
		}
	}
	if overtaken((*Window).OpenNow, late((*Window).Close)) == 0 {
		t.Error("an end that is stored late overtakes nothing")
	}
	if overtaken(late((*Window).Open), (*Window).CloseNow) == 0 {
		t.Error("an opening that is stored late overtakes nothing")
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
