package raftlog

import (
	"fmt"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
)

// BenchmarkAppend appends entries of 1 KB, some at a time, with and without the syncs.
func BenchmarkAppend(b *testing.B) {
	for name, disk := range map[string]logfile.Disk{"synced": logfile.System{}, "unsynced": disktest.Unsynced{}} {
		for _, atOnce := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/%d", name, atOnce), func(b *testing.B) {
				l, err := OpenOn(disk, b.TempDir(), one())
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
				data := make([]byte, 1024)
				b.SetBytes(int64(atOnce * len(data)))
				b.ReportAllocs()
				for n := uint64(0); b.Loop(); n += uint64(atOnce) {
					var entries []*pb.Entry
					for i := range uint64(atOnce) {
						entries = append(entries, entry(n+i+1, 1, data))
					}
					if err := l.Append(hard(1, 1, n), entries, true); err != nil {
						b.Fatal(err)
					}
					if n > 100_000 { // so that memory does not grow with the time
						b.StopTimer()
						if l.SaveSnapshot(n, sectionsOf(nil)) != nil || l.Compact(n) != nil {
							b.Fatal(l.Err())
						}
						b.StartTimer()
					}
				}
			})
		}
	}
}
