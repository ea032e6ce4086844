package server

import (
	"crypto/sha1"
	"encoding/base64"
	"net"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

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

// maxIdentities limits the identities of one connection.
const maxIdentities = 128

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
	case len(c.who) >= maxIdentities:
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
	if r.Decode(d); d.Err() != nil {
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
