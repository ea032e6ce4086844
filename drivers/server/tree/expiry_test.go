package tree

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

func (l *log) wantIdle(now int64, want ...string) {
	l.t.Helper()
	if got := l.Idle(now); !slices.Equal(got, want) {
		l.t.Errorf("at %d idle: %v, want %v", now, got, want)
	}
}

// A container may be deleted after it had a child and has none any more.
func TestContainersGoAfterTheirLastChild(t *testing.T) {
	l := newLog(t)
	l.create("/c", Container)
	l.wantIdle(0)
	l.create("/c/x", 0)
	l.wantIdle(0)
	l.do(Op{Kind: Reap, Path: "/c"}, wire.ErrNotEmpty)
	l.do(Op{Kind: Delete, Path: "/c/x", Version: AnyVersion}, wire.OK)
	l.wantIdle(0, "/c")
	l.do(Op{Kind: Reap, Path: "/c"}, wire.OK)
	l.wantEvents(Event{Type: wire.EventDeleted, Path: "/c"}, Event{Type: wire.EventChildrenChanged, Path: "/"})
	l.do(Op{Kind: Reap, Path: "/c"}, wire.ErrNoNode)
	l.wantIdle(0)
}

// A node with a TTL may be deleted when it was not written for that time.
func TestTimeToLive(t *testing.T) {
	l := newLog(t)
	at := func(now int64, op Op) {
		if r := l.apply(Txn{Time: now, Op: op}); r.Err != wire.OK {
			t.Fatalf("%+v: error %d", op, r.Err)
		}
	}
	at(1000, Op{Kind: Create, Path: "/b", Mode: Expiring, TTL: 100})
	at(1000, Op{Kind: Create, Path: "/a", Mode: Expiring, TTL: MaxTTL})
	at(1000, Op{Kind: Create, Path: "/plain"})
	l.wantIdle(1100)
	l.wantIdle(1101, "/b")
	at(1200, Op{Kind: SetData, Path: "/b", Version: AnyVersion})
	l.wantIdle(1300)
	at(1250, Op{Kind: Create, Path: "/b/child"})
	l.wantIdle(1301)
	at(1260, Op{Kind: Delete, Path: "/b/child", Version: AnyVersion})
	l.wantIdle(1301, "/b")
	l.wantIdle(1001+MaxTTL, "/a", "/b")
	l.do(Op{Kind: Reap, Path: "/plain"}, wire.ErrBadVersion)
}
