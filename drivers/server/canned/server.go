package canned

import (
	"bufio"
	"context"
	"errors"
	"net"
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
func Serve(l net.Listener) error { return Accept(l, answer) }

// Accept calls serve for each connection, with the number of its session, until the listener is
// closed, and then returns nil. It closes each connection when serve returns, and ignores the error.
func Accept(l net.Listener, serve func(c net.Conn, session int64) error) error {
	for session := int64(1); ; session++ {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			serve(c, session) // the error only means that the client has disconnected
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
	packet, err := Connect(first, session)
	if err != nil {
		return err
	}
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
		if packet, err = AppendReply(packet[:0], request); err != nil {
			return err
		}
	}
}

// Connect returns the packet that grants the requested session.
func Connect(request []byte, session int64) ([]byte, error) {
	var hello wire.ConnectRequest
	d := wire.NewDecoder(request)
	hello.Decode(&d)
	b := wire.ConnectResponse{
		Timeout: min(hello.Timeout, int32(longest/time.Millisecond)), SessionID: session, Password: make([]byte, wire.PasswordSize),
		ReadOnly: wire.ReadOnly{Present: hello.ReadOnly.Present},
	}.Append(wire.Begin(nil))
	wire.End(b, 0)
	return b, d.Err()
}

// value is the data of every node.
var value = make([]byte, 100)

// AppendReply appends the packet that answers a request.
func AppendReply(b, request []byte) ([]byte, error) {
	d := wire.NewDecoder(request)
	var h wire.RequestHeader
	h.Decode(&d)
	if err := d.Err(); err != nil {
		return nil, err
	}
	start := len(b)
	b = appendPayload(wire.Begin(b), h, d)
	wire.End(b, start)
	return b, nil
}

func appendPayload(b []byte, h wire.RequestHeader, d wire.Decoder) []byte {
	stat := wire.Stat{DataLength: int32(len(value))}
	head := wire.ReplyHeader{Xid: h.Xid, Zxid: 1}
	switch h.Op {
	case wire.OpPing, wire.OpCloseSession, wire.OpDelete, wire.OpCheck, wire.OpSetWatches, wire.OpSetWatches2, wire.OpAddWatch, wire.OpRemoveWatches, wire.OpAuth:
		return head.Append(b)
	case wire.OpGetData:
		return wire.DataStat{Data: value, Stat: stat}.Append(head.Append(b))
	case wire.OpExists, wire.OpSetData:
		return stat.Append(head.Append(b))
	case wire.OpSync:
		return wire.AppendBytes(head.Append(b), d.Bytes())
	case wire.OpCreate, wire.OpCreate2:
		var r wire.CreateRequest
		if r.Decode(&d); r.Flags&wire.FlagSequential != 0 {
			r.Path += "0000000000" // always the same: no node is created
		}
		if h.Op == wire.OpCreate {
			return wire.AppendString(head.Append(b), r.Path)
		}
		return wire.PathStat{Path: r.Path, Stat: stat}.Append(head.Append(b))
	case wire.OpGetChildren:
		return wire.Children{}.Append(head.Append(b))
	case wire.OpGetChildren2:
		return wire.ChildrenStat{Stat: stat}.Append(head.Append(b))
	}
	head.Err = wire.ErrUnimplemented
	return head.Append(b)
}
