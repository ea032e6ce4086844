package between

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strconv"
)

// The bytes of RFC 1928 that are needed here.
const (
	version = 5
	connect = 1 // the command

	toIPv4 = 1 // kinds of addresses
	toName = 3
	toIPv6 = 4

	granted   = 0 // replies
	forbidden = 2
	refused   = 5
)

var errStranger = errors.New("want a SOCKS5 client that connects without a name and a password")

// receive hears out who wants to be connected, and to which port. At which host is
// of no interest: all members are on this one.
func receive(c net.Conn) (port string, err error) {
	var hello [2]byte // the version, and how many methods of authentication come
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return "", err
	}
	if _, err := io.CopyN(io.Discard, c, int64(hello[1])); err != nil {
		return "", err
	}
	if hello[0] != version {
		return "", errStranger
	}
	if _, err := c.Write([]byte{version, 0}); err != nil { // without any
		return "", err
	}
	var request [4]byte // the version, the command, nothing, the kind of address
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

// reply is what came of a request, with no address that the proxy had there.
func reply(what byte) []byte { return []byte{version, what, 0, toIPv4, 0, 0, 0, 0, 0, 0} }
