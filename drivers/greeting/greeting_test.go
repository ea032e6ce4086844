package greeting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// What servers send first.
var first = map[string]struct {
	bytes string
	is    Protocol
}{
	"session":             {"\x00\x00\x00\x25\x00\x00\x00\x00\x00\x00\x75\x30", ZooKeeper},
	"answer to srvr":      {"Zookeeper version: 3.8.0-5a02a05, built on", ZooKeeper},
	"word not allowed":    {"srvr is not executed because it is not in the whitelist.", ZooKeeper},
	"settings":            {"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05", Etcd},
	"TLS handshake":       {"\x16\x03\x03\x00\x7a\x02", TLS},
	"TLS alert":           {"\x15\x03\x01\x00\x02\x02\x46", TLS},
	"HTTP":                {"HTTP/1.1 400 Bad Request\r\n", HTTP},
	"etcd's version":      {"HTTP/1.0 200 OK\r\n\r\n{\"etcdserver\":\"3.7.3\"}", Etcd},
	"something else":      {"\x4a\x00\x00\x00\x0a8.0.36", ""},
	"SSH, which is text":  {"SSH-2.0-OpenSSH_9.2\r\n", ""},
	"a long packet, once": {"\x00\x01\x00\x00", ZooKeeper},
}

func TestFirstBytesTellTheProtocol(t *testing.T) {
	for name, f := range first {
		if got := spoken([]byte(f.bytes)); got != f.is {
			t.Errorf("%s: %q, want %q", name, got, f.is)
		}
	}
}

// dialing returns a dialer whose connections are served in memory.
func dialing(serve func(address string, c net.Conn)) func(context.Context, string) (net.Conn, error) {
	return func(_ context.Context, address string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			serve(address, far)
		}()
		return near, nil
	}
}

// TestCheck reads from servers that begin with each of the first bytes, split anywhere.
func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		begins string
		want   Protocol
		err    string
	}{
		"a session":              {first["session"].bytes, ZooKeeper, ""},
		"etcd":                   {first["settings"].bytes, Etcd, ""},
		"TLS":                    {first["TLS handshake"].bytes, TLS, ""},
		"TLS to a plain client":  {first["TLS alert"].bytes, ZooKeeper, "the server speaks TLS, and not ZooKeeper's protocol: give --tls-ca, or the port without TLS"},
		"TLS to plain etcd":      {first["TLS alert"].bytes, Etcd, "the server speaks TLS, and not etcd's protocol: give --tls-ca, or the port without TLS"},
		"HTTP to ZooKeeper":      {first["HTTP"].bytes, ZooKeeper, "the server speaks HTTP, and not ZooKeeper's protocol"},
		"HTTP to etcd":           {first["HTTP"].bytes, Etcd, "the server speaks HTTP, and not etcd's protocol"},
		"etcd to ZooKeeper":      {first["settings"].bytes, ZooKeeper, "the server speaks etcd's protocol, and not ZooKeeper's protocol: want etcd://"},
		"a packet to TLS":        {first["session"].bytes, TLS, "the server speaks ZooKeeper's protocol, and not TLS: leave out --tls-ca and its like, or give the port with TLS"},
		"something to ZooKeeper": {first["something else"].bytes, ZooKeeper, "the server does not speak ZooKeeper's protocol"},
		"text to ZooKeeper":      {first["SSH, which is text"].bytes, ZooKeeper, "the server does not speak ZooKeeper's protocol"},
		"nothing":                {"", ZooKeeper, drivers.ErrHungUp.Error() + " (EOF)"},
		"nothing on TLS":         {"", TLS, drivers.ErrHungUp.Error() + " (EOF)"},
	} {
		c, err := dialing(func(_ string, c net.Conn) { io.WriteString(c, tc.begins) })(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(Check(c, tc.want))
		switch {
		case tc.err == "" && (err != nil || string(got) != tc.begins):
			t.Errorf("%s: read %q, %v; want all", name, got, err)
		case tc.err != "" && (err == nil || err.Error() != tc.err):
			t.Errorf("%s:\ngot  %v\nwant %s", name, err, tc.err)
		case Final(err) != (tc.err != "" && tc.begins != ""):
			t.Errorf("%s: final: %v", name, Final(err))
		}
		c.Close()
	}
}

// TestExplain asks servers that have said nothing what they are: some answer one question only, and some none.
func TestExplain(t *testing.T) {
	answering := func(question, answer string) func(net.Conn) {
		return func(c net.Conn) {
			asked := make([]byte, 1024)
			n, _ := c.Read(asked) // all that was written
			if strings.HasPrefix(string(asked[:n]), question) {
				io.WriteString(c, answer)
			} else {
				io.Copy(io.Discard, c) // silent until the client ends the connection
			}
		}
	}
	silent := func(c net.Conn) { io.Copy(io.Discard, c) }
	closing := func(net.Conn) {}
	hung := fmt.Errorf("no session: %w", drivers.ErrHungUp)
	for name, tc := range map[string]struct {
		err      error
		expected Protocol
		is       func(net.Conn)
		want     Protocol
	}{
		"TLS":             {hung, ZooKeeper, answering(hello, first["TLS alert"].bytes), TLS},
		"plain ZooKeeper": {hung, TLS, answering("srvr", first["answer to srvr"].bytes), ZooKeeper},
		"ZooKeeper":       {drivers.ErrSilent, Etcd, answering("srvr", first["word not allowed"].bytes), ZooKeeper},
		"etcd":            {drivers.ErrSilent, ZooKeeper, answering("GET /version", first["etcd's version"].bytes), Etcd},
		"HTTP":            {drivers.ErrSilent, ZooKeeper, answering("GET /version", first["HTTP"].bytes), HTTP},
		"as expected":     {drivers.ErrSilent, ZooKeeper, answering("srvr", first["answer to srvr"].bytes), ""},
		"silent":          {drivers.ErrSilent, ZooKeeper, silent, ""},
		"a limit":         {hung, ZooKeeper, closing, ""},
		"interrupted":     {fmt.Errorf("%w: %w", hung, context.Canceled), ZooKeeper, answering(hello, first["TLS alert"].bytes), ""},
		"not connected":   {&net.OpError{Op: "dial", Err: context.DeadlineExceeded}, ZooKeeper, answering(hello, first["TLS alert"].bytes), ""},
	} {
		bubble.Test(t, func(t *testing.T) {
			began := time.Now()
			got := Explain(tc.err, tc.expected, dialing(func(address string, c net.Conn) {
				if address == "b:1" {
					tc.is(c)
				}
			}), []string{"a:1", "b:1"})
			var m *Mismatch
			switch {
			case tc.want == "" && got != tc.err:
				t.Errorf("%s: %v, want %v", name, got, tc.err)
			case tc.want != "" && (!errors.As(got, &m) || *m != Mismatch{tc.expected, tc.want} || !strings.HasPrefix(got.Error(), "b:1: ")):
				t.Errorf("%s: %v, want that b:1 speaks %s", name, got, tc.want)
			}
			if took := time.Since(began); took > askTime {
				t.Errorf("%s: it took %v", name, took)
			}
		})
	}
}
