package server

import (
	"slices"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

func (r *raw) authenticate(userPassword string) {
	r.t.Helper()
	r.wantReply(r.ask(wire.XidAuth, wire.OpAuth, wire.AuthRequest{Scheme: "digest", Auth: []byte(userPassword)}), wire.XidAuth, wire.OK)
}

func (r *raw) whoAmI() (users []string) {
	r.t.Helper()
	var who wire.WhoAmI
	p := r.ask(1, wire.OpWhoAmI, nil)
	who.Decode(&p.body)
	for _, c := range who.Clients {
		users = append(users, c.Scheme+" "+c.User)
	}
	return users
}

// The expected value is what ZooKeeper's own tool prints.
func TestDigest(t *testing.T) {
	if got, want := Digest("user:password"), "user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY="; got != want {
		t.Errorf("digest %q, want %q", got, want)
	}
}

// A client with the super digest's password may do everything, and its identities end with its
// connection.
func TestCredentialsBelongToAConnection(t *testing.T) {
	s := New(Options{SuperDigest: Digest("root:secret")})
	t.Cleanup(s.Close)
	first, root := dialRaw(t, s), openRaw(t, s)
	session := first.connect(wire.ConnectRequest{Timeout: 10_000})
	first.authenticate("u:p")
	first.authenticate("u:p")
	if got, want := first.whoAmI(), []string{"ip 127.0.0.1", "digest u"}; !slices.Equal(got, want) {
		t.Errorf("first is %q, want %q", got, want)
	}
	mine := []wire.ACL{{Perms: wire.PermAll, Scheme: "auth"}}
	first.wantReply(first.ask(1, wire.OpCreate, wire.CreateRequest{Path: "/a", ACL: mine}), 1, wire.OK)

	get := wire.PathWatch{Path: "/a"}
	first.wantReply(first.ask(2, wire.OpGetData, get), 2, wire.OK)
	again := dialRaw(t, s)
	again.connect(wire.ConnectRequest{SessionID: session.SessionID, Password: session.Password})
	again.wantReply(again.ask(3, wire.OpGetData, get), 3, wire.ErrNoAuth)
	root.wantReply(root.ask(1, wire.OpGetData, get), 1, wire.ErrNoAuth)
	root.authenticate("root:wrong")
	root.wantReply(root.ask(2, wire.OpGetData, get), 2, wire.ErrNoAuth)
	root.authenticate("root:secret")
	root.wantReply(root.ask(3, wire.OpGetData, get), 3, wire.OK)
}

// A client that may not administer a node does not see the hashes in its ACL. A client that may
// neither read nor administer it does not see the ACL.
func TestGetACLIsRedacted(t *testing.T) {
	s := newServer(t)
	owner, reader := openRaw(t, s), openRaw(t, s)
	owner.authenticate("u:p")
	secret := wire.ACL{Perms: wire.PermAll, Scheme: "digest", ID: Digest("u:p")}
	readers := wire.ACL{Perms: wire.PermRead, Scheme: "world", ID: "anyone"}
	set := func(acl ...wire.ACL) {
		owner.wantReply(owner.ask(1, wire.OpSetACL, wire.SetACLRequest{Path: "/a", ACL: acl, Version: -1}), 1, wire.OK)
	}
	get := func(r *raw) (list wire.ACLStat) {
		p := r.ask(1, wire.OpGetACL, wire.Path{Path: "/a"})
		r.wantReply(p, 1, wire.OK)
		list.Decode(&p.body)
		return list
	}
	owner.ask(1, wire.OpCreate, open("/a", 0))
	set(secret, readers)
	if got := get(owner).ACL; !slices.Equal(got, []wire.ACL{secret, readers}) {
		t.Errorf("the owner sees %v", got)
	}
	hidden := secret
	hidden.ID = "u:x"
	if got := get(reader).ACL; !slices.Equal(got, []wire.ACL{hidden, readers}) {
		t.Errorf("a reader sees %v", got)
	}
	set(secret)
	reader.wantReply(reader.ask(2, wire.OpGetACL, wire.Path{Path: "/a"}), 2, wire.ErrNoAuth)
}

// A watch on a node does not report events of descendants that its owner may not read.
func TestEventsAreForReaders(t *testing.T) {
	s := newServer(t)
	owner, other := openRaw(t, s), openRaw(t, s)
	owner.authenticate("u:p")
	for _, r := range []*raw{owner, other} {
		r.wantReply(r.ask(1, wire.OpAddWatch, wire.AddWatchRequest{Path: "/", Mode: wire.AddWatchRecursive}), 1, wire.OK)
	}
	mine := []wire.ACL{{Perms: wire.PermAll, Scheme: "auth"}}
	created := owner.ask(2, wire.OpCreate, wire.CreateRequest{Path: "/secret", ACL: mine})
	if e := created.event(); created.Xid != wire.XidNotification || e.Path != "/secret" {
		t.Errorf("the owner got xid %d, %+v; want the event", created.Xid, e)
	}
	owner.wantReply(owner.read(), 2, wire.OK)
	other.wantReply(other.ask(2, wire.OpExists, wire.PathWatch{Path: "/secret"}), 2, wire.OK)
}

// Containers that had a child, and nodes whose TTL has passed, are deleted at the next check, and
// watchers are notified.
func TestMortalNodesGo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := New(Options{Tick: time.Minute})
		t.Cleanup(s.Close)
		r := dialRaw(t, s)
		r.connect(wire.ConnectRequest{Timeout: 1 << 30})
		r.wantReply(r.ask(1, wire.OpCreateContainer, open("/c", wire.FlagContainer)), 1, wire.OK)
		r.wantReply(r.ask(2, wire.OpCreate, open("/c/child", 0)), 2, wire.OK)
		r.wantReply(r.ask(3, wire.OpCreateTTL, wire.CreateTTLRequest{CreateRequest: open("/t", wire.FlagTTL), TTL: 90_000}), 3, wire.OK)
		r.wantReply(r.ask(4, wire.OpExists, wire.PathWatch{Path: "/t", Watch: true}), 4, wire.OK)
		time.Sleep(reapEvery + time.Second)
		r.wantReply(r.ask(5, wire.OpDelete, wire.PathVersion{Path: "/c/child", Version: -1}), 5, wire.OK)
		r.wantReply(r.ask(6, wire.OpExists, wire.PathWatch{Path: "/c", Watch: true}), 6, wire.OK)
		time.Sleep(reapEvery)
		for _, want := range []string{"/c", "/t"} {
			p := r.read()
			if e := p.event(); p.Xid != wire.XidNotification || e.Type != wire.EventDeleted || e.Path != want {
				t.Errorf("got xid %d, %+v; want the deletion of %s", p.Xid, e, want)
			}
		}
	})
}
