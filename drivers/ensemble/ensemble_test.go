package ensemble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

func TestConfig(t *testing.T) {
	for _, tc := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "servers: "},
		{Config{Servers: []string{"a", ""}}, "servers: "},
		{Config{Servers: []string{"a"}, Chroot: "b"}, `chroot "b": `},
		{Config{Servers: []string{"a"}, Chroot: "/b/"}, `chroot "/b/": `},
		{Config{Servers: []string{"a"}, Username: "ann"}, "username and password: "},
		{Config{Servers: []string{"a"}, Username: "a:b", Password: "c"}, "username: "},
	} {
		if _, err := New(tc.cfg); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want an error that begins with %q", tc.cfg, err, tc.want)
		}
	}
	s, err := New(Config{Servers: []string{"a", "b:1", "::1", "[::1]", "[::1]:2"}, Chroot: "/b"})
	want := []string{"a:2181", "b:1", "[::1]:2181", "[::1]:2181", "[::1]:2"}
	if err != nil || !slices.Equal(s.Servers, want) {
		t.Errorf("servers %v, %v; want %v", s.Servers, err, want)
	}
}

func TestSequence(t *testing.T) {
	for name, want := range map[string]int64{
		"lock-0000000000":  0,
		"lock-0000000012":  12,
		"0000000012":       12,
		"lock-2147483647":  2147483647,
		"lock--2147483648": -2147483648, // the counter has wrapped around
		"lock-2147483648":  -2147483648,
		"lock--1000000000": -1000000000,
		"lock--000000005":  -5,
		"lock9999999999":   drivers.NoSeq, // too large for a positive and for a negative number
		"lock-9999999999":  drivers.NoSeq,
		"lock-12":          drivers.NoSeq,
		"lock-00000000x1":  drivers.NoSeq,
		"a-x23456789":      drivers.NoSeq,
		"":                 drivers.NoSeq,
	} {
		if got := Sequence(name); got != want {
			t.Errorf("Sequence(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestBackoff(t *testing.T) {
	want := []time.Duration{0, 10, 20, 40, 80, 160, 320, 640, 1000, 1000}
	for rounds, ms := range want {
		if got := Backoff(rounds); got != ms*time.Millisecond {
			t.Errorf("after %d rounds %v, want %v", rounds, got, ms*time.Millisecond)
		}
	}
	if got := Backoff(1000); got != maxBackoff {
		t.Errorf("after 1000 rounds %v, want %v", got, maxBackoff)
	}
}

// TestCountersByLife checks that what a member counted before it was restarted is not taken for what it counted since.
func TestCountersByLife(t *testing.T) {
	const lines = "zk_uptime\t%d\nzk_cnt_readlatency\t%d\nzk_cnt_updatelatency\t1\nzk_cnt_fsynctime\t0\n"
	long := int64(time.Hour / time.Millisecond)
	for _, c := range []struct {
		uptime, reads int64 // of the second reading
		known         bool
	}{
		{long, 17, true},
		{3000, 17, false}, // it counted more in its new life than in the one before
		{3000, 2, false},
		{long, 2, false},
	} {
		answers := make(chan string, 2)
		answers <- fmt.Sprintf(lines, long, 7)
		answers <- fmt.Sprintf(lines, c.uptime, c.reads)
		s, err := New(Config{Servers: []string{"member:1"}, Dial: func(context.Context, string) (net.Conn, error) {
			ours, its := net.Pipe()
			go func() {
				its.Read(make([]byte, 4))
				io.WriteString(its, <-answers)
				its.Close()
			}()
			return ours, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		before, err1 := s.Counters(t.Context())
		after, err2 := s.Counters(t.Context())
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		got, known := after.Growth(before)
		if known != c.known || known && got.Reads != 10 {
			t.Errorf("%+v: %d reads, known %v; want 10", c, got.Reads, known)
		}
	}
}

// The server does not allow four-letter words.
func TestWordsNotAllowed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 4))
			conn.Write([]byte("mntr is not executed because it is not in the whitelist.\n"))
			conn.Close()
		}
	}()
	s, err := New(Config{Servers: []string{l.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Counters(t.Context()); !errors.Is(err, drivers.ErrUnsupported) {
		t.Errorf("got %v, want %v", err, drivers.ErrUnsupported)
	}
	if got := s.Info("").Server; got != "unknown" {
		t.Errorf("server %q, want unknown", got)
	}
}
