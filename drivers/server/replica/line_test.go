package replica

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// TestWritesWaitForAReadThatWaits lets the lease of a session run out, as far as its member knows. A read waits for
// another confirmation then, and a write behind it is proposed only when that read is answered: its result
// could be older than the write otherwise.
func TestWritesWaitForAReadThatWaits(t *testing.T) {
	_, wrong := simulateWith(8, func(w *world) {
		w.run(2 * time.Second)
		var c *simClient
		for _, x := range w.clients {
			if x.ready && x.conn.line.Ready() {
				c = x
			}
		}
		if c == nil {
			w.fail("no client at rest")
		}
		line, m := c.conn.line, c.conn.node.m
		var order []string
		queued := len(m.proposals.queue)
		line.until = 0
		line.Read(func() { order = append(order, "read") })
		x := tree.Txn{Session: c.session, Op: tree.Op{Kind: tree.SetData, Path: "/", Version: -1}}
		line.Write(x, func(*Applied) { order = append(order, "write") })
		if len(order) > 0 || len(m.proposals.queue) != queued {
			w.fail("%v are done and %d writes proposed, want nothing before the confirmation", order, len(m.proposals.queue)-queued)
		}
		c.conn.node.pump()
		w.run(time.Second)
		if want := []string{"read", "write"}; !slices.Equal(order, want) {
			w.fail("the answers come as %v, want %v", order, want)
		}
	})
	if wrong != nil {
		t.Error(wrong)
	}
}
