package main

import (
	"context"
	"net"
	"time"

	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// retryInterval is how long to wait for an answer before another attempt starts in parallel. A
// server that is starting may refuse or close connections, or accept a request that it never
// answers.
const retryInterval = 10 * time.Millisecond

// awaitAnswer returns nil when a read of the node has been answered. It uses no client library,
// because those back off longer after each attempt.
func awaitAnswer(ctx context.Context, addr, node string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan struct{}, 1)
	for {
		go func() {
			if answers(ctx, addr, node) {
				select {
				case answered <- struct{}{}:
				default: // another attempt was answered first
				}
			}
		}()
		select {
		case <-answered:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryInterval):
		}
	}
}

// answers opens a session, reads a node once, and reports whether the node exists.
func answers(ctx context.Context, addr, node string) bool {
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	session := wire.ConnectRequest{Timeout: int32(timeout.Milliseconds()), Password: make([]byte, wire.PasswordSize)}
	if _, err := ask(nc, session.Append(wire.Begin(nil))); err != nil {
		return false
	}
	header := wire.RequestHeader{Xid: 1, Op: wire.OpGetData}
	reply, err := ask(nc, wire.PathWatch{Path: node}.Append(header.Append(wire.Begin(nil))))
	if err != nil {
		return false
	}
	d := wire.NewDecoder(reply)
	var h wire.ReplyHeader
	h.Decode(&d)
	return h.Xid == header.Xid && h.Err == wire.OK
}

func ask(nc net.Conn, packet []byte) (reply []byte, err error) {
	if err := ensemble.Send(nc, packet); err != nil {
		return nil, err
	}
	return ensemble.Receive(nc)
}
