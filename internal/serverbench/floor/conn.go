package floor

import (
	"net"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// kept is the size in bytes of the largest buffer that a connection keeps.
const kept = 64 << 10

// A conn is one connection. It answers requests that have arrived together in one batch.
type conn struct {
	server *Server
	net    net.Conn
	in     wire.Frames
	id     int64
	out    []byte // replies
	log    []byte // requests that change something
	watch  bool   // one of the requests sets a watch
}

// serve answers requests until the client closes the connection.
func (c *conn) serve() {
	defer c.net.Close()
	if c.connect() != nil {
		return
	}
	for c.answer() == nil {
	}
}

func (c *conn) connect() error {
	payload, err := c.in.Next()
	if err != nil {
		return err
	}
	var r wire.ConnectRequest
	d := wire.NewDecoder(payload)
	if r.Decode(&d); d.Err() != nil {
		return d.Err()
	}
	b := wire.ConnectResponse{Timeout: r.Timeout, SessionID: c.id, Password: make([]byte, wire.PasswordSize),
		ReadOnly: wire.ReadOnly{Present: r.ReadOnly.Present}}.Append(wire.Begin(nil))
	wire.End(b, 0)
	_, err = c.net.Write(b)
	return err
}

// answer waits for a request and answers it together with the requests that arrived behind it.
func (c *conn) answer() error {
	c.out, c.log, c.watch = c.out[:0], c.log[:0], false
	for more := true; more; more = c.in.Ready() {
		payload, err := c.in.Next()
		if err == nil {
			err = c.take(payload)
		}
		if err != nil {
			return err
		}
	}
	if len(c.log) > 0 {
		if err := c.server.log.Commit(c.log); err != nil {
			return err
		}
		c.server.notify()
	}
	if _, err := c.net.Write(c.out); err != nil {
		return err
	}
	if c.watch {
		c.server.watch(c.net)
	}
	return nil
}

// take adds the reply to a request, and the request itself if it changes something.
func (c *conn) take(payload []byte) error {
	var h wire.RequestHeader
	d := wire.NewDecoder(payload)
	if h.Decode(&d); d.Err() != nil {
		return d.Err()
	}
	switch h.Op {
	case wire.OpCreate, wire.OpCreate2, wire.OpSetData:
		c.log = append(c.log, payload...)
	case wire.OpGetData:
		c.watch = c.watch || payload[len(payload)-1] != 0
	}
	start := len(c.out)
	c.out = appendReply(wire.Begin(c.out), h, &d)
	wire.End(c.out, start)
	return nil
}
