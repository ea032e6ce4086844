package server_test

import (
	"fmt"
	"io"
	"net"
	"testing"
)

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
