package reexec

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The range of FreeAddr's ports. Systems assign higher ports to outgoing connections (Linux from
// 32768, others from 49152). A client that tries to reach a server that is down could otherwise be
// assigned that server's own port and block its restart.
const (
	firstPort = 10_000
	lastPort  = 32_767
)

// FreeAddr returns an address of the loopback interface that is free at present, for a server that
// needs a fixed address.
func FreeAddr() (string, error) {
	var err error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", err
}
