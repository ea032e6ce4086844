package native

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much garbage may gather: a quarter of what is in use, or garbageRoom bytes
// if that is more.
const (
	garbageQuarter = 25 // percent
	garbageRoom    = 64 << 20
)

// BoundGarbage makes the process of a server take little more memory than the
// server's nodes do, unless GOGC says otherwise. Go lets as much garbage gather
// as there is in use, which is much for a large tree; and with a small one that
// is soon, so a busy server would collect all the time.
func BoundGarbage() {
	if os.Getenv("GOGC") == "" {
		boundGarbage()
	}
}

// boundGarbage goes by what the last collection found in use, now and after each
// that is to come: then what nothing refers to is cleaned up.
func boundGarbage() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(garbagePercent(live[0].Value.Uint64()))
	unused := new(*byte) // a pointer, as other small objects may be kept by their neighbours
	runtime.AddCleanup(unused, func(struct{}) { boundGarbage() }, struct{}{})
}

// minHeap is what Go takes to be in use where less is.
const minHeap = 4 << 20

func garbagePercent(live uint64) int {
	return max(garbageQuarter, int(garbageRoom*100/max(live, minHeap)))
}
