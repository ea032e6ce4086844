package proxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A record is an Observer that writes down everything that it gets.
type record struct {
	before func() // called before each message
	mu     sync.Mutex
	all    []*recorded
	missed traffic.Coverage // all that was not decoded
}

// recorded is one connection of a record.
type recorded struct {
	*record
	traffic.Connection
	session  traffic.Session
	owner    traffic.Process
	messages []string
	gap      int64
	members  []string
	closed   bool
}

// Missed reports what no connection reports.
func (r *record) Missed(u traffic.Undecoded) { r.missed.Add(u) }

func (t *recorded) Gap(_ time.Time, bytes int64, cause traffic.Cause) {
	t.gap += bytes
	t.missed.Add(traffic.Undecoded{Cause: cause, Bytes: bytes})
}

func (r *record) Open(c traffic.Connection) traffic.Tap {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &recorded{record: r, Connection: c}
	r.all = append(r.all, t)
	return t
}

func (t *recorded) Session(_ time.Time, s traffic.Session) { t.session = s }
func (t *recorded) Members(_ time.Time, all []string)      { t.members = append(t.members, all...) }
func (t *recorded) Lease(time.Time, int64)                 {}
func (t *recorded) Owner(p traffic.Process)                { t.owner = p }
func (t *recorded) Close(time.Time)                        { t.closed = true }
func (t *recorded) Message(_ time.Time, m drivers.Message) {
	if t.before != nil {
		t.before()
	}
	t.messages = append(t.messages, text(m))
}

// text is a message as one line; a digest differs between connections.
func text(m drivers.Message) string {
	return fmt.Sprintf("%d %s %s watch=%v mode=%d event=%d err=%v pos=%d size=%d",
		m.Kind, m.Op, m.Path, m.Watch, m.Mode, m.Event, m.Err, m.Pos, m.Size)
}

// in puts a proxy in front of a server.
func in(t testing.TB, address string, o Options) *Proxy {
	t.Helper()
	o.Protocol = traffic.ZooKeeper()
	if o.Observer == nil {
		o.Observer = new(record)
	}
	p, err := Listen([]string{"127.0.0.1:0"}, []Server{{Address: address}}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// serving runs a function for each connection to a server, and returns the server's address.
func serving(t testing.TB, serve func(*net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var going sync.WaitGroup
	t.Cleanup(func() { l.Close(); going.Wait() })
	going.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				return
			}
			going.Go(func() { defer c.Close(); serve(c.(*net.TCPConn)) })
		}
	})
	return l.Addr().String()
}

func dial(t testing.TB, p *Proxy) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// TestPassesBytesUnchanged sends random bytes, which are no packets, both ways.
func TestPassesBytesUnchanged(t *testing.T) {
	p := in(t, serving(t, func(c *net.TCPConn) { io.Copy(c, c); c.CloseWrite() }), Options{})
	sent := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{1}).Read(sent)
	c := dial(t, p)
	go func() { c.Write(sent); c.CloseWrite() }()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("got %d bytes (%v) that are not the %d sent", len(got), err, len(sent))
	}
}

// TestHalfOpen ends the client's direction; the server must see that and can still answer.
func TestHalfOpen(t *testing.T) {
	p := in(t, serving(t, func(c *net.TCPConn) {
		got, _ := io.ReadAll(c)
		c.Write(append(got, " was all"...))
	}), Options{})
	c := dial(t, p)
	c.Write([]byte("this"))
	c.CloseWrite()
	if got, err := io.ReadAll(c); err != nil || string(got) != "this was all" {
		t.Errorf("got %q (%v), want the answer to an ended request", got, err)
	}
}

// TestResets resets one side; the other must see a reset and no ordinary end.
func TestResets(t *testing.T) {
	t.Run("by the server", func(t *testing.T) {
		p := in(t, serving(t, func(c *net.TCPConn) { io.ReadFull(c, make([]byte, 1)); c.SetLinger(0) }), Options{})
		c := dial(t, p)
		c.Write([]byte("a"))
		if _, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the client's read ended with %v, want %v", err, syscall.ECONNRESET)
		}
	})
	t.Run("by the client", func(t *testing.T) {
		ended := make(chan error, 1)
		p := in(t, serving(t, func(c *net.TCPConn) { c.Write([]byte("a")); _, err := io.ReadAll(c); ended <- err }), Options{})
		c := dial(t, p)
		io.ReadFull(c, make([]byte, 1))
		c.SetLinger(0)
		c.Close()
		if err := <-ended; !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the server's read ended with %v, want %v", err, syscall.ECONNRESET)
		}
	})
	t.Run("by a server that is down", func(t *testing.T) {
		c, err := net.Dial("tcp", in(t, testenv.Address(t), Options{}).Addresses()[0])
		if err == nil { // else the reset was faster
			_, err = io.ReadAll(c)
			c.Close()
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the client's connection ended with %v, want %v", err, syscall.ECONNRESET)
		}
	})
}

