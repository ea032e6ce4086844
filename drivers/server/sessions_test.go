package server

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

func TestTimeoutIsClamped(t *testing.T) {
	s := New(Options{Tick: time.Second})
	t.Cleanup(s.Close)
	for asked, want := range map[int32]int32{-1: 2000, 0: 2000, 100: 2000, 5000: 5000, 1 << 30: 20_000} {
		if got := dialRaw(t, s).connect(wire.ConnectRequest{Timeout: asked}).Timeout; got != want {
			t.Errorf("asked for %d, granted %d, want %d", asked, got, want)
		}
	}
}

// An idle session expires on the tick after its timeout, and its ephemeral nodes and connection end
// with it.
func TestSilentSessionExpires(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newServer(t)
		time.Sleep(time.Second) // half a tick
		silent, other := openRaw(t, s), openRaw(t, s)
		silent.wantReply(silent.ask(1, wire.OpCreate, open("/e", wire.FlagEphemeral)), 1, wire.OK)
		opened := time.Now()

		other.wantReply(other.ask(1, wire.OpExists, wire.PathWatch{Path: "/e", Watch: true}), 1, wire.OK)
		go func() { // keeps the other session alive
			for range 3 {
				time.Sleep(3 * time.Second)
				other.Write(request(wire.XidPing, wire.OpPing, nil))
			}
		}()
		p := other.read()
		for p.Xid == wire.XidPing {
			p = other.read()
		}
		if e := p.event(); p.Xid != wire.XidNotification || e.Type != wire.EventDeleted {
			t.Errorf("got xid %d, %+v; want the deletion", p.Xid, e)
		}
		if lived, want := time.Since(opened), 11*time.Second; lived != want {
			t.Errorf("expired after %v, want %v: 10 s and the rest of the tick", lived, want)
		}
		silent.wantEnd()
	})
}

func TestPingKeepsASessionAlive(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := openRaw(t, newServer(t))
		for range 10 {
			time.Sleep(9 * time.Second)
			r.wantReply(r.ask(wire.XidPing, wire.OpPing, nil), wire.XidPing, wire.OK)
		}
	})
}

func TestSessionMovesToANewConnection(t *testing.T) {
	s := newServer(t)
	first := dialRaw(t, s)
	a := first.connect(wire.ConnectRequest{Timeout: 10_000})
	first.wantReply(first.ask(1, wire.OpCreate, open("/e", wire.FlagEphemeral)), 1, wire.OK)
	first.ask(2, wire.OpGetData, wire.PathWatch{Path: "/e", Watch: true})

	second := dialRaw(t, s)
	b := second.connect(wire.ConnectRequest{Timeout: 8_000, SessionID: a.SessionID, Password: a.Password})
	if b.SessionID != a.SessionID || b.Timeout != 8_000 || !bytes.Equal(b.Password, a.Password) {
		t.Errorf("resumed as %+v, was %+v", b, a)
	}
	first.wantEnd()
	// The watch was dropped with the connection, so the next packet is the reply.
	second.wantReply(second.ask(1, wire.OpDelete, wire.PathVersion{Path: "/e", Version: 0}), 1, wire.OK)
}

func TestUnknownSessionIsTurnedAway(t *testing.T) {
	s := newServer(t)
	known := dialRaw(t, s).connect(wire.ConnectRequest{Timeout: 10_000})
	for _, q := range []wire.ConnectRequest{
		{SessionID: known.SessionID, Password: make([]byte, wire.PasswordSize)},
		{SessionID: known.SessionID + 1, Password: known.Password},
	} {
		r := dialRaw(t, s)
		got := r.connect(q)
		if got.SessionID != 0 || got.Timeout != 0 || !bytes.Equal(got.Password, make([]byte, 16)) {
			t.Errorf("%+v: got %+v, want zeros", q, got)
		}
		r.wantEnd()
	}
}

func TestClientFromTheFutureGetsNoReply(t *testing.T) {
	r := dialRaw(t, newServer(t))
	r.write(framed(wire.ConnectRequest{LastZxid: 1, Timeout: 10_000}.Append(nil)))
	r.wantEnd()
}

// The read-only flag is sent only to clients that sent it.
func TestReadOnlyFlagIsEchoed(t *testing.T) {
	s := newServer(t)
	for _, flag := range []wire.ReadOnly{{}, {Present: true}, {Present: true, Value: true}} {
		got := dialRaw(t, s).connect(wire.ConnectRequest{ReadOnly: flag})
		if want := (wire.ReadOnly{Present: flag.Present}); got.ReadOnly != want {
			t.Errorf("sent %+v, got %+v", flag, got.ReadOnly)
		}
	}
}

func TestCloseSessionRepliesAndHangsUp(t *testing.T) {
	s := newServer(t)
	r, other := openRaw(t, s), openRaw(t, s)
	r.ask(1, wire.OpCreate, open("/e", wire.FlagEphemeral))
	other.wantReply(other.ask(1, wire.OpExists, wire.PathWatch{Path: "/e"}), 1, wire.OK)
	r.wantReply(r.ask(2, wire.OpCloseSession, nil), 2, wire.OK)
	r.wantEnd()
	other.wantReply(other.ask(2, wire.OpExists, wire.PathWatch{Path: "/e"}), 2, wire.ErrNoNode)
}

// After Close no goroutine runs, which synctest checks, and none starts.
func TestCloseEndsEverything(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := New(Options{})
		session, silent := openRaw(t, s), dialRaw(t, s)
		s.Close()
		s.Close()
		session.wantEnd()
		silent.wantEnd()
		if _, err := s.Dial("", "", 0); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Dial: %v", err)
		}
	})
}
