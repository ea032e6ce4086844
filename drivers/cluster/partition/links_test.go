package partition

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// three returns the links of three simulated members. A dialed connection arrives on the channel
// of its address. Everything ends with the test; otherwise the synctest bubble fails.
func three(t *testing.T) (*Links, map[string]chan net.Conn) {
	t.Helper()
	l, err := newLinks([][]string{{"a:1", "a:11"}, {"b:2"}, {"c:3"}})
	if err != nil {
		t.Fatal(err)
	}
	called := make(map[string]chan net.Conn)
	for _, h := range l.listeners {
		called[h.address] = make(chan net.Conn, 10)
	}
	l.dial = func(address string) (net.Conn, error) {
		near, far := net.Pipe()
		called[address] <- far
		return near, nil
	}
	t.Cleanup(l.Close)
	return l, called
}

// call makes a member's call to a port, up to its request.
func call(t *testing.T, l *Links, caller int, port byte) net.Conn {
	t.Helper()
	c, proxy := net.Pipe()
	l.going.Go(func() { l.join(caller, proxy) })
	say(t, c, 5, 2, 0, 2)
	hear(t, c, 5, 0)
	say(t, c, 5, 1, 0, 3, 4, 'h', 'o', 's', 't', 0, port)
	return c
}

// joined makes a call and returns both ends after the reply.
func joined(t *testing.T, l *Links, caller int, port byte, called <-chan net.Conn) (here, there net.Conn) {
	t.Helper()
	c := call(t, l, caller, port)
	hear(t, c, reply(granted)...)
	return c, <-called
}

func say(t *testing.T, c net.Conn, bytes ...byte) {
	t.Helper()
	if _, err := c.Write(bytes); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c net.Conn, want ...byte) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != string(want) {
		t.Fatalf("heard %v (%v), want %v", got, err, want)
	}
}

// silent checks that neither data nor the end of the connection arrives for an hour.
func silent(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(time.Hour))
	if n, err := c.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("heard %d bytes (%v), want nothing for an hour", n, err)
	}
	c.SetReadDeadline(time.Time{})
}

// Nothing passes between an isolated member and the others, in either direction, while the others
// stay connected. Afterwards all held-back data arrives.
func TestIsolate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, called := three(t)
		one, two := joined(t, l, 0, 2, called["b:2"])
		three, back := joined(t, l, 2, 11, called["a:11"])
		other, same := joined(t, l, 1, 3, called["c:3"])
		if !l.Isolate(0, drivers.Both) || l.Isolate(0, drivers.Both) {
			t.Error("isolated not at all, or twice")
		}
		say(t, one, 'a')
		say(t, back, 'b')
		silent(t, two)
		silent(t, three)
		say(t, other, 'c')
		hear(t, same, 'c')
		l.Restore(0)
		hear(t, two, 'a')
		hear(t, three, 'b')
		say(t, two, 'd')
		hear(t, one, 'd')
	})
}

// What a member isolated in one direction sends does not pass, or what it receives, whoever opened the connection. New
// connections wait.
func TestIsolateInOneDirection(t *testing.T) {
	for _, d := range []drivers.Direction{drivers.Out, drivers.In} {
		bubble.Test(t, func(t *testing.T) {
			l, called := three(t)
			one, two := joined(t, l, 0, 2, called["b:2"])      // the member calls
			back, three := joined(t, l, 2, 11, called["a:11"]) // the member is called
			l.Isolate(0, d)
			for _, c := range []struct{ own, other net.Conn }{{one, two}, {three, back}} {
				from, to := c.own, c.other
				if d == drivers.In {
					from, to = to, from
				}
				say(t, from, 'a')
				silent(t, to)
				say(t, to, 'b')
				hear(t, from, 'b')
			}
			waiting := call(t, l, 1, 1)
			silent(t, waiting)
			if d == drivers.Out {
				l.Isolate(1, drivers.In) // the same direction between the two
				l.Restore(0)
				silent(t, two)
				l.Restore(1)
				hear(t, two, 'a')
			}
		})
	}
}

// During isolation a caller gets no answer and no callee is dialed; both happen afterwards.
func TestCallsInIsolation(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, called := three(t)
		l.Isolate(1, drivers.Both)
		from, to := call(t, l, 1, 1), call(t, l, 2, 2)
		silent(t, from)
		silent(t, to)
		if n := len(called["a:1"]) + len(called["b:2"]); n != 0 {
			t.Errorf("%d were called", n)
		}
		l.Restore(1)
		hear(t, from, reply(granted)...)
		hear(t, to, reply(granted)...)
	})
}

