package server_test

import (
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// path returns one of a few paths, sometimes a created or watched one, and rarely a reserved or
// invalid one.
func (s *script) path() string {
	switch n := s.IntN(20); {
	case n == 0:
		return pick(s, []string{"/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota", "/zookeeper/quota/a",
			"", "a", "//", "/a/", "/a//b", "/a/.", "/a/../b", "/..", "/a\x00b", "/a\x01", "/\u00e4", "/a/\u2603"})
	case n < 6 && len(s.made) > 0:
		return pick(s, s.made)
	case n < 11 && len(s.watched) > 0:
		return pick(s, s.watched)
	}
	path := "/" + pick(s, []string{"a", "b", "c"})
	for s.IntN(2) == 0 {
		path += "/" + pick(s, []string{"a", "b", "c-"})
	}
	return path
}

func (s *script) version() int32 {
	if s.IntN(2) == 0 {
		return -1
	}
	return s.Int32N(4)
}

func (s *script) data() []byte {
	return pick(s, [][]byte{nil, {}, []byte("x"), []byte("some data")})
}

// acl is open most of the time.
func (s *script) acl() (acl []wire.ACL) {
	if s.IntN(4) != 0 {
		return []wire.ACL{wire.OpenACL()}
	}
	for range s.IntN(4) {
		acl = append(acl, pick(s, []wire.ACL{
			wire.OpenACL(),
			{Perms: s.Int32N(32), Scheme: "world", ID: "anyone"},
			{Perms: s.Int32N(32), Scheme: "auth", ID: pick(s, []string{"", "ignored"})},
			{Perms: s.Int32N(32), Scheme: "digest", ID: server.Digest(s.user())},
			{Perms: s.Int32N(32), Scheme: "digest", ID: pick(s, []string{"ann:x", "ann", ":x", "ann:x:", "a:b:c", ""})},
			{Perms: s.Int32N(32), Scheme: "ip", ID: pick(s, []string{"127.0.0.1", "127.0.0.0/8", "10.0.0.1", "0.0.0.0/0"})},
			{Perms: s.Int32N(32), Scheme: "ip", ID: pick(s, []string{"1.2.3", "1.2.3.256", "1.2.3.4/33", "here", "127.0.0.1/"})},
			{Perms: 31, Scheme: pick(s, []string{"", "super", "sasl", "World"}), ID: "anyone"},
		}))
	}
	return acl
}

func (s *script) create(flags int32) wire.CreateRequest {
	return wire.CreateRequest{Path: s.path(), Data: s.data(), ACL: s.acl(), Flags: flags}
}

func (s *script) createTTL() wire.CreateTTLRequest {
	return wire.CreateTTLRequest{
		CreateRequest: s.create(pick(s, []int32{wire.FlagTTL, wire.FlagTTL, wire.FlagTTLSequential, s.anyFlags()})),
		TTL:           pick(s, []int64{1 << 39, 1<<40 - 1, 1 << 40, 0, -1}),
	}
}

// plainFlags are mostly the flags of persistent and ephemeral nodes.
func (s *script) plainFlags() int32 {
	if s.IntN(10) == 0 {
		return s.anyFlags()
	}
	return s.Int32N(4)
}

func (s *script) anyFlags() int32 { return s.Int32N(9) - 1 }

// A multi is a record of several operations.
type multi []request

// Append appends the record to b.
func (m multi) Append(b []byte) []byte {
	for _, r := range m {
		b = r.body.Append(wire.MultiHeader{Type: r.op, Err: -1}.Append(b))
	}
	return wire.MultiEnd().Append(b)
}

func (s *script) multi(n int) (m multi) {
	for range n {
		switch s.IntN(12) {
		case 0, 1, 2, 3:
			m = append(m, request{s.oneOf(wire.OpCreate, wire.OpCreate2), s.create(s.plainFlags())})
		case 4:
			m = append(m, request{wire.OpCreateContainer, s.create(pick(s, []int32{0, 2, 4, 4, 4}))})
		case 5:
			m = append(m, request{wire.OpCreateTTL, s.createTTL()})
		case 6, 7:
			m = append(m, request{wire.OpDelete, wire.PathVersion{Path: s.path(), Version: s.version()}})
		case 8, 9:
			m = append(m, request{wire.OpSetData, wire.SetDataRequest{Path: s.path(), Data: s.data(), Version: s.version()}})
		default:
			m = append(m, request{wire.OpCheck, wire.PathVersion{Path: s.path(), Version: s.version()}})
		}
	}
	if s.IntN(50) == 0 {
		m = append(m, request{wire.OpGetData, wire.PathWatch{Path: s.path()}})
	}
	return m
}

func (s *script) multiRead(n int) (m multi) {
	for range n {
		m = append(m, request{s.oneOf(wire.OpGetData, wire.OpGetChildren), wire.PathWatch{Path: s.path(), Watch: s.IntN(2) == 0}})
	}
	if s.IntN(20) == 0 {
		m = append(m, request{wire.OpDelete, wire.PathVersion{Path: s.path()}})
	}
	return m
}
