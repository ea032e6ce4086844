package server

import (
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Serve accepts connections until the server is closed. It then returns nil, or the journal's error
// if the journal failed. It closes the listener.
func (s *Server) Serve(l net.Listener) error { return s.accept(l, nil) }

// ServeTLS is Serve for connections that begin with a TLS handshake. The subject of a client's
// certificate becomes an identity of the x509 scheme.
func (s *Server) ServeTLS(l net.Listener, cfg *tls.Config) error { return s.accept(l, cfg) }

func (s *Server) accept(l net.Listener, cfg *tls.Config) error {
	if !s.addListener(l, cfg != nil) {
		return errors.Join(net.ErrClosed, l.Close())
	}
	for {
		nc, err := l.Accept()
		if err == nil {
			err = s.serve(newConn(s, nc, cfg))
		}
		switch {
		case errors.Is(err, ErrTooMany):
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			time.Sleep(acceptPause)
		case err != nil:
			return s.removeListener(l, err)
		}
	}
}

// acceptPause is the pause after an accept that failed because file descriptors ran out or the
// client aborted the connection.
const acceptPause = 50 * time.Millisecond

// ErrTooMany reports a refused connection: its address already has MaxPerHost connections.
var ErrTooMany = errors.New("too many connections from one address")

func (s *Server) addListener(l net.Listener, secure bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.listeners[l] = secure
	}
	return !s.closed
}

// removeListener returns err, or, if the server is closed, the reason for that (nil after Close).
func (s *Server) removeListener(l net.Listener, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
	if s.closed {
		return s.failure()
	}
	return errors.Join(err, l.Close())
}

// Dial returns the client's end of an in-memory connection to this server. It ignores the address.
func (s *Server) Dial(_, _ string, _ time.Duration) (net.Conn, error) {
	client, server := net.Pipe()
	return client, s.ServeConn(server)
}

// ServeConn serves a connection in the background and closes it at the end. If the server is closed
// or the address has too many connections, ServeConn closes the connection immediately and returns
// net.ErrClosed or ErrTooMany.
func (s *Server) ServeConn(nc net.Conn) error { return s.serve(newConn(s, nc, nil)) }

func (s *Server) serve(c *conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errors.Join(net.ErrClosed, c.socket.Close())
	case s.maxPerHost > 0 && s.perHost[c.host] >= s.maxPerHost:
		return errors.Join(ErrTooMany, c.socket.Close())
	}
	s.conns[c] = struct{}{}
	s.perHost[c.host]++
	s.live.Go(c.receive)
	s.live.Go(c.send)
	return nil
}

func (s *Server) forget(c *conn) {
	delete(s.conns, c)
	if s.perHost[c.host]--; s.perHost[c.host] == 0 {
		delete(s.perHost, c.host)
	}
}

// Close closes all connections and listeners and returns when all goroutines have ended. The state
// is lost unless there is a journal. It is safe to call Close more than once.
func (s *Server) Close() {
	s.shut()
	s.live.Wait()
}

func (s *Server) shut() {
	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return
	}
	s.closed = true
	close(s.done)
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		c.drop()
	}
}

// Stats are a server's current state, and its counters since the start or the last "srst".
type Stats struct {
	Connections, Sessions             int64
	Nodes, Ephemerals, Watches, Bytes int64 // Bytes: total length of paths and data
	PacketsReceived, PacketsSent      int64
	Reads, Writes                     int64        // requests; heartbeats are reads, failed writes are writes
	Notifications                     int64        // fired watches
	Member                            *MemberStats // nil for a server that is alone
}

// MemberStats are the state of a member of an ensemble.
type MemberStats struct {
	Leads             bool
	Lag               int64 // committed entries that the member has not applied
	Proposals         int64 // transactions of the member's clients that are not applied
	Elections         int64 // leaders that the member has seen since its start
	Followers, Synced int64 // of a leader: members that it hears of, and those that have all but the latest entries
}

// Stats returns the current statistics. It is safe for concurrent use and waits for the batch in
// progress.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, st := s.tree.Size(), &s.stats
	return Stats{
		Member:      s.ensemble.stats(),
		Connections: int64(len(s.conns)), Sessions: int64(size.Sessions),
		Nodes: int64(s.nodeCount()), Ephemerals: int64(size.Ephemerals), Watches: int64(s.watches.Len()), Bytes: size.Bytes,
		PacketsReceived: st.Received, PacketsSent: st.Sent, Reads: st.Reads, Writes: st.Writes,
		Notifications: st.Created.Sum + st.Deleted.Sum + st.Changed.Sum + st.Children.Sum,
	}
}

