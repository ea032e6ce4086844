//go:build unix

package testenv_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// A connection to the address is refused until a server listens at it, and again afterwards.
func TestAddress(t *testing.T) {
	address := testenv.Address(t)
	refused := func() {
		t.Helper()
		if c, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a connection without a server: %v, %v, want a refusal", c, err)
		}
	}
	for range 2 {
		refused()
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		l.Close()
	}
	refused()
}