// TestServerEndsFirst ends the server's direction; the client must see that, and what it sends then must arrive.
func TestServerEndsFirst(t *testing.T) {
	arrived := make(chan string, 1)
	p := in(t, serving(t, func(c *net.TCPConn) {
		c.Write([]byte("no more"))
		c.CloseWrite()
		got, _ := io.ReadAll(c)
		arrived <- string(got)
	}), Options{})
	c := dial(t, p)
	if got, err := io.ReadAll(c); err != nil || string(got) != "no more" {
		t.Errorf("got %q (%v), want all that the server sent", got, err)
	}
	c.Write([]byte("this still"))
	c.CloseWrite()
	if got := <-arrived; got != "this still" {
		t.Errorf("the server got %q after it had ended its direction, want %q", got, "this still")
	}
}

// inFlight is how many bytes can be on their way through a proxy to a reader that reads nothing: what the four sockets
// hold at most, and the proxy's buffer.
func inFlight(t *testing.T) int {
	sum := 2 * bufferSize
	for _, side := range []string{"rmem", "wmem"} {
		limits, err := os.ReadFile("/proc/sys/net/ipv4/tcp_" + side)
		if err != nil {
			backendtest.Lacking(t, fmt.Errorf("this system does not say how much a socket holds: %w", err))
		}
		var least, usual, most int
		if _, err := fmt.Sscan(string(limits), &least, &usual, &most); err != nil {
			t.Fatal(err)
		}
		sum += 2 * most
	}
	return sum
}

// TestSlowReader lets one side read nothing. The other must be held up before it has sent more than the sockets and
// the proxy's buffer hold, and what it has sent must arrive in the end.
func TestSlowReader(t *testing.T) {
	most := inFlight(t)
	send := func(c *net.TCPConn, heldUp chan<- int) {
		c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)) // a sender that is only slow sends less
		n, err := c.Write(make([]byte, 2*most))
		if n > most || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d bytes were taken in (%v) though nothing is read, want at most %d", n, err, most)
		}
		c.CloseWrite()
		heldUp <- n
	}
	receive := func(c *net.TCPConn, heldUp <-chan int) {
		want := <-heldUp
		if n, err := io.Copy(io.Discard, c); n != int64(want) || err != nil {
			t.Errorf("%d bytes arrived (%v), want the %d that were sent", n, err, want)
		}
	}
	for _, slow := range []string{"server", "client"} {
		t.Run(slow, func(t *testing.T) {
			heldUp, ended := make(chan int, 1), make(chan struct{})
			p := in(t, serving(t, func(c *net.TCPConn) {
				defer close(ended)
				if slow == "server" {
					receive(c, heldUp)
				} else {
					send(c, heldUp)
				}
			}), Options{})
			c := dial(t, p)
			if slow == "server" {
				send(c, heldUp)
			} else {
				receive(c, heldUp)
			}
			<-ended
		})
	}
}

