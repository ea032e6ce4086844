package etcd_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// Only its user can access what etcd protects, on this connection and the next.
func TestCredentials(t *testing.T) {
	testenv.SkipIfShort(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	member := backendtest.SecureEtcd(t)
	member.ProtectKeys(t, "/bench", "ann", "hunter2")
	tls, err := member.Security.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	dial := func(prefix string, password drivers.Secret, o drivers.Options) (drivers.Conn, error) {
		s, err := etcd.New(etcd.Config{Endpoints: []string{member.Address}, Prefix: prefix, TLS: tls,
			Username: "ann", Password: password})
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Dial(ctx, o)
		if err == nil {
			t.Cleanup(func() { c.Close() })
		}
		return c, err
	}
	var lost atomic.Bool
	c, err := dial("/bench", "hunter2", drivers.Options{LoseReply: func(m drivers.Message) bool {
		return m.Op == drivers.OpGet && lost.CompareAndSwap(false, true)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(ctx, "/hers", nil, drivers.Ephemeral); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Get(ctx, "/hers", nil); !errors.Is(err, drivers.ErrConnectionLoss) {
		t.Fatalf("the connection was cut, got %v", err)
	}
	if _, err := c.Set(ctx, "/hers", []byte("x"), 0); err != nil {
		t.Errorf("after the reconnect: %v", err)
	}
	for prefix, password := range map[string]drivers.Secret{"/bench": "hunter3", "/elsewhere": "hunter2"} {
		_, err := dial(prefix, password, drivers.Options{})
		if !errors.Is(err, drivers.ErrRefused) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("below %s: %v, want %v and no password", prefix, err, drivers.ErrRefused)
		}
	}
}
