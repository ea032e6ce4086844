package tree

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// BenchmarkMillionNodes measures the cost of a node with 100 bytes of data: its memory after a
// garbage collection and the time to create it. It creates a million nodes below one parent, and a
// thousand below each of a thousand parents.
func BenchmarkMillionNodes(b *testing.B) {
	for _, parents := range []int{1, 1000} {
		b.Run(fmt.Sprintf("parents=%d", parents), func(b *testing.B) {
			const nodes = 1_000_000
			for b.Loop() {
				b.StopTimer()
				before := live()
				b.StartTimer()
				t := filled(parents, nodes/parents)
				b.StopTimer()
				b.ReportMetric(float64(live()-before)/nodes, "B/node")
				runtime.KeepAlive(t)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
		})
	}
}

// filled returns a tree whose nodes own their data, as in a server.
func filled(parents, children int) *Tree {
	t := New()
	var path []byte
	for p := range parents {
		path = fmt.Appendf(path[:0], "/data-%04d", p)
		t.mustCreate(string(path))
		for c := range children {
			path = fmt.Appendf(path[:len("/data-0000")], "/node-%010d", c)
			t.mustCreate(string(path))
		}
	}
	return t
}

func (t *Tree) mustCreate(path string) {
	r, _ := t.Apply(Txn{Time: 1, Op: Op{Kind: Create, Path: path, Data: make([]byte, 100), ACL: everyone}})
	if r.Err != wire.OK {
		panic(fmt.Sprintf("create %s: error %d", path, r.Err))
	}
}

// live returns the number of bytes in use on the heap.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
