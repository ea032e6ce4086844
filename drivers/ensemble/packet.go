package ensemble

import (
	"io"
	"net"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// Receive reads the payload of a packet.
func Receive(conn net.Conn) ([]byte, error) {
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

// Send completes and sends the packet that fills the buffer.
func Send(conn net.Conn, packet []byte) error {
	wire.End(packet, 0)
	_, err := conn.Write(packet)
	return err
}
