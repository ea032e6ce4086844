package canned

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// Role is the name of Run among the roles of child processes.
const Role = "canned"

// Run serves on a free port of the loopback interface until the context ends. It calls ready with
// the address.
func Run(ctx context.Context, _ []string, ready func(addr string)) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	ready(l.Addr().String())
	return Serve(l)
}

// Serve serves connections until the listener is closed, and then returns nil.
func Serve(l net.Listener) error {
	var sessions atomic.Int64
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			answer(c, sessions.Add(1)) // the error only means that the client has disconnected
		}()
	}
}

const (
	largest = 4 << 20  // maximum bytes of a request
	kept    = 64 << 10 // bytes of a buffer kept between requests
	// longest is the maximum session timeout. Sessions never expire, so it only limits the interval
	// of the clients' pings.
	longest = time.Minute
)

// answer serves one connection.
func answer(c net.Conn, session int64) error {
	in, out := wire.NewFrames(c, largest, kept), bufio.NewWriterSize(c, kept)
	first, err := in.Next()
	if err != nil {
		return err
	}
	var hello wire.ConnectRequest
	d := wire.NewDecoder(first)
	hello.Decode(&d)
	if err := d.Err(); err != nil {
		return err
	}
	reply := wire.ConnectResponse{
		Timeout: min(hello.Timeout, int32(longest/time.Millisecond)), SessionID: session, Password: make([]byte, 16),
		ReadOnly: wire.ReadOnly{Present: hello.ReadOnly.Present},
	}
	packet := finish(reply.Append(begin(nil)))
	for {
		if _, err := out.Write(packet); err != nil {
			return err
		}
		if !in.Ready() { // no request is buffered: the client waits for these replies
			if err := out.Flush(); err != nil {
				return err
			}
		}
		request, err := in.Next()
		if err != nil {
			return err
		}
		if packet, err = replyTo(request, begin(packet[:0])); err != nil {
			return err
		}
		packet = finish(packet)
	}
}

// value is the data of every node.
var value = make([]byte, 100)

// replyTo appends the reply to a request.
func replyTo(request, b []byte) ([]byte, error) {
	d := wire.NewDecoder(request)
	var h wire.RequestHeader
	h.Decode(&d)
	if err := d.Err(); err != nil {
		return nil, err
	}
	stat := wire.Stat{DataLength: int32(len(value))}
	head := wire.ReplyHeader{Xid: h.Xid, Zxid: 1}
	switch h.Op {
	case wire.OpPing, wire.OpCloseSession, wire.OpDelete, wire.OpCheck, wire.OpSetWatches, wire.OpSetWatches2, wire.OpAddWatch, wire.OpRemoveWatches, wire.OpAuth:
		return head.Append(b), nil
	case wire.OpGetData:
		return wire.DataStat{Data: value, Stat: stat}.Append(head.Append(b)), nil
	case wire.OpExists, wire.OpSetData:
		return stat.Append(head.Append(b)), nil
	case wire.OpCreate, wire.OpSync:
		return wire.AppendBytes(head.Append(b), d.Bytes()), nil
	case wire.OpCreate2:
		return wire.PathStat{Path: string(d.Bytes()), Stat: stat}.Append(head.Append(b)), nil
	case wire.OpGetChildren:
		return wire.Children{}.Append(head.Append(b)), nil
	case wire.OpGetChildren2:
		return wire.ChildrenStat{Stat: stat}.Append(head.Append(b)), nil
	}
	head.Err = wire.ErrUnimplemented
	return head.Append(b), nil
}

// begin reserves space for the packet's length.
func begin(b []byte) []byte { return wire.AppendInt(b, 0) }

// finish writes the packet's length into the space that begin reserved.
func finish(b []byte) []byte {
	binary.BigEndian.PutUint32(b, uint32(len(b)-wire.LengthSize))
	return b
}
