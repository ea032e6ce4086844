package server

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestGarbageIsAQuarterOrSixtyFourMiB(t *testing.T) {
	for _, c := range []struct {
		live uint64 // MiB
		want int    // percent
	}{
		{0, 1600}, {4, 1600}, {16, 400}, {128, 50}, {256, 25}, {10_000, 25},
	} {
		if got := garbagePercent(c.live << 20); got != c.want {
			t.Errorf("with %d MiB in use: %d %%, want %d %%", c.live, got, c.want)
		}
	}
}

// Every collection sets the percentage again.
func TestGarbageIsBoundAfterEachCollection(t *testing.T) {
	boundGarbage()
	for i := range 3 {
		const others = 777
		debug.SetGCPercent(others)
		for tries := 0; percentNow() == others; tries++ {
			if tries == 1000 {
				t.Fatalf("round %d: nothing was decided in 1000 collections", i)
			}
			runtime.GC()
		}
	}
}

func percentNow() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
