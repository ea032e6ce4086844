package workloads_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// A relay lies between the clients and a server in this process. It passes on whole packets, each reply with
// a known delay, and disturbs the service at known times.
type relay struct {
	server *server.Server
	delay  time.Duration // of replies to sessions, except to heartbeats
	words  time.Duration // of the answers to four-letter words
	first  time.Duration // added to the delay of the first reply on each connection

	mu          sync.Mutex
	asked       func()    // if not nil, called once, when the counters have been told next
	from, until time.Time // no reply passes; zero: never
	refusing    time.Time // until then no connection opens
	conns       map[net.Conn]net.Conn
}

// inRelay runs a test with a fake clock and a service behind a relay.
func inRelay(t *testing.T, delay, words time.Duration, test func(t *testing.T, s drivers.Service, r *relay)) {
	bubble.Test(t, func(t *testing.T) {
		r := &relay{server: server.New(server.Options{Tick: 500 * time.Millisecond, MaxTimeout: time.Minute}), delay: delay, words: words, conns: map[net.Conn]net.Conn{}}
		defer r.server.Close()
		s, err := lean.New(ensemble.Config{Servers: []string{"relay"}, Dial: r.dial})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s, r)
		r.disturb(time.Time{}, 0)
		runtest.WantNothingLeft(t, s)
	})
}

func (r *relay) dial(context.Context, string) (net.Conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.refusing) {
		return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
	}
	client, near := net.Pipe()
	far, end := net.Pipe()
	if err := r.server.ServeConn(end); err != nil {
		return nil, err
	}
	r.conns[near] = far
	begins := make(chan string, 1)
	go func() {
		defer far.Close()
		in := bufio.NewReader(near)
		first, _ := in.Peek(4)
		begins <- string(first)
		_, _ = io.Copy(far, in)
	}()
	go func() {
		defer r.forget(near)
		defer near.Close()
		if word := <-begins; word >= "a" {
			r.answer(word, near, far)
		} else {
			r.reply(near, far)
		}
	}()
	return client, nil
}

func (r *relay) forget(near net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, near)
}

// answer passes on the answer to a four-letter word.
func (r *relay) answer(word string, near, far net.Conn) {
	text, _ := io.ReadAll(far)
	time.Sleep(r.words)
	_, _ = near.Write(text)
	if word != "mntr" {
		return
	}
	r.mu.Lock()
	asked := r.asked
	r.asked = nil
	r.mu.Unlock()
	if asked != nil {
		asked()
	}
}

// reply passes on the replies and notifications of a session, in order.
func (r *relay) reply(near, far net.Conn) {
	type packet struct {
		text []byte
		at   time.Time
	}
	packets := make(chan packet, 1<<12)
	go func() {
		defer close(packets)
		delay := r.delay + r.first
		for in, greeting := bufio.NewReader(far), true; ; greeting = false {
			var size [4]byte
			if _, err := io.ReadFull(in, size[:]); err != nil {
				return
			}
			text := make([]byte, 4+binary.BigEndian.Uint32(size[:]))
			copy(text, size[:])
			if _, err := io.ReadFull(in, text[4:]); err != nil {
				return
			}
			at := time.Now()
			if xid := int32(binary.BigEndian.Uint32(text[4:])); !greeting && xid >= 0 {
				at, delay = at.Add(delay), r.delay
			}
			packets <- packet{text, at}
		}
	}()
	for p := range packets {
		time.Sleep(time.Until(p.at))
		time.Sleep(time.Until(r.thaws()))
		if _, err := near.Write(p.text); err != nil {
			far.Close()
		}
	}
}

// thaws returns when the next packet passes, if the relay is frozen.
func (r *relay) thaws() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Before(r.from) {
		return now
	}
	return r.until
}

// disturb freezes the relay at a time, for so long.
func (r *relay) disturb(at time.Time, length time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.from, r.until = at, at.Add(length)
}

// drop closes all connections, and refuses new ones for so long.
func (r *relay) drop(refuses time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusing = time.Now().Add(refuses)
	for near, far := range r.conns {
		near.Close()
		far.Close()
	}
}

// whenAsked calls f when the counters have been told next: a run reads the server's counters before
// its window.
func (r *relay) whenAsked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = f
}
