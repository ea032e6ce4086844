package metrics

import (
	"reflect"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic/owner"
	"github.com/stampede-bench/stampede/internal/bubble"
)

func TestLatency(t *testing.T) {
	l := NewLatency("acquire")
	l.Record(time.Millisecond, 2*time.Millisecond)
	l.Record(time.Millisecond, 100*time.Hour) // beyond the range of the histogram
	p := l.Phase()
	if p.Name != "acquire" || p.Service.TotalCount() != 2 || p.Response.TotalCount() != 2 {
		t.Errorf("%s: %d service and %d response times, not 2 and 2 of acquire", p.Name, p.Service.TotalCount(), p.Response.TotalCount())
	}
	if got := p.Service.Max(); !p.Service.ValuesAreEquivalent(got, int64(time.Millisecond)) {
		t.Errorf("longest service time %v, not 1ms", time.Duration(got))
	}
	if got := p.Response.Max(); !p.Response.ValuesAreEquivalent(got, int64(time.Hour)) {
		t.Errorf("longest response time %v, not cut to 1h", time.Duration(got))
	}
	l.Record(time.Second, time.Second)
	if p.Service.TotalCount() != 2 {
		t.Error("a phase that was handed out changes with later records")
	}
}

func TestLap(t *testing.T) {
	l := NewLatency("acquire")
	if lap := l.Lap(); lap.Phase != "acquire" || lap.Count != 0 || lap.P50 != 0 || lap.Times.TotalCount() != 0 {
		t.Errorf("an empty lap has %+v", lap)
	}
	for range 999 {
		l.Record(0, time.Millisecond)
	}
	l.Record(0, time.Second)
	lap := l.Lap()
	if h := l.Phase().Response; !h.ValuesAreEquivalent(int64(lap.P50), int64(time.Millisecond)) || lap.P99 != lap.P50 || lap.Count != 1000 {
		t.Errorf("lap %+v, not twice 1ms of 1000", lap)
	}
	if lap := l.Lap(); lap.P50 != 0 || lap.Count != 0 {
		t.Errorf("the next lap begins with %+v", lap)
	}
}

func TestJain(t *testing.T) {
	for want, shares := range map[float64][]int64{
		1: {7, 7, 7, 7}, 0.25: {9, 0, 0, 0}, 0.9: {1, 2},
	} {
		if got := Jain(shares); got != want {
			t.Errorf("Jain(%v) is %v, not %v", shares, got, want)
		}
	}
	if got := Jain([]int64{0, 0}); got != 1 {
		t.Errorf("no client got anything: %v, not 1", got)
	}
}

func TestQueue(t *testing.T) {
	began := time.Now()
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	w := NewWindow()
	w.Open(at(0))
	q := NewQueue(4, w)
	for client := range 3 {
		q.Asked(client, at(client), false)
	}
	q.Granted(0, at(3))
	q.Granted(2, at(3)) // overtakes client 1
	q.Asked(3, at(3), false)
	q.GaveUp(1, at(5)) // after 4 s
	q.Granted(3, at(5))
	if got, want := q.Fairness(at(5)), (Fairness{Served: []int64{1, 0, 1, 1}, Inversions: 1, LongestWait: 4 * time.Second}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, not %+v", got, want)
	}
}

// Grants before and after the window do not count. A client that waits when the window closes has waited
// until then.
func TestQueueOutsideTheWindow(t *testing.T) {
	began := time.Now()
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	w := NewWindow()
	q := NewQueue(2, w)
	q.Asked(0, at(0), false)
	q.Asked(1, at(0), false)
	q.Granted(1, at(0))
	w.Open(at(5))
	if got, want := q.Fairness(at(9)), (Fairness{Served: make([]int64, 2), LongestWait: 9 * time.Second}); !reflect.DeepEqual(got, want) {
		t.Errorf("while one still waits: %+v, not %+v", got, want)
	}
	w.Close(at(9))
	q.Granted(0, at(69))
	q.Asked(1, at(69), false)
	if got, want := q.Fairness(at(129)), (Fairness{Served: make([]int64, 2), LongestWait: 9 * time.Second}); !reflect.DeepEqual(got, want) {
		t.Errorf("after the window: %+v, not %+v", got, want)
	}
}

// A client that shares does not overtake other clients that share, and they do not overtake it.
func TestQueueOfSharingClients(t *testing.T) {
	w := NewWindow()
	w.Open(time.Now())
	q := NewQueue(5, w)
	for client := range 5 {
		q.Asked(client, time.Now(), client != 3)
	}
	for i, client := range []int{2, 0, 4, 3, 1} { // 4 overtakes 3, and 3 overtakes 1
		q.Granted(client, time.Now())
		if got, want := q.Fairness(time.Now()).Inversions, int64(max(0, min(i-1, 2))); got != want {
			t.Errorf("after the grant to client %d: %d inversions, not %d", client, got, want)
		}
	}
}

// Under synctest's clock no timer is late, and every due time is sampled.
func TestSamplerSamplesEveryDueTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := StartSampler(owner.Service{})
		time.Sleep(10*lagEvery + lagEvery/2)
		g := s.Stop()
		if g.Lag.TotalCount() != 10 || g.Lag.Max() != 0 {
			t.Errorf("%d samples up to %v, not 10 of 0", g.Lag.TotalCount(), time.Duration(g.Lag.Max()))
		}
	})
}

// TestSamplerSeesWork burns processor time until the sampler has to see it.
func TestSamplerSeesWork(t *testing.T) {
	s := StartSampler(owner.Service{})
	for used := cpuTime(); cpuTime() == used; {
	}
	if g := s.Stop(); g.CPUCores <= 0 {
		t.Errorf("%v cores used", g.CPUCores)
	}
}

// Response times equal service times until one differs, and laps continue across that change.
func TestResponseTimesThatDifferLater(t *testing.T) {
	l := NewLatency("read")
	for range 2000 {
		l.Record(time.Millisecond, time.Millisecond)
	}
	l.Lap()
	for range 1000 {
		l.Record(time.Millisecond, time.Second)
	}
	lap, p := l.Lap(), l.Phase()
	if lap.Count != 1000 || !p.Response.ValuesAreEquivalent(int64(lap.P50), int64(time.Second)) {
		t.Errorf("lap %+v, want 1000 of 1s", lap)
	}
	if p.Service.TotalCount() != 3000 || p.Response.TotalCount() != 3000 {
		t.Errorf("%d service and %d response times, want 3000 of each", p.Service.TotalCount(), p.Response.TotalCount())
	}
	if got := p.Response.ValueAtQuantile(50); !p.Response.ValuesAreEquivalent(got, int64(time.Millisecond)) || p.Service.Max() > int64(2*time.Millisecond) {
		t.Errorf("response times with the median %v, service times up to %v", time.Duration(got), time.Duration(p.Service.Max()))
	}
}
