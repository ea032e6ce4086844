package server

import (
	"bytes"
	"errors"
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/wal"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// onDisk returns a server on a directory, and a function that ends it so that another server can
// use the directory.
func onDisk(t *testing.T, dir string) (s *Server, j *wal.Journal, end func()) {
	t.Helper()
	j, err := wal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s = New(Options{Journal: j})
	end = func() {
		s.Close()
		j.Close()
	}
	t.Cleanup(end)
	return s, j, end
}

// A client that reconnects to a restarted server keeps its session, ephemeral nodes and stats. A
// wrong password gets no session.
func TestSessionOutlivesTheServer(t *testing.T) {
	dir := t.TempDir()
	s, _, end := onDisk(t, dir)
	r := dialRaw(t, s)
	mine := r.connect(wire.ConnectRequest{Timeout: 10_000})
	r.wantReply(r.ask(1, wire.OpCreate, open("/e", wire.FlagEphemeral)), 1, wire.OK)
	before := r.ask(2, wire.OpGetData, wire.PathWatch{Path: "/e"})
	end()

	s, _, _ = onDisk(t, dir)
	back := dialRaw(t, s)
	again := back.connect(wire.ConnectRequest{LastZxid: before.Zxid, Timeout: 10_000, SessionID: mine.SessionID, Password: mine.Password})
	if again.SessionID != mine.SessionID || !bytes.Equal(again.Password, mine.Password) {
		t.Fatalf("session %#x, want %#x again", again.SessionID, mine.SessionID)
	}
	after := back.ask(2, wire.OpGetData, wire.PathWatch{Path: "/e"})
	if after.Zxid != before.Zxid || !bytes.Equal(after.body.Rest(), before.body.Rest()) {
		t.Errorf("zxid %d and %x, want %d and %x", after.Zxid, after.body.Rest(), before.Zxid, before.body.Rest())
	}
	wrong := dialRaw(t, s).connect(wire.ConnectRequest{Timeout: 10_000, SessionID: mine.SessionID, Password: make([]byte, wire.PasswordSize)})
	if wrong.SessionID != 0 {
		t.Error("a wrong password got the session")
	}
	if other := dialRaw(t, s).connect(wire.ConnectRequest{Timeout: 10_000}); other.SessionID <= mine.SessionID {
		t.Errorf("a new session has the id %#x, not one after %#x", other.SessionID, mine.SessionID)
	}
}

// A packet is sent only after the state that it shows is on disk, and never if the write fails.
func TestOutboxAwaitsTheDisk(t *testing.T) {
	o := newOutbox()
	o.add([]byte("one"), 0, 7)
	o.add([]byte(" two"), 0, 9)
	var sent bytes.Buffer
	awaited := 0
	o.sendTo(&sent, func(zxid int64) error {
		awaited++
		switch {
		case awaited == 1 && zxid == 9 && sent.Len() == 0:
			o.add([]byte("three"), 0, 12) // queued while the first packets wait
			return nil
		case awaited == 2 && zxid == 12 && sent.String() == "one two":
			return errors.New("disk full")
		}
		t.Errorf("awaits zxid %d for the %d. time, having sent %q", zxid, awaited, &sent)
		return nil
	})
	if awaited != 2 || sent.String() != "one two" {
		t.Errorf("awaited %d times and sent %q, want 2 and the first two", awaited, &sent)
	}
}

// When the disk fails, the server answers no write, ends and returns the error.
func TestServerEndsWithItsJournal(t *testing.T) {
	s, j, _ := onDisk(t, t.TempDir())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	r := openRaw(t, s)
	j.Close()
	r.Write(request(1, wire.OpCreate, open("/lost", 0)))
	r.wantEnd()
	if err := <-served; !errors.Is(err, wal.ErrClosed) {
		t.Errorf("Serve returned %v, want %v", err, wal.ErrClosed)
	}
}
