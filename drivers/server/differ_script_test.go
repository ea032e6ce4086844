package server_test

import (
	"math/rand/v2"

	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/wire"
)

type record interface{ Append(b []byte) []byte }

// A request is one request of a script.
type request struct {
	op   int32
	body record // nil for none
}

// A script is a random sequence of requests. Several sessions use few nodes, so that they conflict.
type script struct {
	*rand.Rand
	made    []string // paths in replies since the last wipe
	watched []string // the last few watched paths
	avoid   func(session int, r request) bool
}

// requests returns the requests that one session pipelines. Some come alone: ZooKeeper handles
// credentials out of order, and enforces a new ACL only from the moment when it is applied, also
// for requests pipelined behind it.
func (s *script) requests(session int) []request {
	list := []request{s.request(session)}
	if s.IntN(10) == 0 && !alone(list[0]) {
		for range s.IntN(8) {
			if r := s.request(session); !alone(r) {
				list = append(list, r)
			}
		}
	}
	return list
}

func alone(r request) bool { return r.op == wire.OpAuth || r.op == wire.OpSetACL }

func (s *script) request(session int) request {
	for {
		if r := s.any(); !s.avoid(session, r) {
			s.note(r)
			return r
		}
	}
}

// note makes it likely that a script uses a watched path again soon.
func (s *script) note(r request) {
	switch b := r.body.(type) {
	case wire.PathWatch:
		if b.Watch {
			s.watched = append(s.watched, b.Path)
		}
	case wire.AddWatchRequest:
		s.watched = append(s.watched, b.Path)
	}
	s.watched = s.watched[max(0, len(s.watched)-8):]
}

// any returns a random request that does not end the connection.
func (s *script) any() request {
	switch s.IntN(25) {
	case 0, 1, 2, 3:
		return request{s.oneOf(wire.OpCreate, wire.OpCreate2), s.create(s.plainFlags())}
	case 4:
		return request{wire.OpCreateContainer, s.create(s.anyFlags())}
	case 5:
		return request{wire.OpCreateTTL, s.createTTL()}
	case 6, 7:
		return request{wire.OpDelete, wire.PathVersion{Path: s.path(), Version: s.version()}}
	case 8, 9:
		return request{wire.OpSetData, wire.SetDataRequest{Path: s.path(), Data: s.data(), Version: s.version()}}
	case 10:
		return request{wire.OpSetACL, wire.SetACLRequest{Path: s.path(), ACL: s.acl(), Version: s.version()}}
	case 11, 12:
		return request{wire.OpMulti, s.multi(s.IntN(6))}
	case 13:
		return request{wire.OpMultiRead, s.multiRead(s.IntN(6))}
	case 14, 15, 16, 17:
		return request{s.oneOf(wire.OpExists, wire.OpGetData, wire.OpGetChildren, wire.OpGetChildren2),
			wire.PathWatch{Path: s.path(), Watch: s.IntN(2) == 0}}
	case 18, 24:
		return s.watching()
	case 19:
		return request{wire.OpGetACL, wire.Path{Path: s.path()}}
	case 20:
		return request{s.oneOf(wire.OpSync, wire.OpGetEphemerals, wire.OpAllChildrenNum, wire.OpDeleteContainer),
			wire.Path{Path: s.path()}}
	case 21:
		return pick(s, []request{{wire.OpWhoAmI, nil}, {wire.OpReconfig, wire.ReconfigRequest{ConfigID: -1}}})
	case 22:
		return request{wire.OpAuth, s.credentials()}
	default:
		return s.malformed()
	}
}

// watching returns a request about watches.
func (s *script) watching() request {
	some := func() (list []string) {
		for range s.IntN(3) {
			list = append(list, s.path())
		}
		return list
	}
	again := wire.SetWatchesRequest{RelativeZxid: since(s.Int64N(50)), Data: some(), Exist: some(), Child: some()}
	switch s.IntN(6) {
	case 0:
		return request{wire.OpSetWatches, again}
	case 1:
		return request{wire.OpSetWatches2, wire.SetWatches2Request{SetWatchesRequest: again, Persistent: some(), Recursive: some()}}
	case 2, 3:
		return request{wire.OpAddWatch, wire.AddWatchRequest{Path: pick(s, []string{"/", s.path(), s.path()}), Mode: s.Int32N(3)}}
	default:
		return request{s.oneOf(wire.OpCheckWatches, wire.OpRemoveWatches),
			wire.PathWatcher{Path: s.path(), Type: s.Int32N(7)}}
	}
}

// since returns a zxid relative to the present; it becomes absolute when it is sent.
func since(n int64) int64 { return -n }

// malformed is a request with an invalid record.
func (s *script) malformed() request {
	return request{s.oneOf(wire.OpCreate, wire.OpCreate2, wire.OpCreateTTL, wire.OpDelete, wire.OpSetData, wire.OpSetACL,
		wire.OpMulti, wire.OpMultiRead, wire.OpExists, wire.OpGetData, wire.OpGetChildren, wire.OpGetChildren2,
		wire.OpGetACL, wire.OpSync, wire.OpGetEphemerals, wire.OpAllChildrenNum, wire.OpSetWatches, wire.OpSetWatches2,
		wire.OpAddWatch, wire.OpCheckWatches, wire.OpRemoveWatches, wire.OpReconfig), wire.Int{Value: 1 << 20}}
}

// credentials returns the ip scheme, or the credentials of one of three users.
func (s *script) credentials() wire.AuthRequest {
	if s.IntN(4) == 0 {
		return wire.AuthRequest{Scheme: "ip"}
	}
	return wire.AuthRequest{Scheme: "digest", Auth: []byte(s.user())}
}

func (s *script) user() string { return pick(s, []string{"ann:secret", "bob:secret", "nobody"}) }

func (s *script) oneOf(codes ...int32) int32 { return pick(s, codes) }

func pick[T any](s *script, list []T) T { return list[s.IntN(len(list))] }

// superUser has all permissions.
const superUser = "super:secret"

func superDigest() string { return server.Digest(superUser) }
