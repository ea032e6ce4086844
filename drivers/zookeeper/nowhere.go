package zookeeper

import (
	"net"

	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// nowhere returns a connection that leads to no server. A library that cannot reach a server
// takes a second to close, since the request that ends its session gets no answer. When a
// session has ended, nowhere answers that request. It sends on arrived when the library has
// connected.
func nowhere(arrived chan<- struct{}) net.Conn {
	near, far := net.Pipe()
	go answer(far, arrived)
	return near
}

// answer accepts any session and answers all requests until the library closes the connection.
func answer(conn net.Conn, arrived chan<- struct{}) {
	defer conn.Close()
	request, err := ensemble.Receive(conn)
	if err != nil {
		return
	}
	d := wire.NewDecoder(request)
	var open wire.ConnectRequest
	open.Decode(&d)
	granted := wire.ConnectResponse{Timeout: open.Timeout, SessionID: -1, Password: make([]byte, wire.PasswordSize)}
	err = ensemble.Send(conn, granted.Append(wire.Begin(nil)))
	select {
	case arrived <- struct{}{}:
	default:
	}
	for err == nil {
		if request, err = ensemble.Receive(conn); err != nil {
			return
		}
		d := wire.NewDecoder(request)
		var h wire.RequestHeader
		h.Decode(&d)
		reply := wire.ReplyHeader{Xid: h.Xid}
		if h.Op != wire.OpCloseSession && h.Op != wire.OpPing {
			reply.Err = wire.ErrSessionExpired
		}
		err = ensemble.Send(conn, reply.Append(wire.Begin(nil)))
	}
}
