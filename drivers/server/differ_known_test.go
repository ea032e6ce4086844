package server_test

import (
	"slices"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// known are the requests to which the native server and Apache ZooKeeper respond differently. The
// comparison omits them.
var known = []struct {
	what         string
	why          string
	from, before release // releases of ZooKeeper; the zero release means no limit
	is           func(session int, r request) bool
}{
	{
		what: "check, by itself",
		why:  "ZooKeeper's request thread dies of it; native answers with the header",
		is:   func(_ int, r request) bool { return r.op == wire.OpCheck },
	},
	{
		what: "createTTL with the flags of a node without one and a negative time",
		why:  "ZooKeeper fails when it applies it; native answers BadArguments",
		is: anyCreate(func(code int32, r wire.CreateTTLRequest) bool {
			return code == wire.OpCreateTTL && !expires(r.Flags) && r.TTL < 0
		}),
	},
	{
		what: "createContainer with the flags of an ephemeral node",
		why:  "ZooKeeper takes it for ephemeral until it has applied it, which shows in what is pipelined behind it",
		is: anyCreate(func(code int32, r wire.CreateTTLRequest) bool {
			return code == wire.OpCreateContainer && (r.Flags == 1 || r.Flags == 3)
		}),
	},
	{
		what: "deleteContainer",
		why:  "from 3.9 on clients may delete with it, whatever the access lists say; native refuses, as before",
		is:   func(_ int, r request) bool { return r.op == wire.OpDeleteContainer },
	},
	{
		what: "exists, by who may do not everything",
		why:  "since 3.9.2 it is for those who may read the node, if there is one; native answers everybody, as before",
		from: release{3, 9, 2},
		is:   func(session int, r request) bool { return r.op == wire.OpExists && session != 0 },
	},
	{
		what: "multiRead of nothing but writes",
		why:  "ZooKeeper sends the end of a result behind the error",
		is: func(_ int, r request) bool {
			m, _ := r.body.(multi)
			return r.op == wire.OpMultiRead && len(m) == 1 && m[0].op == wire.OpDelete
		},
	},
	{
		what:   "multi with creates whose flags are wrong or of a time to live, with create2, or with createContainer without its flag",
		why:    "before 3.9 the opcode of a create in a multi is not heeded, and wrong flags may leave pending changes behind",
		before: release{3, 9, 0},
		is: func(_ int, r request) bool {
			m, _ := r.body.(multi)
			return slices.ContainsFunc(m, func(op request) bool {
				c, ok := op.body.(wire.CreateRequest)
				return op.op == wire.OpCreate2 || ok && (c.Flags < 0 || c.Flags > wire.FlagContainer) ||
					op.op == wire.OpCreateContainer && c.Flags != wire.FlagContainer
			})
		},
	},
	{
		what:   "writes that cannot be read",
		why:    "before 3.9 they take a zxid",
		before: release{3, 9, 0},
		is: func(_ int, r request) bool {
			_, garbage := r.body.(wire.Int)
			return garbage && r.op != wire.OpReconfig && r.op != wire.OpMulti
		},
	},
	{
		what:   "checkWatches",
		why:    "before 3.9 it finds the watches of others (ZOOKEEPER-4471)",
		before: release{3, 9, 0},
		is:     func(_ int, r request) bool { return r.op == wire.OpCheckWatches },
	},
	{
		what:   "one-shot, persistent and recursive watches of one session on one path",
		why:    "before 3.9 the last one armed replaces the others (ZOOKEEPER-4466); so each path has one kind per session",
		before: release{3, 9, 0},
		is:     func(session int, r request) bool { return mixed(session, r) },
	},
}

// A release is a release of ZooKeeper.
type release [3]int

func (r release) compare(other release) int { return slices.Compare(r[:], other[:]) }

// differs returns the requests that a script must avoid when it is compared with the release.
func differs(r release) func(session int, q request) bool {
	return func(session int, q request) bool {
		for _, k := range known {
			if r.compare(k.from) >= 0 && (k.before == release{} || r.compare(k.before) < 0) && k.is(session, q) {
				return true
			}
		}
		return false
	}
}

func expires(flags int32) bool { return flags == wire.FlagTTL || flags == wire.FlagTTLSequential }

// anyCreate returns a predicate for requests with a create, alone or in a multi, for which is
// returns true.
func anyCreate(is func(code int32, r wire.CreateTTLRequest) bool) func(int, request) bool {
	var look func(session int, r request) bool
	look = func(session int, r request) bool {
		switch b := r.body.(type) {
		case wire.CreateRequest:
			return is(r.op, wire.CreateTTLRequest{CreateRequest: b})
		case wire.CreateTTLRequest:
			return is(r.op, b)
		case multi:
			return slices.ContainsFunc(b, func(op request) bool { return look(session, op) })
		}
		return false
	}
	return look
}

// mixed reports whether the request concerns watches of a kind other than the session already has
// on the path.
func mixed(session int, r request) bool {
	wrong := func(kind watchKind, paths ...string) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return kindOf(session, path) != kind })
	}
	switch b := r.body.(type) {
	case wire.PathWatch:
		return b.Watch && wrong(oneShot, b.Path)
	case wire.SetWatchesRequest:
		return wrong(oneShot, slices.Concat(b.Data, b.Exist, b.Child)...)
	case wire.SetWatches2Request:
		return wrong(oneShot, slices.Concat(b.Data, b.Exist, b.Child)...) ||
			wrong(persistent, b.Persistent...) || wrong(recursive, b.Recursive...)
	case wire.AddWatchRequest:
		return b.Mode == wire.AddWatchPersistent && wrong(persistent, b.Path) ||
			b.Mode == wire.AddWatchRecursive && wrong(recursive, b.Path)
	case wire.PathWatcher: // types 4 and 5 were added in 3.9
		return b.Type > wire.WatcherAny || b.Type != wire.WatcherAny && wrong(oneShot, b.Path)
	}
	return false
}

type watchKind int

const (
	oneShot watchKind = iota
	persistent
	recursive
)

func kindOf(session int, path string) watchKind {
	sum := session
	for _, c := range []byte(path) {
		sum += int(c)
	}
	return []watchKind{oneShot, persistent, oneShot, recursive}[sum%4]
}
