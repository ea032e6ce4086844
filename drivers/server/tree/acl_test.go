package tree

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/wire"
)

var (
	alice = Identity{"digest", "alice:hash"}
	bob   = Identity{"digest", "bob:hash"}
	near  = Identity{"ip", "10.1.2.3"}
)

func entry(perms int32, scheme, id string) wire.ACL {
	return wire.ACL{Perms: perms, Scheme: scheme, ID: id}
}

// as applies one operation with the identities in who.
func (l *log) as(who []Identity, op Op) wire.Err {
	return l.apply(Txn{Session: 1, Who: who, Op: op}).Err
}

// Every operation on /p needs one permission, on /p or on its parent.
func TestPermissions(t *testing.T) {
	for _, c := range []struct {
		name string
		need int32
		op   Op
	}{
		{"create", wire.PermCreate, Op{Kind: Create, Path: "/p/new"}},
		{"delete", wire.PermDelete, Op{Kind: Delete, Path: "/p/c", Version: AnyVersion}},
		{"delete what is not there", wire.PermDelete, Op{Kind: Delete, Path: "/p/none", Version: AnyVersion}},
		{"set", wire.PermWrite, Op{Kind: SetData, Path: "/p", Version: AnyVersion}},
		{"set the list", wire.PermAdmin, Op{Kind: SetACL, Path: "/p", Version: AnyVersion}},
		{"check", wire.PermRead, Op{Kind: Check, Path: "/p", Version: AnyVersion}},
	} {
		for perm := wire.PermRead; perm <= wire.PermAdmin; perm <<= 1 {
			l := newLog(t)
			l.as(nil, Op{Kind: Create, Path: "/p", ACL: []wire.ACL{entry(perm, "digest", alice.ID)}})
			l.apply(Txn{Who: []Identity{Super()}, Op: Op{Kind: Create, Path: "/p/c"}})
			if l.as([]Identity{near, bob}, c.op) != wire.ErrNoAuth {
				t.Errorf("%s by a stranger was allowed", c.name)
			}
			allowed := perm == c.need
			if got := l.as([]Identity{near, alice}, c.op) != wire.ErrNoAuth; got != allowed {
				t.Errorf("%s with permission %d: allowed %v, want %v", c.name, perm, got, allowed)
			}
			if l.as([]Identity{bob, Super()}, c.op) == wire.ErrNoAuth {
				t.Errorf("%s by super was not allowed", c.name)
			}
		}
	}
}

func TestIdentitiesMatch(t *testing.T) {
	for _, c := range []struct {
		acl  wire.ACL
		want bool
	}{
		{entry(1, "world", "anyone"), true},
		{entry(1, "digest", "alice:hash"), true},
		{entry(1, "digest", "alice:other"), false},
		{entry(1, "ip", "10.1.2.3"), true},
		{entry(1, "ip", "10.1.2.4"), false},
		{entry(1, "ip", "10.1.0.0/16"), true},
		{entry(1, "ip", "10.1.2.2/31"), true},
		{entry(1, "ip", "10.1.2.2/32"), false},
		{entry(1, "ip", "99.99.99.99/0"), true},
	} {
		n := &Node{access: accessOf([]wire.ACL{c.acl})}
		if got := n.Allows(1, []Identity{near, alice}); got != c.want {
			t.Errorf("%+v allows: %v, want %v", c.acl, got, c.want)
		}
		if n.Allows(2, []Identity{near, alice}) {
			t.Errorf("%+v allows what it does not name", c.acl)
		}
	}
}

func TestListsAreGranted(t *testing.T) {
	read := entry(1, "digest", "u:h")
	for _, c := range []struct{ ask, want []wire.ACL }{
		{[]wire.ACL{wire.OpenACL()}, nil},
		{[]wire.ACL{read, read, wire.OpenACL()}, []wire.ACL{read, wire.OpenACL()}},
		{[]wire.ACL{entry(3, "auth", "ignored")}, []wire.ACL{entry(3, "digest", alice.ID), entry(3, "digest", bob.ID)}},
		{[]wire.ACL{entry(1, "ip", "1.2.3.4/0"), entry(0, "digest", ":h:")}, []wire.ACL{entry(1, "ip", "1.2.3.4/0"), entry(0, "digest", ":h:")}},
	} {
		got, err := granted(c.ask, []Identity{near, alice, bob})
		if diff := cmp.Diff(c.want, got); diff != "" || err != wire.OK {
			t.Errorf("%v: error %d (-want +got):\n%s", c.ask, err, diff)
		}
	}
	for _, bad := range []wire.ACL{
		entry(1, "world", "me"), entry(1, "", ""), entry(1, "nobody", "x"), entry(1, "super", ""), entry(1, "auth", ""),
		entry(1, "digest", "u"), entry(1, "digest", "u:"), entry(1, "digest", "u:h:x"), entry(1, "digest", ""),
		entry(1, "ip", "1.2.3"), entry(1, "ip", "1.2.3.256"), entry(1, "ip", "1.2.3.4/33"), entry(1, "ip", "1.2.3.4/"),
		entry(1, "ip", "1.2.3.x"), entry(1, "ip", "1.2.3.-4"), entry(1, "ip", "1.2.3.4.5"), entry(1, "ip", "::1"),
	} {
		if _, err := granted([]wire.ACL{wire.OpenACL(), bad}, []Identity{near}); err != wire.ErrInvalidACL {
			t.Errorf("%+v: error %d, want %d", bad, err, wire.ErrInvalidACL)
		}
	}
	if _, err := granted([]wire.ACL{}, nil); err != wire.ErrInvalidACL {
		t.Errorf("an empty list: error %d, want %d", err, wire.ErrInvalidACL)
	}
}

// A short list that expands to a very long one is refused.
func TestListsAreBounded(t *testing.T) {
	var ask []wire.ACL
	for i := range int32(maxACL/2 + 1) {
		ask = append(ask, entry(i, "auth", ""))
	}
	if _, err := granted(ask, []Identity{alice, bob}); err != wire.ErrInvalidACL {
		t.Errorf("error %d, want %d", err, wire.ErrInvalidACL)
	}
	if list, err := granted(ask, []Identity{alice}); err != wire.OK || len(list) != len(ask) {
		t.Errorf("error %d, %d entries; want %d", err, len(list), len(ask))
	}
}

// A list is validated before the node is looked up, and replaced only if its version matches.
func TestSetACL(t *testing.T) {
	l := newLog(t)
	l.create("/a", 0)
	empty, mine := []wire.ACL{}, []wire.ACL{entry(wire.PermAll, "digest", "u:h")}
	l.do(Op{Kind: SetACL, Path: "/none", ACL: empty}, wire.ErrInvalidACL)
	l.do(Op{Kind: Create, Path: "/none/x", ACL: empty}, wire.ErrInvalidACL)
	l.do(Op{Kind: SetACL, Path: "/a", ACL: mine, Version: 1}, wire.ErrBadVersion)
	if got := l.Find("/a").ACL(); !slices.Equal(got, everyone) {
		t.Errorf("list %v, want everyone's", got)
	}
	l.do(Op{Kind: SetACL, Path: "/a", ACL: mine, Version: 0}, wire.OK)
	if got := l.Find("/a").ACL(); !slices.Equal(got, mine) {
		t.Errorf("list %v, want %v", got, mine)
	}
}