// TestLateAnalysis holds the analysis while more requests pass than its queue holds. All must be
// answered, what was dropped must be counted, and decoding must resume.
func TestLateAnalysis(t *testing.T) {
	hold := make(chan struct{})
	r := &record{before: func() { <-hold }}
	p := in(t, backendtest.Native(t, server.Options{}), Options{Observer: r, Queue: 4 << 10})
	c := connect(t, p.Addresses()[0], nil)
	for i := range 100 {
		if _, _, err := c.Exists(t.Context(), fmt.Sprint("/n", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	close(hold)
	p.Flush()
	if _, _, err := c.Exists(t.Context(), "/after", nil); err != nil {
		t.Fatal(err)
	}
	c.Close()
	p.Close()
	got := r.all[0]
	if dropped := p.Stats().Dropped; dropped == 0 || got.gap != dropped {
		t.Errorf("the observer was told of %d lost bytes, and %d were dropped: want the same, above 0", got.gap, dropped)
	}
	if !strings.Contains(strings.Join(got.messages, "\n"), "2 exists /after") {
		t.Errorf("the reply for /after was not decoded; the last messages: %v", got.messages[max(0, len(got.messages)-4):])
	}
}

// TestLateAnalysisOfConnections holds the analysis while more connections are opened and closed than its
// queue holds. Each is reported, with the bytes that were dropped.
func TestLateAnalysisOfConnections(t *testing.T) {
	hold := make(chan struct{})
	r := &record{before: func() { <-hold }}
	p := in(t, backendtest.Native(t, server.Options{}), Options{Observer: r, Queue: 4 << 10})
	const connections = 50
	for range connections {
		c := connect(t, p.Addresses()[0], nil)
		if _, _, err := c.Exists(t.Context(), "/", nil); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	close(hold)
	p.Close()
	dropped := p.Stats().Dropped
	missed := r.missed.List()
	if dropped == 0 || len(r.all) != connections {
		t.Errorf("%d connections and %d bytes dropped; want %d and some", len(r.all), dropped, connections)
	}
	if len(missed) == 0 || missed[0].Cause != traffic.Late || missed[0].Bytes != dropped {
		t.Errorf("%+v not decoded; want the %d bytes that were dropped, as late", missed, dropped)
	}
}

// TestMembersOfTheProxyAreNone tells clients of addresses: those of the proxy bypass nothing.
func TestMembersOfTheProxyAreNone(t *testing.T) {
	for listen, own := range map[string]bool{"127.0.0.1:0": true, "0.0.0.0:0": true, "[::1]:0": false} {
		o := Options{Protocol: traffic.ZooKeeper(), Observer: new(record)}
		p, err := Listen([]string{listen}, []Server{{Address: "127.0.0.1:1"}}, o)
		if err != nil {
			t.Logf("%s: %v", listen, err)
			continue
		}
		_, port, _ := net.SplitHostPort(p.Addresses()[0])
		got := new(recorded)
		memberTap{got, p.listensAt}.Members(time.Now(), []string{
			"127.0.0.1:" + port, "localhost:" + port, "192.0.2.1:" + port, "127.0.0.1:1", "zk1:" + port, "zk1",
		})
		want := []string{"192.0.2.1:" + port, "127.0.0.1:1", "zk1:" + port, "zk1"}
		if !own {
			want = append([]string{"127.0.0.1:" + port}, want...)
		}
		if !slices.Equal(got.members, want) {
			t.Errorf("%s: bypassed by %q, want %q", listen, got.members, want)
		}
		p.Close()
	}
}

// TestPanicOfTheAnalysis lets the observer panic once. The client must not notice, and the analysis
// of another connection must continue.
func TestPanicOfTheAnalysis(t *testing.T) {
	r := new(record)
	planted := sync.OnceFunc(func() { r.before = nil; panic("planted") })
	r.before = planted
	p := in(t, backendtest.Native(t, server.Options{}), Options{Observer: r})
	for range 2 {
		c := connect(t, p.Addresses()[0], nil)
		for range 10 {
			if _, _, err := c.Exists(t.Context(), "/", nil); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
		p.Flush()
	}
	p.Close()
	s := p.Stats()
	if s.Failed != 1 || s.Failure == nil || !strings.Contains(s.Failure.Error(), "planted") || s.Dropped == 0 {
		t.Errorf("stats are %+v, want one failed connection, its panic, and the bytes that were not analysed", s)
	}
	if n := len(r.all[1].messages); n < 22 {
		t.Errorf("%d messages of the other connection were analysed, want all, 22 or more", n)
	}
}

// TestBurst holds the analysis while 20,000 requests and replies pass. All must be analysed later: so
// many notifications can come at the same time.
func TestBurst(t *testing.T) {
	hold := make(chan struct{})
	r := &record{before: func() { <-hold }}
	p := in(t, backendtest.Native(t, server.Options{}), Options{Observer: r})
	c := connect(t, p.Addresses()[0], nil).(drivers.Pipeliner)
	const n = 20_000
	pending := make([]drivers.Pending, n)
	for i := range pending {
		pending[i] = c.Begin(t.Context(), drivers.Call{Op: drivers.OpGet, Path: "/"})
	}
	for i := range pending {
		if a := pending[i].Await(t.Context()); a.Err != nil {
			t.Fatal(a.Err)
		}
	}
	close(hold)
	p.Close()
	got := strings.Count(strings.Join(r.all[0].messages, "\n"), " get ")
	if dropped := p.Stats().Dropped; dropped > 0 || got != 2*n {
		t.Errorf("%d bytes were dropped and %d messages analysed, want none and %d", dropped, got, 2*n)
	}
}

// TestAddresses checks where a proxy of several servers listens.
func TestAddresses(t *testing.T) {
	for _, tc := range []struct{ given, want string }{
		{"127.0.0.1:2181", "127.0.0.1:2181 127.0.0.1:2182 127.0.0.1:2183"},
		{"127.0.0.1:0", "127.0.0.1:0 127.0.0.1:0 127.0.0.1:0"},
		{"a:1 b:2 c:3", "a:1 b:2 c:3"},
	} {
		got, err := Spread(strings.Fields(tc.given), 3)
		if err != nil || strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %v, %v, want %s", tc.given, got, err, tc.want)
		}
	}
	for _, bad := range []string{"a:1 b:2", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:65534"} {
		if got, err := Spread(strings.Fields(bad), 3); err == nil {
			t.Errorf("%s: got %v, want an error", bad, got)
		}
	}
}

// TestTLSOnEitherSide connects with and without TLS to proxies that connect with and without TLS to a server, which
// echoes what it gets. A client that closes at once must end the connection to the server, too.
func TestTLSOnEitherSide(t *testing.T) {
	own, client := certified(t)
	plain := serving(t, func(c *net.TCPConn) { io.Copy(c, c); c.CloseWrite() })
	secure := serving(t, func(c *net.TCPConn) {
		s := tls.Server(c, own)
		io.Copy(s, s)
		s.CloseWrite()
	})
	for _, test := range []struct {
		name   string
		server Server
		before *tls.Config // of the proxy for its clients
	}{
		{name: "none", server: Server{Address: plain}},
		{name: "before the proxy", server: Server{Address: plain}, before: own},
		{name: "behind the proxy", server: Server{secure, client}},
		{name: "both", server: Server{secure, client}, before: own},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := Listen([]string{"127.0.0.1:0"}, []Server{test.server}, Options{TLS: test.before, Protocol: traffic.ZooKeeper(), Observer: new(record)})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			for _, sent := range []string{"hello", ""} {
				var c interface {
					io.ReadWriter
					CloseWrite() error
				} = dial(t, p)
				if test.before != nil {
					s := tls.Client(dial(t, p), client)
					if err := s.Handshake(); err != nil {
						t.Fatal(err)
					}
					c = s
				}
				if sent != "" {
					io.WriteString(c, sent)
				}
				c.CloseWrite()
				if got, err := io.ReadAll(c); err != nil || string(got) != sent {
					t.Errorf("got %q (%v), want %q", got, err, sent)
				}
			}
		})
	}
}

// TestManyConnections holds many sessions open through one proxy. Their clients and their server are
// in a process of their own, since the proxy alone takes two descriptors for each.
func TestManyConnections(t *testing.T) {
	n := 5000
	if testing.Short() {
		n = 200
	}
	if os.Getenv(ends) != "" {
		bothEnds(t, n)
		return
	}
	other := exec.Command(os.Args[0], "-test.run=^TestManyConnections$", "-test.short="+strconv.FormatBool(testing.Short()))
	other.Env = append(os.Environ(), ends+"=yes")
	other.Stderr = os.Stderr
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); other.Wait() })
	lines := bufio.NewScanner(out)
	lines.Scan()
	p, err := Listen([]string{"127.0.0.1:0"}, []Server{{Address: lines.Text()}}, Options{Protocol: traffic.ZooKeeper(), Observer: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	fmt.Fprintln(in, p.Addresses()[0])
	if lines.Scan(); lines.Text() != "all open" {
		t.Fatalf("the other process wrote %q, want that all connections are open", lines.Text())
	}
	if got := p.Stats().Connections; got != uint64(n) {
		t.Errorf("%d connections were accepted, want %d", got, n)
	}
}

// echo sends back what it receives, through a buffer: io.Copy between two sockets takes a pipe for each
// copy in progress, and so twice the descriptors.
func echo(c *net.TCPConn) {
	buffer := make([]byte, 512)
	for {
		n, err := c.Read(buffer)
		if n > 0 {
			c.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// ends is the environment variable that makes the test's process the two ends of the connections.
const ends = "STAMPEDE_TEST_BOTH_ENDS"

// bothEnds serves an echo, whose address it prints, reads the proxy's address, opens n connections
// there, each of which must echo a byte while all are open, and holds them until its input ends.
func bothEnds(t *testing.T, n int) {
	fmt.Println(serving(t, echo))
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	conns := make([]net.Conn, n)
	for i := range conns {
		c, err := net.Dial("tcp", lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		conns[i] = c
	}
	for i, c := range conns {
		c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	fmt.Println("all open")
	lines.Scan()
}
