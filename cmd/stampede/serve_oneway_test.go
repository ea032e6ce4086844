package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// A peerLink passes on what one member sends to another, on the connections that it opens to it. What the
// other member answers on them passes always.
type peerLink struct {
	mu    sync.Mutex
	open  *sync.Cond
	muted bool
}

// startPeerLink returns a link to an address and the address at which the sender reaches it.
func startPeerLink(t *testing.T, to string) (l *peerLink, address string) {
	t.Helper()
	l = &peerLink{}
	l.open = sync.NewCond(&l.mu)
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		l.mute(false)
	})
	go func() {
		for {
			from, err := in.Accept()
			if err != nil {
				return
			}
			go l.pass(from, to)
		}
	}()
	return l, in.Addr().String()
}

func (l *peerLink) pass(from net.Conn, address string) {
	defer from.Close()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		defer from.Close()
		defer to.Close()
		b := make([]byte, 1<<16)
		for {
			n, err := from.Read(b)
			l.await()
			if _, lost := to.Write(b[:n]); err != nil || lost != nil {
				return
			}
		}
	}()
	io.Copy(from, to)
}

// mute stops or restores what the link sends. What is sent meanwhile is kept.
func (l *peerLink) mute(muted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted = muted
	l.open.Broadcast()
}

// await waits while the link is muted.
func (l *peerLink) await() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.muted {
		l.open.Wait()
	}
}

// startLinkedEnsemble starts an ensemble whose members reach each other by links: links[i][j] is that from
// member i to member j.
func startLinkedEnsemble(t *testing.T) (e *servedEnsemble, links [3][3]*peerLink) {
	t.Helper()
	e = newServedEnsemble(t)
	own := strings.Split(e.peers, ",")
	var peers [3]string
	for i := range links {
		reached := make([]string, len(own))
		for j, peer := range own {
			reached[j] = peer
			if i != j {
				var at string
				links[i][j], at = startPeerLink(t, strings.SplitN(peer, "=", 2)[1])
				reached[j] = strconv.Itoa(j+1) + "=" + at
			}
		}
		peers[i] = strings.Join(reached, ",")
	}
	e.flags = func(i int) []string {
		return []string{"--peers", peers[i], "--peer-secret-file", filepath.Join(e.dir, "secret")}
	}
	e.startAll()
	return e, links
}

// moreThanInFlight is more than the leader sends to a member that it does not hear.
const moreThanInFlight = 300

// A member that hears the others and is not heard by them must not serve: its clients' sessions expire
// elsewhere, and a lock would have two holders for ever. That is so of a follower, and of a leader, which the
// others depose.
func TestUnheardMemberServesNobody(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, leads := range []bool{false, true} {
		t.Run(fmt.Sprintf("leads=%v", leads), func(t *testing.T) {
			t.Parallel()
			e, links := startLinkedEnsemble(t)
			unheard := e.leader()
			if !leads {
				unheard = (unheard + 1) % 3
			}
			const path = "/lock"
			first := dialMember(t, e.clients[unheard])
			awaitCall(t, func() error {
				_, err := first.Create(path, []byte("first"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
				return err
			})
			for j, l := range links[unheard] {
				if j != unheard {
					l.mute(true)
				}
			}
			held := make(chan time.Time) // when the last read began that showed the first client its lock
			second := make(chan struct{})
			go func() {
				var last time.Time
				for more := 100; more > 0; {
					began := time.Now()
					data, _, err := first.Get(path)
					shown := err == nil && string(data) == "first"
					if shown {
						last = began
					}
					select {
					case <-second:
						more--
						if !shown {
							more = 0
						}
					default:
					}
				}
				held <- last
			}()
			other := dialMember(t, e.clients[(unheard+1)%3]+","+e.clients[(unheard+2)%3])
			for range moreThanInFlight {
				awaitCall(t, func() error {
					_, err := other.Set("/", nil, -1)
					return err
				})
			}
			awaitCall(t, func() error {
				_, err := other.Create(path, []byte("second"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
				return err
			})
			granted := time.Now()
			close(second)
			if last := <-held; last.After(granted) {
				t.Errorf("the first client was shown its lock %v after the second had it", last.Sub(granted))
			}
			for j, l := range links[unheard] {
				if j != unheard {
					l.mute(false)
				}
			}
			back := dialMember(t, e.clients[unheard])
			awaitCall(t, func() error {
				data, _, err := back.Get(path)
				if err == nil && string(data) != "second" {
					t.Fatalf("the member shows %q", data)
				}
				return err
			})
		})
	}
}

// dialMember opens a session that the service ends 4 s after its client was heard of last.
func dialMember(t *testing.T, addresses string) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect(strings.Split(addresses, ","), 4*time.Second, zk.WithLogger(mute{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// awaitCall repeats a call while its connection is cut or another's node stands in its way.
func awaitCall(t *testing.T, call func() error) {
	t.Helper()
	var err error
	for since := time.Now(); time.Since(since) < patience; {
		if err = call(); err == nil {
			return
		}
		if !isCut(err) && !errors.Is(err, zk.ErrNodeExists) {
			break
		}
	}
	t.Fatal(err)
}
