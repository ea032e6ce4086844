package child

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The ports of FreeAddr: those above, systems hand out to connections (Linux from
// 32768, others from 49152), so that one of many clients that look for a server
// could sit on the port of that server when it comes back.
const (
	firstPort = 10_000
	lastPort  = 32_767
)

// FreeAddr is an address of the loopback interface at which nobody listens just
// now, for a server that has to be told where.
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
