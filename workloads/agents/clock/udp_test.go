package clock

import (
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// listen returns a socket on loopback that is closed after the test.
func listen(t *testing.T) net.PacketConn {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// serve serves the coordinator's clock, and returns the address. The server must end without an error.
func serve(t *testing.T, now func() CoordinatorMoment) string {
	t.Helper()
	conn := listen(t)
	ended := make(chan error, 1)
	go func() { ended <- Serve(conn, testKey, now) }()
	t.Cleanup(func() {
		_ = conn.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return conn.LocalAddr().String()
}

var testKey = Key{1, 2, 3}

func dial(t *testing.T, address string, now func() Moment) *Client {
	t.Helper()
	c, err := Dial(t.Context(), address, testKey, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestLoopback estimates a clock that is five hours and a drift off that of the coordinator, by real packets.
// Both are made from one real clock, so the truth is known.
func TestLoopback(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, rate := range []PPM{150, -150} {
		machine := StartClock()
		const apart = 5 * hour
		// The coordinator's clock is the real one; its rate against the agent's is 1+rate.
		toAgent := func(at float64) float64 { return at/(1+float64(rate)*1e-6) + apart }
		address := serve(t, machine.CoordinatorNow)
		c := dial(t, address, func() Moment {
			return MomentAt(time.Duration(toAgent(float64(readingNow(machine)().SinceStart()))))
		})

		e := estimator(t, 200)
		var all []Exchange
		for range 500 {
			x, err := c.Exchange(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Add(x); err != nil {
				t.Fatal(err)
			}
			all = append(all, x)
		}
		for at := float64(0); at < 10*second; at += second / 10 {
			m := MomentAt(time.Duration(toAgent(at)))
			o, err := e.Offset(m)
			if err != nil {
				t.Fatal(err)
			}
			if truth := at - toAgent(at); math.Abs(float64(o.Value)-truth) > float64(o.Error)+rounded {
				t.Errorf("%v ppm, at %v: %+v, want %v", rate, m, o, truth)
			}
			if limit := promised(all, m, 200); float64(o.Error) > limit+rounded {
				t.Errorf("%v ppm, at %v: ±%v, want ±%v ns at most", rate, m, o.Error, limit)
			}
		}
	}
}

// answerer is a coordinator that a test writes.
type answerer struct {
	t    *testing.T
	conn net.PacketConn
}

// receive returns the next request and its sender.
func (a answerer) receive() (frame, net.Addr) {
	var b [100]byte
	n, from, err := a.conn.ReadFrom(b[:])
	if err != nil {
		a.t.Error(err)
		return frame{}, nil
	}
	f, err := testKey.open(b[:n])
	if err != nil || f.kind != request {
		a.t.Errorf("received %q, want a request", b[:n])
	}
	return f, from
}

func (a answerer) send(to net.Addr, b []byte) {
	if _, err := a.conn.WriteTo(b, to); err != nil {
		a.t.Error(err)
	}
}

// readingNow returns a function that returns the present moment of the clock.
func readingNow(c Clock) func() Moment { return func() Moment { return c.Reading(time.Now()) } }

// TestOtherPacketsAreNoAnswer sends what is no answer to the request before the answer.
func TestOtherPacketsAreNoAnswer(t *testing.T) {
	server := answerer{t, listen(t)}
	c := dial(t, server.conn.LocalAddr().String(), readingNow(StartClock()))
	go func() {
		f, from := server.receive()
		late := testKey.seal(frame{answer, f.nonce + 1, coordinatorMoment(1), coordinatorMoment(1)})
		echoed := testKey.seal(f)
		forged := Key{}.seal(frame{answer, f.nonce, coordinatorMoment(2), coordinatorMoment(3)})
		right := testKey.seal(frame{answer, f.nonce, coordinatorMoment(20), coordinatorMoment(30)})
		server.send(from, nil)
		server.send(from, []byte("junk"))
		server.send(from, late)
		server.send(from, echoed)
		server.send(from, forged)
		server.send(from, append(slices.Clone(right), 0))
		server.send(from, right)
	}()
	x, err := c.Exchange(t.Context())
	if err != nil || x.Received != coordinatorMoment(20) || x.Answered != coordinatorMoment(30) {
		t.Errorf("got %+v, %v; want the timestamps 20 and 30 of the right answer", x, err)
	}
}

// TestALostAnswerIsAnError cancels an exchange that gets no answer, and does another one, which ignores the
// late answer.
func TestALostAnswerIsAnError(t *testing.T) {
	server := answerer{t, listen(t)}
	c := dial(t, server.conn.LocalAddr().String(), readingNow(StartClock()))
	ctx, cancel := context.WithCancel(t.Context())
	late := make(chan frame, 1)
	go func() {
		f, _ := server.receive()
		late <- f
		cancel()
	}()
	if x, err := c.Exchange(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %+v, %v; want context.Canceled", x, err)
	}
	go func() {
		f, from := server.receive()
		first := testKey.seal(frame{answer, (<-late).nonce, coordinatorMoment(1), coordinatorMoment(1)})
		second := testKey.seal(frame{answer, f.nonce, coordinatorMoment(5), coordinatorMoment(6)})
		server.send(from, first)
		server.send(from, second)
	}()
	if x, err := c.Exchange(t.Context()); err != nil || x.Received != coordinatorMoment(5) {
		t.Errorf("got %+v, %v; want the second answer", x, err)
	}
}

// TestAnExchangeIsBoundedInTime has a coordinator that never answers, and a context without an end.
func TestAnExchangeIsBoundedInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a second")
	}
	c := dial(t, listen(t).LocalAddr().String(), readingNow(StartClock()))
	if x, err := c.Exchange(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %+v, %v; want context.DeadlineExceeded", x, err)
	}
}

// TestServeIgnoresOtherPackets sends a server junk, and then a request.
func TestServeIgnoresOtherPackets(t *testing.T) {
	address := serve(t, func() CoordinatorMoment { return coordinatorMoment(42) })
	conn, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	reply, ask := testKey.seal(frame{kind: answer, nonce: 1}), testKey.seal(frame{kind: request, nonce: 9})
	forged := Key{}.seal(frame{kind: request, nonce: 8})
	for _, b := range [][]byte{nil, []byte("junk"), reply, forged, append(slices.Clone(ask), 0), ask} {
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	var b [100]byte
	n, err := conn.Read(b[:])
	if err != nil {
		t.Fatal(err)
	}
	want := frame{answer, 9, coordinatorMoment(42), coordinatorMoment(42)}
	if f, err := testKey.open(b[:n]); f != want || err != nil {
		t.Errorf("the first answer is %+v, %v; want %+v", f, err, want)
	}
}
