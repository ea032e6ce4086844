package canned_test

import (
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/server/canned"
)

// Every client library accepts the replies, which do not depend on earlier requests, and the
// client's requests are counted as on any server.
func TestEveryClientTakesTheAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- canned.Serve(l) }()
	for _, client := range []string{"lean", "go-zookeeper"} {
		target, err := backends.Parse("native://" + l.Addr().String() + "?client=" + client)
		if err != nil {
			t.Fatal(err)
		}
		s, err := target.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Dial(t.Context(), drivers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		exercise(t, c)
		if err := c.Close(); err != nil {
			t.Errorf("%s: close: %v", client, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	l.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func exercise(t *testing.T, c drivers.Conn) {
	t.Helper()
	if made, err := c.Create(t.Context(), "/a/b", []byte("x"), 0); made.Name != "b" || err != nil {
		t.Errorf("create: %+v, %v", made, err)
	}
	if made, err := c.Create(t.Context(), "/a/n-", nil, drivers.Ephemeral|drivers.Sequential); made.Name != "n-0000000000" || err != nil {
		t.Errorf("sequential create: %+v, %v", made, err)
	}
	for range 2 { // set changes nothing
		if value, stat, err := c.Get(t.Context(), "/a/b", nil); len(value) != 100 || stat.Version != 0 || err != nil {
			t.Errorf("get: %d bytes, %+v, %v", len(value), stat, err)
		}
		if _, err := c.Set(t.Context(), "/a/b", []byte("y"), drivers.AnyVersion); err != nil {
			t.Errorf("set: %v", err)
		}
	}
	if names, err := c.Children(t.Context(), "/", nil); len(names) != 0 || err != nil {
		t.Errorf("children: %v, %v", names, err)
	}
	if err := c.Delete(t.Context(), "/none", drivers.AnyVersion); err != nil {
		t.Errorf("delete: %v", err)
	}
}