func (e *ensemble) stats() *MemberStats {
	if e == nil {
		return nil
	}
	x := e.member.Status()
	return &MemberStats{
		Leads: x.Leader == x.ID, Lag: int64(x.Committed - x.Applied), Proposals: int64(x.Pending), Elections: x.Elections,
		Followers: int64(x.Followers), Synced: int64(x.Synced),
	}
}

// Digest returns the ACL identity for the credentials "user:password": "user:" and the
// base64-encoded SHA-1 of the whole string.
func Digest(userPassword string) string {
	user, _, _ := strings.Cut(userPassword, ":")
	sum := sha1.Sum([]byte(userPassword))
	return user + ":" + base64.StdEncoding.EncodeToString(sum[:])
}

// host returns the address of a client. In-memory clients have this machine's address.
func host(nc net.Conn) string {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		return "127.0.0.1"
	}
	return host
}

// address returns the identity that a client has without credentials.
func (c *conn) address() tree.Identity { return tree.Identity{Scheme: "ip", ID: c.host} }

// maxIdentities and maxIdentityBytes limit the identities of one connection: each of its writes carries them.
const (
	maxIdentities    = 128
	maxIdentityBytes = 64 << 10
)

// auth adds credentials. It closes the connection if their scheme is unknown or the connection
// already has too many.
func (c *conn) auth(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.AuthRequest
	if r.Decode(d); d.Err() != nil {
		c.drop()
		return
	}
	reply := wire.ReplyHeader{Xid: h.Xid}
	switch {
	case len(c.who) >= maxIdentities, c.identityBytes()+len(r.Auth) > maxIdentityBytes:
		reply.Err = wire.ErrAuthFailed
	case r.Scheme == "digest" && r.Auth != nil:
		digest := Digest(string(r.Auth))
		if digest == c.server.superDigest {
			c.authenticate(tree.Super())
		}
		c.authenticate(tree.Identity{Scheme: r.Scheme, ID: digest})
	case r.Scheme == "ip":
		c.authenticate(c.address())
	case r.Scheme == tree.X509 && slices.ContainsFunc(c.who, isCertified): // added by the TLS handshake
	default:
		reply.Err = wire.ErrAuthFailed
	}
	c.queue(reply)
	if reply.Err != wire.OK {
		c.leave()
	}
}

// identityBytes returns the length of all identities of the connection.
func (c *conn) identityBytes() (n int) {
	for _, i := range c.who {
		n += len(i.ID)
	}
	return n
}

func isCertified(i tree.Identity) bool { return i.Scheme == tree.X509 }

func (c *conn) authenticate(i tree.Identity) {
	if !slices.Contains(c.who, i) {
		c.who = append(slices.Clip(c.who), i)
	}
}

// whoAmI lists the connection's identities without their password hashes.
func (c *conn) whoAmI(h wire.RequestHeader) {
	var r wire.WhoAmI
	for _, i := range c.who {
		user := i.ID
		if i.Scheme == "digest" {
			user, _, _ = strings.Cut(user, ":")
		}
		r.Clients = append(r.Clients, wire.ClientInfo{Scheme: i.Scheme, User: user})
	}
	c.reply(h, r)
}

// getACL returns the ACL to clients that may read or administer the node. Only clients that may
// administer it see the password hashes.
func (c *conn) getACL(h wire.RequestHeader, d *wire.Decoder) {
	var r wire.Path
	if r.Decode(d); d.Err() != nil || d.NoPath() {
		c.answer(h.Xid, wire.ErrMarshalling)
		return
	}
	n := c.server.tree.Find(r.Path)
	switch {
	case n == nil:
		c.answer(h.Xid, wire.ErrNoNode)
	case n.Allows(wire.PermAdmin, c.who):
		c.reply(h, wire.ACLStat{ACL: n.ACL(), Stat: n.Stat()})
	case n.Allows(wire.PermRead, c.who):
		c.reply(h, wire.ACLStat{ACL: redacted(n.ACL()), Stat: n.Stat()})
	default:
		c.answer(h.Xid, wire.ErrNoAuth)
	}
}

func redacted(acl []wire.ACL) []wire.ACL {
	acl = slices.Clone(acl)
	for i := range acl {
		if acl[i].Scheme == "digest" {
			user, _, _ := strings.Cut(acl[i].ID, ":")
			acl[i].ID = user + ":x"
		}
	}
	return acl
}
