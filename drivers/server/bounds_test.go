package server

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/fourletter"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A server answers the enabled four-letter words. It refuses others as ZooKeeper does, and does not
// treat them as requests.
func TestOnlyListedWordsAreAnswered(t *testing.T) {
	s := New(Options{Words: []string{"ruok"}})
	t.Cleanup(s.Close)
	for _, word := range fourletter.Names() {
		r := dialRaw(t, s)
		r.write([]byte(word))
		answer, err := io.ReadAll(r)
		want := word + " is not executed because it is not in the whitelist.\n"
		if word == "ruok" {
			want = "imok"
		}
		if string(answer) != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", word, answer, err, want)
		}
	}
}

// Sessions beyond the limit are not opened; an open session can still reconnect.
func TestSessionsAreBounded(t *testing.T) {
	s := New(Options{MaxSessions: 1})
	t.Cleanup(s.Close)
	first := dialRaw(t, s)
	mine := first.connect(wire.ConnectRequest{Timeout: 10_000})
	second := dialRaw(t, s)
	second.write(framed(wire.ConnectRequest{Timeout: 10_000}.Append(nil)))
	second.wantEnd()
	again := dialRaw(t, s)
	if got := again.connect(wire.ConnectRequest{Timeout: 10_000, SessionID: mine.SessionID, Password: mine.Password}); got.SessionID != mine.SessionID {
		t.Errorf("session %#x did not come back", mine.SessionID)
	}
	again.wantReply(again.ask(1, wire.OpCloseSession, nil), 1, wire.OK)
	if third := dialRaw(t, s).connect(wire.ConnectRequest{Timeout: 10_000}); third.SessionID == 0 {
		t.Error("no session after the first was closed")
	}
}

// Session timeouts are clamped to the bounds that "conf" shows.
func TestSessionTimeoutsAreBounded(t *testing.T) {
	s := New(Options{MinTimeout: 3 * time.Second, MaxTimeout: 7 * time.Second})
	t.Cleanup(s.Close)
	for asked, want := range map[int32]int32{1: 3000, 5000: 5000, 60_000: 7000} {
		if got := dialRaw(t, s).connect(wire.ConnectRequest{Timeout: asked}); got.Timeout != want {
			t.Errorf("asked for %d ms, got %d, want %d", asked, got.Timeout, want)
		}
	}
	if got := fourletter.Answer("conf", s.state()); !strings.Contains(got, "minSessionTimeout=3000\nmaxSessionTimeout=7000\n") {
		t.Errorf("conf: %s", got)
	}
}

// A request may be as large as the server's limit, but not larger.
func TestRequestsAreBounded(t *testing.T) {
	s := New(Options{MaxPacket: 2 * wire.MaxPacket})
	t.Cleanup(s.Close)
	set := wire.SetDataRequest{Path: "/", Data: make([]byte, wire.MaxPacket+1), Version: -1}
	r := openRaw(t, s)
	r.wantReply(r.ask(1, wire.OpSetData, set), 1, wire.OK)
	set.Data = make([]byte, 2*wire.MaxPacket)
	go r.Write(request(2, wire.OpSetData, set))
	r.wantEnd()
}

// Control characters that a client puts into a path do not reach an operator's terminal.
func TestWordsShowControlCharacters(t *testing.T) {
	s := newServer(t)
	r := openRaw(t, s)
	r.wantReply(r.ask(1, wire.OpExists, wire.PathWatch{Path: "/\x1b[2J\u009b", Watch: true}), 1, wire.ErrNoNode)
	for _, word := range []string{"wchp", "wchc"} {
		asked := dialRaw(t, s)
		asked.write([]byte(word))
		answer, err := io.ReadAll(asked)
		if strings.ContainsAny(string(answer), "\x1b\u009b") || !strings.Contains(string(answer), `/\x1b[2J\u009b`) || err != nil {
			t.Errorf("%s: %q, %v", word, answer, err)
		}
	}
}
