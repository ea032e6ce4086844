package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// Three members authenticate each other by certificates or by a secret. They elect a leader, replicate, and
// take a restarted member back, but not one that has a certificate of another authority or another secret,
// which gets no entry. With certificates no data of a node is readable between them; a secret does not hide
// the data, and is not sent itself.
func TestMembersAuthenticateEachOther(t *testing.T) {
	testenv.SkipIfShort(t)
	for name, c := range map[string]struct {
		flags     func(dir string) []string
		refusal   string
		encrypted bool
	}{
		"certificates": {
			flags: func(dir string) []string {
				both := filepath.Join(dir, "member.pem")
				return []string{"--peer-cert", both, "--peer-key", both, "--peer-ca", filepath.Join(dir, "ca.pem")}
			},
			refusal: "tls: ", encrypted: true,
		},
		"secret": {
			flags:   func(dir string) []string { return []string{"--peer-secret-file", filepath.Join(dir, "secret")} },
			refusal: "does not know the secret",
		},
	} {
		t.Run(name, func(t *testing.T) {
			own, other := credentials(t, "own"), credentials(t, "other")
			// The stranger trusts the ensemble's authority, so that only the ensemble refuses.
			copyTo(t, filepath.Join(own, "ca.pem"), filepath.Join(other, "ca.pem"))
			e := newServedEnsemble(t)
			tap := newTap(t, e.peers)
			said := &transcript{}
			dirs := []string{own, own, own}
			e.complaints = said
			e.flags = func(i int) []string { return append([]string{"--peers", tap.peers(i)}, c.flags(dirs[i])...) }
			e.startAll()
			e.write("/first", "plain text of the first node")

			away := (e.leader() + 1) % 3
			e.kill(away)
			e.write("/second", "plain text of the second node")
			dirs[away] = other
			refused := said.count(c.refusal)
			e.start(away)
			e.await("refused a stranger", func(int) bool { return said.count(c.refusal) > refused })
			e.write("/third", "plain text of the third node")
			if answer := e.ask(away, "srvr"); !strings.Contains(answer, "not currently serving") {
				t.Errorf("the stranger answers %q", answer)
			}
			if got, want := e.applied(away), e.applied(e.leader()); got >= want {
				t.Errorf("the stranger has applied entry %d, and the leader entry %d", got, want)
			}
			e.kill(away)
			dirs[away] = own
			e.start(away)
			want := e.applied(e.leader())
			e.await("all entries", func(i int) bool { return i == away && e.applied(i) >= want })

			if got := tap.contains("plain text of the "); got == c.encrypted {
				t.Errorf("the data of nodes is in the %d bytes between members: %t", tap.size(), got)
			}
			if tap.contains(secretOf("own")) {
				t.Error("the secret is in the bytes between members")
			}
		})
	}
}

func secretOf(name string) string { return strings.Repeat(name, 10) }

// credentials makes a directory with an authority, certificates and a secret.
func credentials(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	backendtest.Authority(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(secretOf(name)), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// write creates a node by a session of its own.
func (e *servedEnsemble) write(path, data string) {
	e.t.Helper()
	c := dialZK(e.t, strings.Join(e.clients, ","))
	defer c.Close()
	for since := time.Now(); ; {
		_, err := c.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
		switch {
		case err == nil || err == zk.ErrNodeExists:
			return
		case !isCut(err) || time.Since(since) > patience:
			e.t.Fatal(err)
		}
	}
}

// A transcript keeps what is written to it, also by several goroutines.
type transcript struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *transcript) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *transcript) count(text string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Count(s.all.Bytes(), []byte(text))
}

func (s *transcript) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Len()
}

// A tap relays all connections between members and keeps their bytes.
type tap struct {
	own    []string // the members of --peers, with the addresses at which they listen
	relays []string // the same, with addresses that relay to them

	mu    sync.Mutex
	flows []*transcript // one for each direction of a connection
}

func newTap(t *testing.T, peers string) *tap {
	t.Helper()
	p := &tap{own: strings.Split(peers, ",")}
	for i, peer := range p.own {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		p.relays = append(p.relays, fmt.Sprintf("%d=%s", i+1, l.Addr()))
		_, address, _ := strings.Cut(peer, "=")
		go p.accept(l, address)
	}
	return p
}

// peers returns --peers of a member: it listens at its own address and reaches the others through the tap.
func (p *tap) peers(i int) string {
	all := append([]string(nil), p.relays...)
	all[i] = p.own[i]
	return strings.Join(all, ",")
}

func (p *tap) accept(l net.Listener, to string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		member, err := net.Dial("tcp", to)
		if err != nil {
			c.Close()
			continue
		}
		go p.relay(member, c)
		go p.relay(c, member)
	}
}

func (p *tap) relay(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	flow := &transcript{}
	p.mu.Lock()
	p.flows = append(p.flows, flow)
	p.mu.Unlock()
	io.Copy(to, io.TeeReader(from, flow))
}

func (p *tap) contains(text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.flows, func(flow *transcript) bool { return flow.count(text) > 0 })
}

func (p *tap) size() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, flow := range p.flows {
		n += flow.size()
	}
	return n
}
