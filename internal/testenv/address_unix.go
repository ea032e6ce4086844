//go:build unix

package testenv

import (
	"fmt"
	"syscall"
	"testing"
)

// Address returns an address of this machine, as host:port, that nobody listens at. Its port is kept until the test
// ends, so that no listener and no connection of another test is given it: a connection to it is refused until a
// server listens at it, which one in Go or Java can.
func Address(t testing.TB) string {
	t.Helper()
	held, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(held) })
	syscall.CloseOnExec(held)
	// Both sockets must have SO_REUSEADDR, or the server could not bind the port while it is held.
	if err := syscall.SetsockoptInt(held, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(held, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(held)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}
