package ensemble

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Rewrite writes the data of a node to it once more, so that its version grows and its watches fire, and returns the
// zxid. Read only reads it. Both are drivers.ErrNoNode if there is none. Dial connects to a server; the first one that
// answers serves the request.
func Rewrite(ctx context.Context, servers []string, dial func(context.Context, string) (net.Conn, error), path string) (zxid int64, err error) {
	err = visit(ctx, servers, dial, func(v *visitor) error {
		for {
			found, err := v.read(path)
			if err != nil {
				return err
			}
			write := wire.SetDataRequest{Path: path, Data: found.Data, Version: found.Stat.Version}
			zxid, _, err = v.call(wire.OpSetData, write.Append)
			if !errors.Is(err, drivers.ErrBadVersion) { // else another client has written it meanwhile
				return err
			}
		}
	})
	return zxid, err
}

// Read returns whether a node can be read.
func Read(ctx context.Context, servers []string, dial func(context.Context, string) (net.Conn, error), path string) error {
	return visit(ctx, servers, dial, func(v *visitor) error {
		_, err := v.read(path)
		return err
	})
}

// A visitor has a session for a few requests, one at a time.
type visitor struct {
	nc  net.Conn
	xid int32
}

// visitorTimeout is the time-out, in milliseconds, of a visitor's session.
const visitorTimeout = 4000

// visit calls do with a session at the first server that opens one, and closes it.
func visit(ctx context.Context, servers []string, dial func(context.Context, string) (net.Conn, error), do func(*visitor) error) (err error) {
	for _, server := range servers {
		opened := false
		err = onConnection(ctx, dial, server, func(nc net.Conn) error {
			granted, err := reopen(nc, wire.ConnectResponse{Timeout: visitorTimeout, Password: make([]byte, wire.PasswordSize)})
			if err != nil {
				return fmt.Errorf("no session at %s: %w", server, err)
			}
			opened = granted.Timeout > 0
			v := &visitor{nc: nc}
			defer v.call(wire.OpCloseSession, func(b []byte) []byte { return b })
			return do(v)
		})
		if opened || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (v *visitor) read(path string) (found wire.DataStat, err error) {
	_, reply, err := v.call(wire.OpGetData, wire.PathWatch{Path: path}.Append)
	if err != nil {
		return found, err
	}
	d := wire.NewDecoder(reply)
	found.Decode(&d)
	return found, d.Err()
}

// call sends a request and returns its reply, with the zxid of the server.
func (v *visitor) call(op int32, request func([]byte) []byte) (zxid int64, reply []byte, err error) {
	v.xid++
	if err := Send(v.nc, request(wire.RequestHeader{Xid: v.xid, Op: op}.Append(wire.Begin(nil)))); err != nil {
		return 0, nil, err
	}
	payload, err := Receive(v.nc)
	if err != nil {
		return 0, nil, err
	}
	d := wire.NewDecoder(payload)
	var h wire.ReplyHeader
	h.Decode(&d)
	if err := d.Err(); err != nil {
		return 0, nil, err
	}
	return h.Zxid, d.Rest(), h.Err.Sentinel()
}
