package zookeeper

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

func newLink(conn net.Conn, position, told int64, unarmed map[string]wire.WatchKind) *link {
	at := new(atomic.Int64)
	at.Store(position)
	r := new(rearm)
	r.told.Store(told)
	return &link{Tap: wire.NewTap(conn, probeFunc(ignore), nil), position: at, rearm: r, unarmed: unarmed}
}

// asked returns a packet with the given opcode and 16 bytes after its header.
func asked(op int32, first uint64) []byte {
	b := wire.RequestHeader{Xid: op, Op: op}.Append(wire.Begin(nil))
	b = append(binary.BigEndian.AppendUint64(b, first), "12345678"...)
	wire.End(b, 0)
	return b
}

// arms returns a packet that arms watches from a position.
func arms(position int64, paths ...string) []byte {
	b := wire.RequestHeader{Xid: wire.OpSetWatches, Op: wire.OpSetWatches}.Append(wire.Begin(nil))
	b = wire.SetWatchesRequest{RelativeZxid: position, Data: paths[:1], Exist: paths[1:]}.Append(b)
	wire.End(b, 0)
	return b
}

// All packets that arm watches come before every call. They carry the position up to which the
// session was notified of changes, which may be older than the session's position.
func TestLinkArmsFirst(t *testing.T) {
	client, server := net.Pipe()
	l := newLink(client, 77, 66, map[string]wire.WatchKind{"/a": wire.DataWatch, "/b": wire.ExistWatch, "/c": wire.DataWatch})
	sent := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(server)
		sent <- all
	}()
	open := wire.ConnectRequest{LastZxid: 5, Timeout: 6}.Append(wire.Begin(nil))
	wire.End(open, 0)
	opened := wire.ConnectRequest{LastZxid: 77, Timeout: 6}.Append(wire.Begin(nil))
	wire.End(opened, 0)
	get, auth, sync, ping := asked(wire.OpGetData, 5), asked(wire.OpAuth, 5), asked(wire.OpSync, 5), asked(wire.OpPing, 5)
	for _, p := range [][]byte{open, get, auth, arms(5, "/a", "/b"), get, ping, arms(5, "/a", "/b"), arms(88, "/c"), sync} {
		if n, err := l.Write(p); n != len(p) || err != nil {
			t.Fatalf("wrote %d of %d, %v", n, len(p), err)
		}
	}
	client.Close()
	if got, want := <-sent, bytes.Join([][]byte{opened, auth, arms(66, "/a", "/b"), ping, arms(66, "/a", "/b"), arms(66, "/c"), get, get, sync}, nil); !bytes.Equal(got, want) {
		t.Errorf("sent %x, want %x", got, want)
	}
}

// The library reads replies without positions, however the bytes are split.
func TestLinkForgetsPositions(t *testing.T) {
	var in, want []byte
	add := func(payload, forgotten []byte) {
		start := len(in)
		in = append(wire.Begin(in), payload...)
		want = append(wire.Begin(want), forgotten...)
		wire.End(in, start)
		wire.End(want, start)
	}
	open := wire.ConnectResponse{Timeout: 6000, SessionID: -1, Password: bytes.Repeat([]byte{9}, 16)}.Append(nil)
	add(open, open)
	for _, body := range []string{"", "a body"} {
		add(append(wire.ReplyHeader{Xid: 3, Zxid: -1, Err: -101}.Append(nil), body...),
			append(wire.ReplyHeader{Xid: 3, Err: -101}.Append(nil), body...))
	}
	add([]byte{1, 1, 1, 1, 1, 1}, []byte{1, 1, 1, 1, 0, 0})
	add(nil, nil)
	add(wire.ReplyHeader{Xid: 1, Zxid: 1}.Append(nil), wire.ReplyHeader{Xid: 1}.Append(nil))
	for size := 1; size <= len(in); size++ {
		client, server := net.Pipe()
		go func() {
			server.Write(in)
			server.Close()
		}()
		l := newLink(client, 0, 0, nil)
		var got []byte
		for piece := make([]byte, size); ; {
			n, err := l.Read(piece)
			got = append(got, piece[:n]...)
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("in pieces of %d read %x, want %x", size, got, want)
		}
	}
}
