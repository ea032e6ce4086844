package server

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// These inputs end the connection that sent them and affect no other.
func TestBadPacketsEndOnlyTheirConnection(t *testing.T) {
	for _, c := range []struct{ name, bytes string }{
		{"no header", "\x00\x00\x00\x00"},
		{"half a header", "\x00\x00\x00\x04\x00\x00\x00\x01"},
		{"negative length", "\xff\xff\xff\xfe"},
		{"too long", "\x00\x10\x00\x00"},
		{"far too long", "\x7f\xff\xff\xff"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			bystander, bad, stranger := openRaw(t, s), openRaw(t, s), dialRaw(t, s)
			bad.write([]byte(c.bytes))
			bad.wantEnd()
			stranger.write([]byte(c.bytes))
			stranger.wantEnd()
			bystander.wantReply(bystander.ask(1, wire.OpExists, wire.PathWatch{Path: "/"}), 1, wire.OK)
		})
	}
}

// These requests get an error, and the connection continues.
func TestBadRequestsAreAnswered(t *testing.T) {
	r := openRaw(t, newServer(t))
	for i, c := range []struct {
		op   int32
		body record
		want wire.Err
	}{
		{wire.OpReconfig, wire.ReconfigRequest{}, wire.ErrReconfigDisabled},
		{wire.OpReconfig, nil, wire.ErrMarshalling},
		{wire.OpSASL, nil, wire.ErrUnimplemented},
		{wire.OpDeleteContainer, wire.Path{Path: "/a"}, wire.ErrBadArguments},
		{wire.OpAddWatch, wire.Path{Path: "/"}, wire.ErrMarshalling},
		{wire.OpAddWatch, wire.AddWatchRequest{Path: "/", Mode: 2}, wire.ErrMarshalling},
		{wire.OpRemoveWatches, wire.PathWatcher{Path: "/", Type: 6}, wire.ErrMarshalling},
		{wire.OpRemoveWatches, wire.PathWatcher{Path: "/", Type: wire.WatcherAny}, wire.ErrNoWatcher},
		{wire.OpMultiRead, wire.MultiHeader{Type: wire.OpGetData, Err: -1}, wire.ErrMarshalling},
		{wire.OpMultiRead, wire.MultiHeader{Type: wire.OpDelete, Err: -1}, wire.ErrMarshalling},
		{wire.OpGetEphemerals, nil, wire.ErrMarshalling},
		{wire.OpAllChildrenNum, wire.Path{Path: "/a"}, wire.ErrNoNode},
		{wire.OpGetData, nil, wire.ErrMarshalling},
		{wire.OpCreate, wire.Path{Path: "/a"}, wire.ErrMarshalling},
		{wire.OpMulti, wire.MultiHeader{Type: wire.OpCreate, Err: -1}, wire.ErrMarshalling},
		{wire.OpMulti, wire.MultiHeader{Type: wire.OpGetData, Err: -1}, wire.ErrMarshalling},
		{wire.OpMulti, wire.MultiHeader{Type: wire.OpCreateTTL, Err: -1}, wire.ErrMarshalling},
		{wire.OpSetWatches, wire.Path{Path: "/"}, wire.ErrMarshalling},
		{wire.OpExists, wire.PathWatch{Path: "/\x00"}, wire.ErrBadArguments},
		{wire.OpCreate, wire.CreateRequest{Path: "/a"}, wire.ErrInvalidACL},
		{wire.OpCreate, open("/a", wire.FlagTTL), wire.ErrBadArguments},
		{wire.OpCreateTTL, wire.CreateTTLRequest{CreateRequest: open("/a", 0), TTL: 1}, wire.ErrBadArguments},
		{wire.OpCreateTTL, wire.CreateTTLRequest{CreateRequest: open("/a", wire.FlagTTL)}, wire.ErrBadArguments},
		{wire.OpCreate, open("/a", 7), wire.ErrBadArguments},
		{wire.OpCreate, open("relative", 0), wire.ErrBadArguments},
		{wire.OpSetACL, wire.SetACLRequest{Path: "/"}, wire.ErrInvalidACL},
	} {
		xid := int32(i + 1)
		p := r.ask(xid, c.op, c.body)
		r.wantReply(p, xid, c.want)
		if n := len(p.body.Rest()); n != 0 {
			t.Errorf("request %+v: %d bytes behind the header of an error", c, n)
		}
	}
	r.wantReply(r.ask(99, wire.OpExists, wire.PathWatch{Path: "/a"}), 99, wire.ErrNoNode)
}

// These requests get an error and the connection is closed, as ZooKeeper does.
func TestRequestsThatEndTheConnection(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		op   int32
		body record
		want wire.Err
	}{
		{9999, nil, wire.ErrUnimplemented},
		{-7, nil, wire.ErrUnimplemented},
		{wire.OpAuth, wire.AuthRequest{Scheme: "secret handshake"}, wire.ErrAuthFailed},
	} {
		r := openRaw(t, s)
		r.wantReply(r.ask(5, c.op, c.body), 5, c.want)
		r.wantEnd()
	}
	r := openRaw(t, s)
	r.write(request(5, wire.OpAuth, nil))
	r.wantEnd()
}

// A client that sends requests and does not read replies has to wait; other clients do not.
func TestSlowReaderBlocksNobody(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		slow, other := openRaw(t, s), openRaw(t, s)
		set := wire.SetDataRequest{Path: "/", Data: make([]byte, 500_000), Version: -1}
		other.wantReply(other.ask(1, wire.OpSetData, set), 1, wire.OK)
		const reads = 20
		go func() {
			for i := range int32(reads) {
				slow.Write(request(i, wire.OpGetData, wire.PathWatch{Path: "/"}))
			}
		}()
		synctest.Wait()
		other.wantReply(other.ask(2, wire.OpExists, wire.PathWatch{Path: "/"}), 2, wire.OK)
		for i := range int32(reads) {
			slow.wantReply(slow.read(), i, wire.OK)
		}
	})
}

// A connection on which the client sends nothing is closed.
func TestSilentConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		began := time.Now()
		r := dialRaw(t, newServer(t))
		r.wantEnd()
		if took := time.Since(began); took != handshakeTime {
			t.Errorf("after %v, want %v", took, handshakeTime)
		}
	})
}
