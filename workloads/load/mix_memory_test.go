package load_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// TestMixKeepsNothingOfItsOperations checks that the memory of a run does not grow with the number
// of operations: a straight line through the heap in use, measured during one run, hardly rises.
// The server runs in this process too, and the interval of each lap is kept on purpose.
func TestMixKeepsNothingOfItsOperations(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		p := runtest.MixPlan(s, workloads.MixSettings{Reads: 0.5, Lists: 0.1, Creates: 0.2, Conditional: true, Keys: 50, Size: 100, Watchers: 2})
		// Writes are kept until the next heartbeat of the least active session, which occurs many
		// times in the window.
		p.Settings.Think, p.Warmup, p.Duration = 5*time.Millisecond, time.Second, time.Minute
		var operations, heap []float64
		p.Progress = func(now workloads.Progress) {
			operations = append(operations, float64(now.Rounds))
			heap = append(heap, inUse())
		}
		if _, err := workloads.Run(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if n := len(operations); n < 200 || operations[n-1] < 58_000 {
			t.Fatalf("looked %d times, last after %.0f operations", n, operations[n-1])
		}
		// The latency of each operation would take eight bytes. The first quarter of the samples
		// fills buffers that stay allocated.
		begun := len(heap) / 4
		if bytes := slope(operations[begun:], heap[begun:]); bytes > 6 {
			t.Errorf("each operation leaves %.1f bytes", bytes)
		}
	})
}

// inUse returns the size of the reachable heap.
func inUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// slope returns the slope of the least-squares line.
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// TestSlope checks that the line rises if every operation leaves memory behind.
func TestSlope(t *testing.T) {
	if s := slope([]float64{0, 10, 20, 30}, []float64{5, 100, 215, 300}); s < 9 || s > 11 {
		t.Errorf("slope %v, want about 10", s)
	}
}