// The end of a connection does not pass during isolation.
func TestEndsInIsolation(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, called := three(t)
		one, two := joined(t, l, 0, 2, called["b:2"])
		l.Isolate(1, drivers.Both)
		one.Close()
		silent(t, two)
		l.Restore(1)
		if _, err := two.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("heard %v, want the end", err)
		}
	})
}

// Of two isolated members, one that is restored still does not reach the other.
func TestTwoIsolated(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, called := three(t)
		one, two := joined(t, l, 0, 2, called["b:2"])
		three, again := joined(t, l, 2, 1, called["a:1"])
		l.Isolate(0, drivers.Both)
		l.Isolate(1, drivers.Both)
		l.Restore(0)
		say(t, one, 'a')
		silent(t, two)
		say(t, three, 'b')
		hear(t, again, 'b')
		l.Restore(1)
		hear(t, two, 'a')
	})
}

// arrives returns how long a byte takes from one end to the other.
func arrives(t *testing.T, from, to net.Conn) time.Duration {
	t.Helper()
	began := time.Now()
	say(t, from, 'x')
	hear(t, to, 'x')
	return time.Since(began)
}

// Between a slow member and the others all traffic is delayed and throttled, including new
// connections; the same holds between two slow members.
func TestSlowLines(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, called := three(t)
		one, two := joined(t, l, 0, 2, called["b:2"])
		other, same := joined(t, l, 1, 3, called["c:3"])
		check := func(when string, from, to net.Conn, want time.Duration) {
			t.Helper()
			if up, down := arrives(t, from, to), arrives(t, to, from); up != want || down != want {
				t.Errorf("%s: there in %v, back in %v, want %v", when, up, down, want)
			}
		}
		l.Delay(0, 50*time.Millisecond)
		check("one is late", one, two, 50*time.Millisecond)
		check("the others are not", other, same, 0)
		began := time.Now()
		joined(t, l, 2, 1, called["a:1"])
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("a call took %v, want 100 ms", took)
		}
		l.Delay(1, 20*time.Millisecond)
		check("both are late", one, two, 70*time.Millisecond)
		l.Restore(0)
		check("the other is late", one, two, 20*time.Millisecond)
		l.Throttle(0, 4)
		check("narrow as well", one, two, 270*time.Millisecond)
		l.Throttle(1, 2)
		check("the other is narrower", one, two, 520*time.Millisecond)
		l.Restore(1)
		l.Restore(0)
		check("restored", one, two, 0)
	})
}

// Data that is delayed or throttled for hours does not block Close.
func TestCloseWhileSlow(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, called := three(t)
		one, _ := joined(t, l, 0, 2, called["b:2"])
		two, _ := joined(t, l, 1, 3, called["c:3"])
		l.Delay(0, 10*time.Hour)
		l.Throttle(2, 1)
		say(t, one, 'a')
		go two.Write(make([]byte, 1<<20))
		call(t, l, 2, 1)
		began := time.Now()
		l.Close()
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v, want no time", took)
		}
	})
}

// Data held back by isolation does not block Close; otherwise the synctest bubble fails.
func TestCloseInIsolation(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, called := three(t)
		one, two := joined(t, l, 0, 2, called["b:2"])
		l.Isolate(0, drivers.Both)
		say(t, one, 'a')
		waiting := call(t, l, 2, 1)
		l.Close()
		for name, c := range map[string]net.Conn{"the caller": one, "the called": two, "who waits": waiting} {
			if _, err := c.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("%s heard %v, want the end", name, err)
			}
		}
	})
}

// The proxy refuses connections to ports that are not the members', and clients that do not speak
// SOCKS5.
func TestStrangers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, _ := three(t)
		hear(t, call(t, l, 0, 99), reply(forbidden)...)
		for _, said := range [][]byte{{4, 0}, {5, 0, 5, 2, 0, 1}, {5, 0, 5, 1, 0, 2}} {
			c, proxy := net.Pipe()
			l.going.Go(func() { l.join(0, proxy) })
			l.going.Go(func() { c.Write(said) })
			rest, err := io.ReadAll(c)
			if err != nil || len(rest) > 2 {
				t.Errorf("said %v, heard %v (%v), want the end", said, rest, err)
			}
		}
		if _, err := newLinks([][]string{{"a:1"}, {"b:1"}}); err == nil || err.Error() != "members 0 and 1 listen at port 1: want a port each" {
			t.Errorf("two at one port: %v", err)
		}
	})
}
