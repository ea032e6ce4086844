package cluster_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// fullDisks maps the servers that survive a full disk to the error with which they end. etcd would
// write it to its log, which is not kept.
var fullDisks = map[string]string{
	"native:?durability=fsync":  "journal: write",
	"etcd:?durability=no-fsync": "exit status 1",
}

// A server whose disk is full acknowledges no write and ends. After a restart it has all
// acknowledged writes and no others.
func TestFullDisk(t *testing.T) {
	testenv.SkipIfShort(t)
	for url, words := range fullDisks {
		t.Run(url, func(t *testing.T) {
			s, tmp := open(t, url)
			create(t, s, "/answered")
			m := s.Members()[0]
			c := dial(t, s)
			defer c.Close()
			if err := m.FillDisk(); err != nil {
				t.Fatal(err)
			}
			if s.Info().Name == "native" { // etcd's periodic compaction is a write, which ends it
				stillRead(t, c, "/answered")
			}
			unanswered(t, c, "/unanswered", func() { ended(t, m, words) })
			refused(t, m.Stop(), "stop member 1: it has ended by itself")
			refused(t, m.FillDisk(), "fill-disk member 1: it has ended by itself")
			if err := m.Kill(); err != nil {
				t.Fatal(err)
			}
			refused(t, m.FillDisk(), "fill-disk member 1: it has been killed")
			if err := m.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			leads(t, m)
			if !exists(t, s, "/answered") || exists(t, s, "/unanswered") {
				t.Error("after the restart something answered is missing, or something else is there")
			}
			create(t, s, "/afterwards")
			fillAgain(t, m)
			if err := s.Close(); err != nil {
				t.Errorf("close with a full disk: %v", err)
			}
			empty(t, tmp)
		})
	}
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

// stillRead reads data that is in memory.
func stillRead(t *testing.T, c drivers.Conn, path string) {
	t.Helper()
	if _, found, err := c.Exists(t.Context(), path, nil); !found || err != nil {
		t.Errorf("read on a full disk: %t, %v, want what is in memory", found, err)
	}
}

// unanswered sends a write that no server can acknowledge, and cancels it when the server has
// ended.
func unanswered(t *testing.T, c drivers.Conn, path string, ended func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := c.Create(ctx, path, nil, 0)
		answered <- err
	}()
	ended()
	cancel()
	if err := <-answered; err == nil {
		t.Error("a write to a full disk was acknowledged")
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

func fillAgain(t *testing.T, m drivers.Member) {
	t.Helper()
	if err := m.FillDisk(); err != nil {
		t.Fatal(err)
	}
	refused(t, m.FillDisk(), "fill-disk member 1: it is full already")
}
