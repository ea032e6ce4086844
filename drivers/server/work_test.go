package server

import (
	"bytes"
	"fmt"
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Expensive pipelined requests are served in several batches, and others can take the lock between
// them. A batch ends with the request that reaches the work limit.
func TestWorkOfABatchIsBounded(t *testing.T) {
	const size, requests = 1000, 30
	s := newServer(t)
	c := servedByHand(t, s)
	s.mu.Lock()
	for i := range size {
		create := tree.Op{Kind: tree.Create, Path: fmt.Sprint("/", i), Mode: tree.Ephemeral, ACL: []wire.ACL{wire.OpenACL()}}
		s.apply(c.txn(create, s.start))
		watcher := &tree.Watcher{Notify: func(tree.Event, int64) {}}
		s.watches.Arm(watcher, tree.DataWatch, "/zookeeper", tree.Persistent)
	}
	s.mu.Unlock()
	for _, x := range []struct {
		name string
		op   int32
		body record
		most int // maximum requests per batch
	}{
		{"children", wire.OpGetChildren, wire.PathWatch{Path: "/"}, workPerHold/size + 1},
		{"children read by a multi", wire.OpMultiRead, readsOf("/"), workPerHold/size + 1},
		{"ephemerals, none of which match", wire.OpGetEphemerals, wire.Path{Path: "/none"}, workPerHold/size + 1},
		{"writes that fire watches", wire.OpSetData, wire.SetDataRequest{Path: "/zookeeper", Version: -1}, workPerHold/size + 1},
		{"number of descendants, which takes no search", wire.OpAllChildrenNum, wire.Path{Path: "/"}, requests},
	} {
		t.Run(x.name, func(t *testing.T) {
			var sent []byte
			for xid := range int32(requests) {
				sent = append(sent, request(xid, x.op, x.body)...)
			}
			c.in = wire.NewFrames(bytes.NewReader(sent), wire.MaxPacket, len(sent))
			c.in.Head() // the buffer grows until all requests have arrived
			for served := 0; served < requests; {
				before := c.traffic.Received
				if !c.serveBatch() {
					t.Fatal("the connection has ended")
				}
				n := int(c.traffic.Received - before)
				if n > x.most {
					t.Errorf("%d requests in one batch, want at most %d", n, x.most)
				}
				served += n
			}
		})
	}
}

// servedByHand returns a connection with a session; the test serves its batches.
func servedByHand(t *testing.T, s *Server) *conn {
	client, served := net.Pipe()
	t.Cleanup(func() {
		client.Close()
		served.Close()
	})
	c := newConn(s, served, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.openSession(c, s.tick)
	return c
}

func readsOf(path string) raws {
	b := wire.MultiHeader{Type: wire.OpGetChildren, Err: -1}.Append(nil)
	return wire.MultiEnd().Append(wire.PathWatch{Path: path}.Append(b))
}
