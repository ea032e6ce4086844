package ensemble_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/lean"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A client opens sessions through one of the libraries. The tests are the same for both.
type client func(ensemble.Config) (drivers.Service, error)

func clients() map[string]client {
	return map[string]client{
		zookeeper.Client: func(cfg ensemble.Config) (drivers.Service, error) { return zookeeper.New(cfg) },
		lean.Client:      func(cfg ensemble.Config) (drivers.Service, error) { return lean.New(cfg) },
	}
}

// A secured is the server, client and context of a test.
type secured struct {
	backendtest.Secure
	client client
	name   string
	ctx    context.Context
}

func TestSecure(t *testing.T) {
	testenv.SkipIfShort(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	server := backendtest.SecureZooKeeper(t)
	for name, client := range clients() {
		s := secured{server, client, name, ctx}
		t.Run(name+"/certificates", s.certificates)
		t.Run(name+"/refusals", s.refusals)
		t.Run(name+"/credentials", s.credentials)
		t.Run(name+"/reconnect", s.reconnect)
	}
}

func (s secured) service(t *testing.T, chroot string, security drivers.Security) drivers.Service {
	t.Helper()
	cfg, err := security.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	service, err := s.client(ensemble.Config{Servers: []string{s.Address}, Chroot: chroot, TLS: cfg,
		Username: security.User, Password: security.Password})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func (s secured) dial(t *testing.T, chroot string, security drivers.Security, o drivers.Options) drivers.Conn {
	t.Helper()
	c, err := s.service(t, chroot, security).Dial(s.ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// as returns the security with a user.
func as(s drivers.Security, user string, password drivers.Secret) drivers.Security {
	s.User, s.Password = user, password
	return s
}

// The probe sees the messages before encryption, and the four-letter words are encrypted too.
func (s secured) certificates(t *testing.T) {
	if info := s.service(t, "", s.Security).Info(); !strings.HasPrefix(info.Server, "ZooKeeper 3.") {
		t.Errorf("server %q, want its version", info.Server)
	}
	var creates atomic.Int64
	c := s.dial(t, "", s.Security, drivers.Options{Probe: probe(func(m drivers.Message) {
		if m.Kind == drivers.Reply && m.Op == drivers.OpCreate && string(m.Path) == "/seen" {
			creates.Add(1)
		}
	})})
	if _, err := c.Create(s.ctx, "/seen", nil, drivers.Ephemeral); err != nil || creates.Load() != 1 {
		t.Errorf("%v, the probe saw %d creates, want 1", err, creates.Load())
	}
}

type probe func(drivers.Message)

func (p probe) Message(m drivers.Message) { p(m) }

// A connection fails immediately, before the context ends, if one side has no certificate that
// the other side accepts.
func (s secured) refusals(t *testing.T) {
	for name, security := range map[string]drivers.Security{
		"no certificate":         {CA: s.Security.CA},
		"another's certificate":  {CA: s.Security.CA, Cert: s.Stranger.Cert, Key: s.Stranger.Key},
		"another authority":      {CA: s.Stranger.CA, Cert: s.Security.Cert, Key: s.Security.Key},
		"not this server's name": {CA: s.Security.CA, Cert: s.Security.Cert, Key: s.Security.Key, ServerName: "elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.service(t, "", security).Dial(s.ctx, drivers.Options{})
			if err == nil || s.ctx.Err() != nil {
				t.Fatalf("got %v, want to be refused", err)
			}
			var untrusted *tls.CertificateVerificationError
			theirs := strings.Contains(err.Error(), "remote error: tls: ")
			if !theirs && !errors.As(err, &untrusted) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), s.Address) {
				t.Errorf("got %v, want one line about the certificate and %s", err, s.Address)
			}
		})
	}
}

// Only its user can access what is protected for that user.
func (s secured) credentials(t *testing.T) {
	protected := "/ann-" + s.name
	s.Protect(t, protected, "ann", "hunter2")
	c := s.dial(t, protected, as(s.Security, "ann", "hunter2"), drivers.Options{})
	if _, err := c.Create(s.ctx, "/hers", nil, 0); err != nil {
		t.Errorf("with the right credentials: %v", err)
	}
	for name, security := range map[string]drivers.Security{
		"another password": as(s.Security, "ann", "hunter3"),
		"nobody":           s.Security,
	} {
		c := s.dial(t, protected, security, drivers.Options{})
		_, err := c.Create(s.ctx, "/mine", nil, 0)
		if !errors.Is(err, drivers.ErrRefused) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v, want %v and no password", name, err, drivers.ErrRefused)
		}
	}
}

