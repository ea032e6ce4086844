package cluster_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// When the disk of a leader hangs the others go on: those of native servers and of etcd elect a leader, those of
// ZooKeeper confirm what the old one proposes. Once it is thawed it has what was written meanwhile. A service is closed
// while a disk hangs, and leaves no file system.
func TestHungDisk(t *testing.T) {
	testenv.SkipIfShort(t)
	if err := disk.Possible(); err != nil {
		t.Skip(err)
	}
	for _, url := range []string{"native:?servers=3&durability=fsync", "etcd:?servers=3", "zookeeper:?servers=3"} {
		t.Run(url, func(t *testing.T) {
			s, tmp := openWith(t, url, backends.Options{OwnDisks: true})
			first := leader(t, s, s.Members()...)
			if !first.CanHangDisk() {
				t.Fatal("it has no file system of its own")
			}
			refused(t, first.ThawDisk(), "thaw member "+first.Name()+": its disk does not hang")
			c := dial(t, at(t, s, balancer.All, newDialer(), first))
			defer c.Close()
			if err := first.HangDisk(t.Context()); err != nil {
				t.Fatal(err)
			}
			waiting, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			go c.Create(waiting, "/waits", nil, 0) // a leader without a write does not notice that its disk hangs
			hangs := " member " + first.Name() + ": its disk hangs, so that no signal reaches it: thaw it first"
			refused(t, first.HangDisk(t.Context()), "hang-disk"+hangs)
			refused(t, first.Kill(), "kill"+hangs)
			refused(t, first.Stop(), "stop"+hangs)
			most := without(s, first)
			if s.Info().Name != "zookeeper" {
				leader(t, most)
			}
			create(t, at(t, s, balancer.All, newDialer(), most.Members()...), "/meanwhile")
			if err := first.ThawDisk(); err != nil {
				t.Fatal(err)
			}
			leader(t, s, s.Members()...)
			if !exists(t, at(t, s, balancer.All, newDialer(), first), "/meanwhile") {
				t.Error("the member does not have what was written while its disk hung")
			}
			if err := first.HangDisk(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			empty(t, tmp)
			if text, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(text), tmp) {
				t.Errorf("%v, or a file system is left:\n%s", err, text)
			}
		})
	}
}
