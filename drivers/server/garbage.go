package server

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Garbage may grow to a quarter of the live heap, or to garbageRoom bytes if that is more.
const (
	garbageQuarter = 25 // percent
	garbageRoom    = 64 << 20
)

// BoundGarbage limits the garbage of a server's process, so that it takes little more memory than
// its nodes, unless GOGC is set. Go's default lets garbage grow to the size of the live heap. That
// is much memory with a large tree; with a small tree it is so little that a busy server collects
// all the time.
func BoundGarbage() {
	if os.Getenv("GOGC") == "" {
		boundGarbage()
	}
}

// boundGarbage sets the GC percentage from the live heap of the last collection, now and after each
// later collection: the cleanup of an unreachable object calls it again.
func boundGarbage() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(garbagePercent(live[0].Value.Uint64()))
	unused := new(*byte) // a pointer type: the tiny allocator's neighbours can keep other small objects alive
	runtime.AddCleanup(unused, func(struct{}) { boundGarbage() }, struct{}{})
}

// minHeap is the least live heap that Go assumes.
const minHeap = 4 << 20

func garbagePercent(live uint64) int {
	return max(garbageQuarter, int(garbageRoom*100/max(live, minHeap)))
}
