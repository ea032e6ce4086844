package partition

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
)

// The values of RFC 1928 that are used here.
const (
	version = 5
	connect = 1 // the command

	toIPv4 = 1 // address types
	toName = 3
	toIPv6 = 4

	granted   = 0 // reply codes
	forbidden = 2
	refused   = 5
)

var errStranger = errors.New("want a SOCKS5 client that connects without a name and a password")

// receive reads a SOCKS5 request and returns the requested port. It ignores the host, because all
// members run on this one.
func receive(c net.Conn) (port string, err error) {
	var hello [2]byte // version and number of authentication methods
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return "", err
	}
	if _, err := io.CopyN(io.Discard, c, int64(hello[1])); err != nil {
		return "", err
	}
	if hello[0] != version {
		return "", errStranger
	}
	if _, err := c.Write([]byte{version, 0}); err != nil { // no authentication
		return "", err
	}
	var request [4]byte // version, command, reserved, address type
	if _, err := io.ReadFull(c, request[:]); err != nil {
		return "", err
	}
	if request[0] != version || request[1] != connect {
		return "", errStranger
	}
	if err := skipHost(c, request[3]); err != nil {
		return "", err
	}
	var n [2]byte
	if _, err := io.ReadFull(c, n[:]); err != nil {
		return "", err
	}
	return strconv.Itoa(int(binary.BigEndian.Uint16(n[:]))), nil
}

func skipHost(c net.Conn, kind byte) error {
	size := int64(0)
	switch kind {
	case toIPv4:
		size = net.IPv4len
	case toIPv6:
		size = net.IPv6len
	case toName:
		var n [1]byte
		if _, err := io.ReadFull(c, n[:]); err != nil {
			return err
		}
		size = int64(n[0])
	default:
		return errStranger
	}
	_, err := io.CopyN(io.Discard, c, size)
	return err
}

// reply returns a reply with the code and no bound address.
func reply(what byte) []byte { return []byte{version, what, 0, toIPv4, 0, 0, 0, 0, 0, 0} }
