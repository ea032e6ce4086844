package faults_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// onLine is a connection through a link: the session's end and the server's.
func onLine(l *faults.Link) (session, server net.Conn) {
	far, server := net.Pipe()
	return l.Wrap(far), server
}

// arrives sends a word and returns how long it took to the other end.
func arrives(t *testing.T, from, to net.Conn, word string) time.Duration {
	t.Helper()
	began := time.Now()
	go io.WriteString(from, word)
	got := make([]byte, len(word))
	if _, err := io.ReadFull(to, got); err != nil || string(got) != word {
		t.Fatalf("%q arrived, %v; want %q", got, err, word)
	}
	return time.Since(began)
}

func TestLine(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := new(faults.Link)
		session, server := onLine(l)
		defer server.Close()
		defer session.Close()
		check := func(when string, want time.Duration) {
			t.Helper()
			if up, down := arrives(t, session, server, "requests"), arrives(t, server, session, "replies!"); up != want || down != want {
				t.Errorf("%s: up in %v, down in %v, want %v", when, up, down, want)
			}
		}
		check("as it was", 0)
		l.Delay(50 * time.Millisecond)
		check("late", 50*time.Millisecond)
		l.Restore()
		l.Throttle(8)
		check("narrow", time.Second)
		l.Restore()
		check("restored", 0)
	})
}

// Data sent at the same time is delayed once, not one piece after the other.
func TestLineIsLateInParallel(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := new(faults.Link)
		l.Delay(time.Second)
		session, server := onLine(l)
		defer server.Close()
		defer session.Close()
		began := time.Now()
		go func() {
			for range 5 {
				io.WriteString(session, "word")
				time.Sleep(time.Millisecond)
			}
		}()
		io.ReadFull(server, make([]byte, 20))
		if took := time.Since(began); took != time.Second+4*time.Millisecond {
			t.Errorf("five words took %v, want a second and what lay between them", took)
		}
	})
}

// Nothing passes a silent link, including new connections, and no end is closed. Afterwards all
// data arrives in order.
func TestSilentLine(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := new(faults.Link)
		l.Silence(drivers.Both)
		l.Silence(drivers.Both)
		session, server := onLine(l)
		defer server.Close()
		defer session.Close()
		io.WriteString(session, "one")
		io.WriteString(session, "two")
		server.SetReadDeadline(time.Now().Add(time.Hour))
		if n, err := server.Read(make([]byte, 9)); n > 0 || err == nil {
			t.Fatalf("%d bytes, %v; want nothing for an hour", n, err)
		}
		server.SetReadDeadline(time.Time{})
		l.Restore()
		got := make([]byte, 6)
		if io.ReadFull(server, got); string(got) != "onetwo" {
			t.Errorf("%q arrived afterwards", got)
		}
	})
}

// In one silent direction nothing passes, in the other everything does. What was held back passes when the link is
// silent in the other direction instead.
func TestSilentInOneDirection(t *testing.T) {
	for _, d := range []drivers.Direction{drivers.Out, drivers.In} {
		bubble.Test(t, func(t *testing.T) {
			l := new(faults.Link)
			session, server := onLine(l)
			defer server.Close()
			defer session.Close()
			from, to := session, server
			if d == drivers.In {
				from, to = server, session
			}
			l.Silence(d)
			go io.WriteString(from, "held")
			to.SetReadDeadline(time.Now().Add(time.Hour))
			if n, err := to.Read(make([]byte, 9)); n > 0 || err == nil {
				t.Fatalf("direction %d: %d bytes, %v; want nothing for an hour", d, n, err)
			}
			to.SetReadDeadline(time.Time{})
			arrives(t, to, from, "the other way")
			l.Silence(d.Reverse())
			got := make([]byte, 4)
			if io.ReadFull(to, got); string(got) != "held" {
				t.Errorf("direction %d: %q arrived afterwards", d, got)
			}
			closed := make(chan struct{})
			close(closed)
			if l.Cross(closed) {
				t.Errorf("direction %d: a new connection crossed", d)
			}
		})
	}
}

// A session that closes its connection in silence leaves no goroutine; otherwise the synctest
// bubble fails.
func TestClosedInSilence(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := new(faults.Link)
		session, server := onLine(l)
		l.Silence(drivers.Both)
		io.WriteString(session, "request")
		session.Close()
		if _, err := server.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the server sees %v, want the end", err)
		}
	})
}

// Data sent before a connection was closed arrives.
func TestClosedAfterRequest(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := new(faults.Link)
		l.Delay(time.Second)
		session, server := onLine(l)
		io.WriteString(session, "goodbye")
		session.Close()
		if got, err := io.ReadAll(server); string(got) != "goodbye" || err != nil {
			t.Errorf("%q arrived, %v", got, err)
		}
	})
}

// The server's close arrives after the delay, and does not arrive in silence.
func TestHungUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := new(faults.Link)
		session, server := onLine(l)
		defer session.Close()
		l.Delay(time.Second)
		l.Silence(drivers.Both)
		server.Close()
		session.SetReadDeadline(time.Now().Add(time.Hour))
		if _, err := session.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the session hears %v in silence", err)
		}
		session.SetReadDeadline(time.Time{})
		l.Silence(0)
		if _, err := session.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the session hears %v afterwards, want the end", err)
		}
	})
}

// Data held back by a throttle passes when the throttle is removed.
func TestMendedWhileUnderWay(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := new(faults.Link)
		session, server := onLine(l)
		defer server.Close()
		defer session.Close()
		l.Throttle(1)
		began := time.Now()
		time.AfterFunc(10*time.Second, l.Restore)
		go session.Write(make([]byte, 1<<20))
		if _, err := io.ReadFull(server, make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("it took %v, want 10 s and at most one more", took)
		}
	})
}

func TestCut(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l := new(faults.Link)
		session, server := onLine(l)
		l.Cut()
		if _, err := session.Read(make([]byte, 1)); err == nil {
			t.Error("the session's end lives on")
		}
		if _, err := server.Read(make([]byte, 1)); err == nil {
			t.Error("the server's end lives on")
		}
		next, far := onLine(l)
		defer next.Close()
		defer far.Close()
		if took := arrives(t, next, far, "again"); took != 0 {
			t.Errorf("the next connection took %v", took)
		}
	})
}