// A new connection gets the credentials again.
func (s secured) reconnect(t *testing.T) {
	var lose, lost atomic.Bool
	c := s.dial(t, "", as(s.Security, "bob", "hunter2"), drivers.Options{LoseReply: func(m drivers.Message) bool {
		return m.Op == drivers.OpGet && lose.Load() && lost.CompareAndSwap(false, true)
	}})
	if _, err := c.Create(s.ctx, "/bob-"+s.name, nil, 0); err != nil {
		t.Fatal(err)
	}
	lose.Store(true)
	if _, _, err := c.Get(s.ctx, "/bob-"+s.name, nil); !errors.Is(err, drivers.ErrConnectionLoss) {
		t.Fatalf("the connection was cut, got %v", err)
	}
	if _, err := c.Set(s.ctx, "/bob-"+s.name, []byte("x"), 0); err != nil {
		t.Errorf("after the reconnect: %v", err)
	}
}

// A server without access lists cannot accept credentials: a created node would not be
// protected for its user.
func TestCredentialsNeedProtection(t *testing.T) {
	for name, client := range clients() {
		t.Run(name, func(t *testing.T) {
			s, err := client(ensemble.Config{Servers: []string{"pipe"}, Username: "ann", Password: "hunter2",
				Dial: func(context.Context, string) (net.Conn, error) {
					near, far := net.Pipe()
					go protectNothing(far)
					return near, nil
				}})
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Dial(t.Context(), drivers.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.Create(t.Context(), "/a", nil, 0)
			if !errors.Is(err, drivers.ErrUnsupported) || !strings.HasSuffix(err.Error(), "takes no credentials") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want that it takes no credentials", err)
			}
		})
	}
}

// On the native server too, only its user can access what a user creates.
func TestCredentialsOnNative(t *testing.T) {
	for name, client := range clients() {
		t.Run(name, func(t *testing.T) {
			cfg := backendtest.InMemory(t)
			dial := func(user, password string) drivers.Conn {
				cfg.Username, cfg.Password = user, drivers.Secret(password)
				s, err := client(cfg)
				if err != nil {
					t.Fatal(err)
				}
				c, err := s.Dial(t.Context(), drivers.Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				return c
			}
			ann := dial("ann", "hunter2")
			if _, err := ann.Create(t.Context(), "/a", []byte("x"), 0); err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]drivers.Conn{"nobody": dial("", ""), "another": dial("bob", "hunter2"), "a wrong password": dial("ann", "x")} {
				if _, _, err := c.Get(t.Context(), "/a", nil); !errors.Is(err, drivers.ErrRefused) {
					t.Errorf("%s: %v, want %v", name, err, drivers.ErrRefused)
				}
			}
			if data, _, err := ann.Get(t.Context(), "/a", nil); string(data) != "x" || err != nil {
				t.Errorf("ann: %q, %v", data, err)
			}
		})
	}
}

// protectNothing is a server without access lists and without nodes.
func protectNothing(conn net.Conn) {
	defer conn.Close()
	if _, err := ensemble.Receive(conn); err != nil {
		return
	}
	opened := wire.ConnectResponse{Timeout: 6000, SessionID: 7, Password: make([]byte, wire.PasswordSize)}
	err := ensemble.Send(conn, opened.Append(wire.Begin(nil)))
	for op := int32(0); err == nil && op != wire.OpCloseSession; {
		var request []byte
		if request, err = ensemble.Receive(conn); err != nil {
			return
		}
		d := wire.NewDecoder(request)
		var h wire.RequestHeader
		h.Decode(&d)
		reply := wire.ReplyHeader{Xid: h.Xid}
		switch op = h.Op; op {
		case wire.OpCreate:
			reply.Err = wire.ErrUnimplemented
		case wire.OpExists:
			reply.Err = wire.ErrNoNode
		}
		err = ensemble.Send(conn, reply.Append(wire.Begin(nil)))
	}
}

// onNative runs a test with each client, each on its own native server.
func onNative(t *testing.T, cfg ensemble.Config, f func(*testing.T, drivers.Service)) {
	for name, client := range clients() {
		t.Run(name, func(t *testing.T) {
			server := backendtest.InMemory(t)
			cfg.Servers, cfg.Dial = server.Servers, server.Dial
			s, err := client(cfg)
			if err != nil {
				t.Fatal(err)
			}
			f(t, s)
		})
	}
}

// With SyncReads a sync precedes each read, on the same path.
func TestSyncReads(t *testing.T) {
	onNative(t, ensemble.Config{SyncReads: true}, func(t *testing.T, s drivers.Service) {
		if reads := s.Info().Reads; reads != "sync" {
			t.Errorf("reads %q, want sync", reads)
		}
		var asked []string
		c, err := s.Dial(t.Context(), drivers.Options{Probe: probe(func(m drivers.Message) {
			if m.Kind == drivers.Request && (m.Op.IsRead() || m.Op == drivers.OpSync) {
				asked = append(asked, m.Op.String())
			}
		})})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		_, _, err1 := c.Exists(ctx, "/", nil)
		_, _, err2 := c.Get(ctx, "/", nil)
		_, err3 := c.Children(ctx, "/", nil)
		if err := errors.Join(err1, err2, err3, c.Close()); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(asked, " "), "sync exists sync get sync children"; got != want {
			t.Errorf("asked %s; want %s", got, want)
		}
	})
}

