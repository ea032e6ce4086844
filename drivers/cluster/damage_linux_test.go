package cluster_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/balancer"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A member whose disk is full acknowledges no write and ends, whether it leads or follows, and the others go on. After a
// restart it has everything.
func TestFullDiskOfOneMember(t *testing.T) {
	testenv.SkipIfShort(t)
	// The errors with which they end. etcd would write it to its log, which is not kept.
	for url, words := range map[string]string{"native:?servers=3": "raft log: write", "etcd:?servers=3&durability=no-fsync": "exit status 1"} {
		t.Run(url, func(t *testing.T) {
			s, tmp := open(t, url)
			create(t, s, "/before")
			first := leader(t, s, s.Members()...)
			for _, m := range []drivers.Member{first, without(s, first).Members()[0]} {
				fill(t, m)
				create(t, at(t, s, balancer.All, newDialer(), without(s, m).Members()...), "/during-"+m.Name())
				ended(t, m, words)
				refused(t, m.Stop(), "stop member "+m.Name()+": it has ended by itself")
				refused(t, m.FillDisk(), "fill-disk member "+m.Name()+": it has ended by itself")
				if err := m.Kill(); err != nil {
					t.Fatal(err)
				}
				refused(t, m.FillDisk(), "fill-disk member "+m.Name()+": it has been killed")
				if err := m.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				leader(t, s, s.Members()...)
				only := at(t, s, balancer.All, newDialer(), m)
				if !synced(t, only, "/before") || !synced(t, only, "/during-"+m.Name()) {
					t.Errorf("member %s lacks something after the restart", m.Name())
				}
			}
			fill(t, first)
			if err := s.Close(); err != nil {
				t.Errorf("close with a full disk: %v", err)
			}
			empty(t, tmp)
		})
	}
}

// fill fills the disk of a member.
func fill(t *testing.T, m drivers.Member) {
	t.Helper()
	if err := m.FillDisk(); err != nil {
		t.Fatal(err)
	}
	refused(t, m.FillDisk(), "fill-disk member "+m.Name()+": it is full already")
}

// A member whose log is damaged refuses to start, with the name of the file and without a change to it, and the
// others go on.
func TestDamagedLogOfOneMember(t *testing.T) {
	testenv.SkipIfShort(t)
	s, tmp := open(t, "native:?servers=3")
	for _, path := range []string{"/a", "/b", "/c"} {
		create(t, s, path)
	}
	m := leader(t, s, s.Members()...)
	if err := m.Kill(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(tmp, "*", m.Name(), "log-*"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v, %v, want one log", logs, err)
	}
	good, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	bad := slices.Clone(good)
	bad[len(bad)/2] ^= 0x40
	if err := os.WriteFile(logs[0], bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Restart(t.Context()); err == nil || !strings.Contains(err.Error(), logs[0]+": damaged at byte ") {
		t.Errorf("it started on a damaged log: %v", err)
	}
	if got, err := os.ReadFile(logs[0]); err != nil || !slices.Equal(got, bad) {
		t.Errorf("the damaged log was changed: %v", err)
	}
	create(t, at(t, s, balancer.All, newDialer(), leader(t, without(s, m))), "/without-it")
	if err := os.WriteFile(logs[0], good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	leader(t, s, s.Members()...)
	if !synced(t, at(t, s, balancer.All, newDialer(), m), "/without-it") {
		t.Error("it lacks what was written without it")
	}
}

// synced reports whether the node exists after a sync.
func synced(t *testing.T, s drivers.Service, path string) bool {
	t.Helper()
	c := drivers.Steady(dial(t, s))
	defer c.Close()
	if err := c.Sync(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	_, found, err := c.Exists(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// FillDisk refuses a server without a disk, or one that does not survive a full disk, and does not
// change it.
func TestNoFullDisk(t *testing.T) {
	for _, url := range []string{"native:", "zookeeper:"} {
		t.Run(url, func(t *testing.T) {
			s, _ := open(t, url)
			m := s.Members()[0]
			refused(t, m.FillDisk(), "fill-disk member 1: unsupported operation")
			if m.CanFillDisk() {
				t.Error("its disk can be filled, it says")
			}
			create(t, s, "/served")
		})
	}
}

// ended waits until the member has ended by itself with the given error text.
func ended(t *testing.T, m drivers.Member, words string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := cluster.End(ctx, m); err == nil || !strings.Contains(err.Error(), words) {
		t.Fatalf("it ended with %v, want something of %q", err, words)
	}
}
