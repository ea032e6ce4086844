package child

import "net"

// FreeAddr is an address of the loopback interface at which nobody listens just
// now, for a server that has to be told where.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