// TestASilentServerIsLeftInTime has servers of which one accepts connections and answers nothing. A session is opened on
// another one within the time that its caller waits, however long it is to live.
func TestASilentServerIsLeftInTime(t *testing.T) {
	const patience = 3 * time.Second
	for name, client := range clients() {
		for _, servers := range [][]string{{"silent", "good"}, {"silent", "good", "good too"}, {"silent", "silent too", "good"}} {
			t.Run(name+" "+strings.Join(servers, ","), func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					good := server.New(server.Options{MaxTimeout: time.Hour})
					defer good.Close()
					s, err := client(ensemble.Config{Servers: servers, Dial: func(_ context.Context, address string) (net.Conn, error) {
						if strings.HasPrefix(address, "good") {
							return good.Dial("", "", 0)
						}
						near, far := net.Pipe()
						go io.Copy(io.Discard, far)
						return near, nil
					}})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					began := time.Now()
					for range servers { // each of them is the first of one session
						c, err := s.Dial(ctx, drivers.Options{SessionTimeout: time.Minute, Patience: patience / time.Duration(len(servers))})
						if err != nil {
							t.Fatalf("after %v: %v", time.Since(began), err)
						}
						defer c.Close()
					}
				})
			})
		}
	}
}

// TestASessionEndsItsLifeAfterTheLastAnswer has a service that stops answering, and accepts connections, or breaks them and
// accepts none. A session outlives that if it is shorter than its life, and else gives itself up: where it hears nothing, a life
// after the last answer, and where its connection breaks, a life after that.
func TestASessionEndsItsLifeAfterTheLastAnswer(t *testing.T) {
	const life = 6 * time.Second
	late := life / 10 // a heartbeat of lean may be late by two beats
	for name, client := range clients() {
		for how, refuses := range map[string]bool{"silent": false, "broken": true} {
			for _, length := range []time.Duration{life - time.Second, time.Minute} {
				t.Run(name+" "+how+" "+length.String(), func(t *testing.T) {
					bubble.Test(t, func(t *testing.T) {
						good := server.New(server.Options{MaxTimeout: time.Hour})
						defer good.Close()
						var o outage
						s, err := client(ensemble.Config{Servers: []string{"a:1"}, Dial: func(context.Context, string) (net.Conn, error) {
							if refuses && o.left() > 0 {
								return nil, io.ErrUnexpectedEOF
							}
							conn, err := good.Dial("", "", 0)
							return &outageConn{conn, &o}, err
						}})
						if err != nil {
							t.Fatal(err)
						}
						defer s.Close()
						states := make(chan drivers.State, 10)
						c, err := s.Dial(t.Context(), drivers.Options{SessionTimeout: life, OnState: func(s drivers.State) { states <- s }})
						if err != nil {
							t.Fatal(err)
						}
						if _, _, err := c.Get(t.Context(), "/", nil); err != nil {
							t.Fatal(err)
						}
						began := time.Now()
						o.begin(length)
						if refuses {
							c.(drivers.Cutter).Cut()
						}
						ended := drivers.SessionGivenUp
						if length < life {
							ended = drivers.Connected
						}
						left, state, took := <-states, <-states, time.Since(began)
						if left != drivers.Disconnected || state != ended {
							t.Errorf("states %d and %d, want %d and %d", left, state, drivers.Disconnected, ended)
						}
						if state == drivers.SessionGivenUp && (took < life || took > life+late) {
							t.Errorf("given up after %v, want %v", took, life)
						}
						c.Close()
						time.Sleep(2 * length) // go-zookeeper ends by itself
					})
				})
			}
		}
	}
}

// A outage is a time in which nothing passes.
type outage struct{ end atomic.Pointer[time.Time] }

func (o *outage) begin(length time.Duration) {
	end := time.Now().Add(length)
	o.end.Store(&end)
}

func (o *outage) left() time.Duration {
	if end := o.end.Load(); end != nil {
		return time.Until(*end)
	}
	return 0
}

// An outageConn passes what the client sends on when the outage is over.
type outageConn struct {
	net.Conn
	outage *outage
}

func (c *outageConn) Write(p []byte) (int, error) {
	if left := c.outage.left(); left > 0 {
		sent := append([]byte(nil), p...)
		time.AfterFunc(left, func() { c.Conn.Write(sent) })
		return len(p), nil
	}
	return c.Conn.Write(p)
}
