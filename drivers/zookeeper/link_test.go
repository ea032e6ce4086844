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

func newLink(conn net.Conn, position int64, arming bool) *link {
	at := new(atomic.Int64)
	at.Store(position)
	return &link{Tap: wire.NewTap(conn, probeFunc(ignore), nil), position: at, arming: arming}
}

// asked is a packet of some op with 16 bytes after its header.
func asked(op int32, first uint64) []byte {
	b := wire.RequestHeader{Xid: op, Op: op}.Append(wire.Begin(nil))
	b = append(binary.BigEndian.AppendUint64(b, first), "12345678"...)
	wire.End(b, 0)
	return b
}

// Arming the watches comes right after what opens the session, with our
// position.
func TestLinkArmsFirst(t *testing.T) {
	client, server := net.Pipe()
	l := newLink(client, 77, true)
	sent := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(server)
		sent <- all
	}()
	open := wire.ConnectRequest{LastZxid: 5, Timeout: 6}.Append(wire.Begin(nil))
	wire.End(open, 0)
	opened := wire.ConnectRequest{LastZxid: 77, Timeout: 6}.Append(wire.Begin(nil))
	wire.End(opened, 0)
	get, auth, sync := asked(wire.OpGetData, 5), asked(wire.OpAuth, 5), asked(wire.OpSync, 5)
	arm, armed := asked(wire.OpSetWatches, 5), asked(wire.OpSetWatches, 77)
	for _, p := range [][]byte{open, get, auth, get, arm, bytes.Clone(arm), sync} {
		if n, err := l.Write(p); n != len(p) || err != nil {
			t.Fatalf("wrote %d of %d, %v", n, len(p), err)
		}
	}
	client.Close()
	if got, want := <-sent, bytes.Join([][]byte{opened, auth, armed, get, get, armed, sync}, nil); !bytes.Equal(got, want) {
		t.Errorf("sent %x, want %x", got, want)
	}
}

// What is read has no positions, in whatever pieces it comes.
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
		l := newLink(client, 0, false)
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
