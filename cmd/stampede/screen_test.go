package main

import (
	"bytes"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
)

// TestVersionsOfServersGiveTerminalsNoCommands checks that control sequences in a server's version
// do not reach the terminal, neither in a table nor in an error.
func TestVersionsOfServersGiveTerminalsNoCommands(t *testing.T) {
	address := withVersion(t, backendtest.Native(t, server.Options{}), "Zookeeper version: 3.9\x1b[2J\x1b]0;owned\x07-1, built on today\n")
	c := exec.CommandContext(t.Context(), "stampede", "run", "lock", "--form", "recipe", "--clients", "2", "--rounds", "3", "--warmup", "0",
		"--no-save", "--backend", "zookeeper://"+address)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, &said)
	}
	all := out.String() + said.String()
	if strings.ContainsAny(all, "\x1b\x07") {
		t.Errorf("commands came through: %q", all)
	}
	if !strings.Contains(all, `3.9\x1b[2J`) {
		t.Errorf("the version is not shown: %q", all)
	}
}

// withVersion relays connections to a server and answers "srvr" itself.
func withVersion(t *testing.T, server, version string) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go relay(c, server, version)
		}
	}()
	return l.Addr().String()
}

func relay(c net.Conn, server, version string) {
	defer c.Close()
	first := make([]byte, 4)
	if _, err := io.ReadFull(c, first); err != nil {
		return
	}
	if string(first) == "srvr" {
		io.WriteString(c, version)
		return
	}
	to, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer to.Close()
	to.Write(first)
	go func() {
		defer c.Close()
		io.Copy(c, to)
	}()
	io.Copy(to, c)
}
