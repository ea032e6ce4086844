package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/fourletter"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// The backlog of a client that sends requests and does not read replies is bounded.
func TestSlowReaderTakesBoundedMemory(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		slow := openRaw(t, s)
		set := wire.SetDataRequest{Path: "/", Data: make([]byte, 500_000), Version: -1}
		slow.wantReply(slow.ask(1, wire.OpSetData, set), 1, wire.OK)
		go func() {
			for i := range int32(100) {
				slow.Write(request(i, wire.OpGetData, wire.PathWatch{Path: "/"}))
			}
		}()
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.conns {
			if n := len(c.out.packets) + len(c.packets); n > 2*crowded+wire.MaxPacket {
				t.Errorf("%d bytes wait, want at most %d and one reply", n, 2*crowded)
			}
		}
	})
}

// The notifications that a client requests after a reconnect have no limit. Like replies, they only
// delay its next requests until it has read them.
func TestCatchingUpCutsNobodyOff(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := openRaw(t, newServer(t))
		var missed wire.SetWatchesRequest
		for i := range 40_000 {
			missed.Data = append(missed.Data, fmt.Sprint("/", i))
		}
		r.write(request(1, wire.OpSetWatches, missed))
		synctest.Wait()
		for i := range 40_000 {
			if e := r.read().event(); e.Path != missed.Data[i] {
				t.Fatalf("event %d is of %s", i, e.Path)
			}
		}
		r.wantReply(r.read(), 1, wire.OK)
	})
}

// One packet cannot request a reply that exceeds the server's memory.
func TestMultiReadIsBounded(t *testing.T) {
	s := New(Options{Tick: time.Minute}) // no session expires because it is slow
	t.Cleanup(s.Close)
	r, other := dialRaw(t, s), dialRaw(t, s)
	r.connect(wire.ConnectRequest{})
	other.connect(wire.ConnectRequest{})
	set := wire.SetDataRequest{Path: "/", Data: make([]byte, 1_000_000), Version: -1}
	other.wantReply(other.ask(1, wire.OpSetData, set), 1, wire.OK)
	var reads []byte
	for range maxMultiRead / 1_000_000 {
		reads = wire.MultiHeader{Type: wire.OpGetData, Err: -1}.Append(reads)
		reads = wire.PathWatch{Path: "/"}.Append(reads)
	}
	once := raws(wire.MultiEnd().Append(reads))
	r.wantReply(r.ask(1, wire.OpMultiRead, once), 1, wire.OK)
	r.write(request(2, wire.OpMultiRead, raws(append(reads, once...))))
	r.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(r); err != nil {
		t.Error(err)
	}
	other.wantReply(other.ask(2, wire.OpExists, wire.PathWatch{Path: "/"}), 2, wire.OK)
}

// raws are the bytes of a record.
type raws []byte

// Append appends the record to b.
func (r raws) Append(b []byte) []byte { return append(b, r...) }

func TestIdentitiesAreBounded(t *testing.T) {
	r := openRaw(t, newServer(t))
	for i := range maxIdentities - 1 { // besides the address identity
		r.authenticate(fmt.Sprint("user", i, ":p"))
	}
	r.wantReply(r.ask(1, wire.OpAuth, wire.AuthRequest{Scheme: "digest", Auth: []byte("one:more")}), 1, wire.ErrAuthFailed)
	r.wantEnd()
}

// TestIdentitiesAreBoundedTogether adds identities until their bytes are too many: every write carries them.
func TestIdentitiesAreBoundedTogether(t *testing.T) {
	r := openRaw(t, newServer(t))
	long := strings.Repeat("u", 20<<10)
	for i := range 3 {
		r.authenticate(fmt.Sprint(i, long, ":p"))
	}
	r.wantReply(r.ask(1, wire.OpAuth, wire.AuthRequest{Scheme: "digest", Auth: []byte(long + ":p")}), 1, wire.ErrAuthFailed)
	r.wantEnd()
}

// A session whose client disappears in the middle of a packet expires like any other.
func TestHalfAPacket(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		r := openRaw(t, s)
		r.write(request(1, wire.OpExists, wire.PathWatch{Path: "/"})[:10])
		time.Sleep(9 * time.Second)
		r.write([]byte{0}) // an incomplete packet does not renew the session
		time.Sleep(3 * time.Second)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.conns) != 0 || len(s.sessions) != 0 {
			t.Errorf("%d connections and %d sessions left", len(s.conns), len(s.sessions))
		}
	})
}

// A limited number of connections from one address are served; when one closes, another may
// connect.
func TestConnectionsOfAnAddressAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := New(Options{MaxPerHost: 2})
		t.Cleanup(s.Close)
		first, second := openRaw(t, s), openRaw(t, s)
		for range 100 {
			if _, err := s.Dial("", "", 0); !errors.Is(err, ErrTooMany) {
				t.Fatalf("got %v, want %v", err, ErrTooMany)
			}
		}
		second.Close()
		synctest.Wait()
		openRaw(t, s)
		first.wantReply(first.ask(1, wire.OpExists, wire.PathWatch{Path: "/"}), 1, wire.OK)
		if got := fourletter.Answer("conf", s.state()); !strings.Contains(got, "maxClientCnxns=2\n") {
			t.Errorf("conf: %s", got)
		}
	})
}

// A scarce listener fails to accept at first and then returns one connection.
type scarce struct {
	net.Listener // not set
	errs         []error
	conn         net.Conn
	closed       chan struct{}
}

func (l *scarce) Accept() (nc net.Conn, err error) {
	if len(l.errs) > 0 {
		err, l.errs = l.errs[0], l.errs[1:]
		return nil, err
	}
	if nc, l.conn = l.conn, nil; nc != nil {
		return nc, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *scarce) Close() error {
	close(l.closed)
	return nil
}

// A server survives a temporary lack of file descriptors.
func TestServeGoesOnWhenThereWereTooMany(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		l := &scarce{conn: conn, closed: make(chan struct{}), errs: []error{
			&net.OpError{Op: "accept", Err: syscall.EMFILE}, syscall.ENFILE, syscall.ECONNABORTED}}
		s := New(Options{})
		served := make(chan error)
		go func() { served <- s.Serve(l) }()
		r := &raw{t, client}
		if got := r.connect(wire.ConnectRequest{Timeout: 10_000}); got.SessionID == 0 {
			t.Error("no session")
		}
		s.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
