package wal

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

func create(path string, mode tree.Mode, acl ...wire.ACL) tree.Op {
	if acl == nil {
		acl = []wire.ACL{wire.OpenACL()}
	}
	return tree.Op{Kind: tree.Create, Path: path, Data: []byte("d" + path), ACL: acl, Mode: mode}
}

// history has transactions of every kind.
func history() []tree.Txn {
	ann := []tree.Identity{{Scheme: "ip", ID: "127.0.0.1"}, {Scheme: "digest", ID: "ann:hash"}}
	mine := wire.ACL{Perms: wire.PermAll, Scheme: "auth"}
	expiring := create("/ttl", tree.Expiring)
	expiring.TTL = 5
	multi := []tree.Op{
		{Kind: tree.Check, Path: "/a", Version: 1},
		create("/a/m", 0),
		{Kind: tree.SetData, Path: "/a", Version: tree.AnyVersion},
	}
	opening := tree.Opening{Timeout: 4000, Password: [wire.PasswordSize]byte{1, 2, 3, 15: 16}}
	txns := []tree.Txn{
		{Session: 7, Op: tree.Op{Kind: tree.OpenSession}, Opening: opening},
		{Session: 8, Op: tree.Op{Kind: tree.OpenSession}, Opening: opening},
		{Op: create("/a", 0)},
		{Op: create("/a", 0)}, // exists already, but takes a zxid
		{Op: create("/a/s-", tree.Sequential)},
		{Op: create("/a/e-", tree.Sequential|tree.Ephemeral)},
		{Session: 8, Op: create("/gone", tree.Ephemeral)},
		{Op: tree.Op{Kind: tree.SetData, Path: "/a", Data: []byte{}, Version: 0}},
		{Op: tree.Op{Kind: tree.Multi}, Ops: multi},
		{Who: ann, Op: create("/mine", 0, mine)},
		{Who: ann, Op: tree.Op{Kind: tree.SetACL, Path: "/a/m", ACL: []wire.ACL{mine}, Version: 0}},
		{Op: create("/box", tree.Container)},
		{Op: create("/box/x", 0)},
		{Op: tree.Op{Kind: tree.Delete, Path: "/box/x", Version: tree.AnyVersion}},
		{Op: tree.Op{Kind: tree.Reap, Path: "/box"}},
		{Op: expiring},
		{Op: tree.Op{Kind: tree.Refuse, Err: wire.ErrMarshalling}},
		{Session: 8, Op: tree.Op{Kind: tree.CloseSession}},
	}
	for i := range txns {
		if txns[i].Session == 0 {
			txns[i].Session = 7
		}
		txns[i].Time = 1000 + int64(i)
	}
	return txns
}

// A picture is everything visible of a tree.
type picture struct {
	Zxid       int64
	Size       tree.Size
	Nodes      map[string]node
	Sessions   map[int64]tree.Session
	Ephemerals map[int64][]string
	Idle       []string
}

type node struct {
	Data []byte
	ACL  []wire.ACL
	Stat wire.Stat
}

func pictureOf(t *tree.Tree) picture {
	p := picture{t.Zxid(), t.Size(), map[string]node{}, map[int64]tree.Session{}, map[int64][]string{}, t.Idle(1 << 40)}
	p.add(t, "")
	for s := range t.Sessions() {
		p.Sessions[s.ID] = s
		p.Ephemerals[s.ID] = slices.Sorted(t.Ephemerals(s.ID))
	}
	return p
}

func (p *picture) add(t *tree.Tree, path string) {
	n := t.Find(path)
	p.Nodes[path] = node{n.Data(), n.ACL(), n.Stat()}
	for name := range n.Children() {
		p.add(t, path+"/"+name)
	}
}
