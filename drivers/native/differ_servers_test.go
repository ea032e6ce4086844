package native_test

import (
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers/native"
)

// listen starts a native server on the loopback interface.
func listen(t testing.TB, o native.Options) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := native.New(o)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// say sends a four-letter word and returns the answer.
func say(t testing.TB, address, word string) string {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, word)
	answer, err := io.ReadAll(nc)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func releaseOf(t testing.TB, address string) (r release) {
	t.Helper()
	if _, err := fmt.Sscanf(say(t, address, "srvr"), "Zookeeper version: %d.%d.%d", &r[0], &r[1], &r[2]); err != nil {
		t.Fatal(err)
	}
	return r
}
