package zookeeper

import (
	"io"
	"net"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// nowhere is a connection that leads to no server. A library that cannot reach
// one takes a second to close, since nobody answers the request that ends its
// session; once a session is over, that is done here. When the library has got
// that far there is something to receive from arrived.
func nowhere(arrived chan<- struct{}) net.Conn {
	near, far := net.Pipe()
	go answer(far, arrived)
	return near
}

// answer opens any session and answers what is asked until the library hangs up.
func answer(conn net.Conn, arrived chan<- struct{}) {
	defer conn.Close()
	request, err := receive(conn)
	if err != nil {
		return
	}
	d := wire.NewDecoder(request)
	var open wire.ConnectRequest
	open.Decode(&d)
	granted := wire.ConnectResponse{Timeout: open.Timeout, SessionID: -1, Password: make([]byte, wire.PasswordSize)}
	err = send(conn, granted.Append(wire.Begin(nil)))
	select {
	case arrived <- struct{}{}:
	default:
	}
	for err == nil {
		if request, err = receive(conn); err != nil {
			return
		}
		d := wire.NewDecoder(request)
		var h wire.RequestHeader
		h.Decode(&d)
		reply := wire.ReplyHeader{Xid: h.Xid}
		if h.Op != wire.OpCloseSession && h.Op != wire.OpPing {
			reply.Err = wire.ErrSessionExpired
		}
		err = send(conn, reply.Append(wire.Begin(nil)))
	}
}

// receive reads the payload of a packet.
func receive(conn net.Conn) ([]byte, error) {
	length := make([]byte, wire.LengthSize)
	if _, err := io.ReadFull(conn, length); err != nil {
		return nil, err
	}
	d := wire.NewDecoder(length)
	size := d.Int()
	if size < 0 || size > wire.MaxPacket {
		return nil, wire.ErrMalformed
	}
	payload := make([]byte, size)
	_, err := io.ReadFull(conn, payload)
	return payload, err
}

// send ends a packet that begins where its buffer does, and sends it.
func send(conn net.Conn, packet []byte) error {
	wire.End(packet, 0)
	_, err := conn.Write(packet)
	return err
}
