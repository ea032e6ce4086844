package server_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// Three clients of go-zookeeper take a lock in turn and count while they hold it, each keeps a node, and a
// watcher reads the counter after each of its changes, while leaders are killed. The lock never has two
// holders, the counter has every increment that was acknowledged, it never steps back for the watcher, and
// no session is lost.
func TestGoZooKeeperFailsOver(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startFailover(t)
	c := newCounting(e)
	w := startCounterWatch(connectTo(t, e.addresses()...), c.counter)
	all := []*locker{c.start("/lock"), c.start("/lock"), c.start("/lock")}
	for e.kills < fewestKills(3) {
		e.killLeader()
		for _, l := range all {
			l.awaitTurn(e)
		}
	}
	var acknowledged, unknown int64
	for _, l := range all {
		if err := l.end(); err != nil {
			t.Error(err)
		}
		acknowledged, unknown = acknowledged+l.turns.Load(), unknown+l.unknown
		if _, stat, err := c.setup.Get(l.member); err != nil || stat.EphemeralOwner != l.session {
			t.Errorf("%s: %v, want a node of the session %#x", l.member, err, l.session)
		}
	}
	last, _, err := readCounter(c.setup, c.counter)
	if err != nil || last < acknowledged || last > acknowledged+unknown {
		t.Errorf("the counter is %d, %v, after %d acknowledged increments and %d without an answer", last, err, acknowledged, unknown)
	}
	e.until("the watcher has read the last value", func() bool { return w.read.Load() == last || len(w.ended) > 0 })
	w.conn.Close()
	if err := <-w.ended; !errors.Is(err, zk.ErrClosing) {
		t.Errorf("the watcher ended: %v", err)
	}
	for _, l := range all {
		l.conn.Close()
	}
	t.Logf("%d increments acknowledged, %d without an answer", acknowledged, unknown)
	e.wantEqualMembers()
}

// The clients find that another holds the lock: here each has a lock of its own.
func TestGoZooKeeperFindsTwoHolders(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startFailover(t)
	c := newCounting(e)
	all := []*locker{c.start("/one"), c.start("/another")}
	e.until("a client has found another", func() bool { return len(all[0].ended)+len(all[1].ended) > 0 })
	for _, l := range all {
		l.stops.Store(true)
	}
	if one, another := <-all[0].ended, <-all[1].ended; one == nil && another == nil {
		t.Error("no client has found another")
	}
}

// The watcher finds that the counter steps back.
func TestGoZooKeeperFindsAStepBack(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startFailover(t)
	c := newCounting(e)
	w := startCounterWatch(connectTo(t, e.addresses()...), c.counter)
	for _, n := range []int64{2, 1} {
		if _, err := c.setup.Set(c.counter, []byte(strconv.FormatInt(n, 10)), -1); err != nil {
			t.Fatal(err)
		}
		e.until("the watcher has read the value", func() bool { return w.read.Load() == n })
	}
	if err := <-w.ended; err == nil || !strings.HasSuffix(err.Error(), "steps back from 2 to 1") {
		t.Error(err)
	}
}

// A counting has the nodes of clients that count: below root their locks and their own nodes, and a number that
// only the holder of the lock increments.
type counting struct {
	e             *failover
	setup         *zk.Conn
	root, counter string
	holders       atomic.Int32 // of the lock
	clients       int
}

func newCounting(e *failover) *counting {
	e.t.Helper()
	c := &counting{e: e, setup: connectTo(e.t, e.addresses()...)}
	var err error
	if c.root, err = c.setup.Create("/go-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil {
		e.t.Fatal(err)
	}
	c.counter = c.create("/counter", "0")
	return c
}

func (c *counting) create(name, data string) (path string) {
	c.e.t.Helper()
	path = c.root + name
	if _, err := c.setup.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		c.e.t.Fatal(path, err)
	}
	return path
}

func readCounter(conn *zk.Conn, path string) (int64, *zk.Stat, error) {
	data, stat, err := conn.Get(path)
	if err != nil {
		return 0, nil, err
	}
	n, err := strconv.ParseInt(string(data), 10, 64)
	return n, stat, err
}

// noAnswer reports whether a call has failed because the connection broke: it may have taken effect.
func noAnswer(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer)
}

// again repeats a call until it has an answer.
func again(call func() error) error {
	for {
		if err := call(); !noAnswer(err) {
			return err
		}
	}
}

// A locker takes a lock and counts, again and again.
type locker struct {
	*counting
	conn    *zk.Conn
	lock    string
	member  string // its own node
	session int64
	turns   atomic.Int64 // whose increment was acknowledged
	unknown int64        // increments without an answer
	stops   atomic.Bool
	ended   chan error
}

func (c *counting) start(lock string) *locker {
	c.e.t.Helper()
	c.clients++
	l := &locker{
		counting: c, conn: connectTo(c.e.t, c.e.addresses()...), lock: c.create(lock, ""),
		member: fmt.Sprintf("%s/member-%d", c.root, c.clients), ended: make(chan error, 1),
	}
	if _, err := l.conn.Create(l.member, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		c.e.t.Fatal(err)
	}
	l.session = l.conn.SessionID()
	go func() { l.ended <- l.run() }()
	return l
}

func (l *locker) run() error {
	for !l.stops.Load() {
		lock := zk.NewLock(l.conn, l.lock, zk.WorldACL(zk.PermAll))
		err := lock.Lock()
		if err == nil {
			err = l.turn()
		}
		if err == nil {
			err = lock.Unlock()
		}
		if err != nil && !noAnswer(err) {
			return err
		}
		if err := again(l.release); err != nil {
			return err
		}
	}
	return nil
}

// turn counts once.
func (l *locker) turn() error {
	if n := l.holders.Add(1); n != 1 {
		return fmt.Errorf("%s has a lock of %d holders", l.member, n)
	}
	defer l.holders.Add(-1)
	n, stat, err := readCounter(l.conn, l.counter)
	if err != nil {
		return err
	}
	switch _, err = l.conn.Set(l.counter, []byte(strconv.FormatInt(n+1, 10)), stat.Version); {
	case noAnswer(err):
		l.unknown++
	case err != nil:
		return fmt.Errorf("%s holds the lock, and the counter was changed: %w", l.member, err)
	default:
		l.turns.Add(1)
	}
	return nil
}

// release removes all nodes of this client at the lock. [zk.Lock.Lock] leaves one if it fails, and
// [zk.Lock.Unlock] if it has no answer.
func (l *locker) release() error {
	if _, err := l.conn.Sync(l.lock); err != nil {
		return err
	}
	names, _, err := l.conn.Children(l.lock)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := l.lock + "/" + name
		_, stat, err := l.conn.Get(path)
		if err == nil && stat.EphemeralOwner == l.session {
			err = l.conn.Delete(path, -1)
		}
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	return nil
}

// awaitTurn waits until the client has counted twice more: the second turn began after the call.
func (l *locker) awaitTurn(e *failover) {
	e.t.Helper()
	before := l.turns.Load()
	e.until(l.member+" has counted", func() bool { return l.turns.Load() > before+1 || len(l.ended) > 0 })
	if len(l.ended) > 0 {
		e.t.Fatal(<-l.ended)
	}
}

func (l *locker) end() error {
	l.stops.Store(true)
	return <-l.ended
}

// A counterWatch reads the counter and waits for its next change, again and again.
type counterWatch struct {
	conn  *zk.Conn
	path  string
	read  atomic.Int64
	ended chan error
}

func startCounterWatch(conn *zk.Conn, path string) *counterWatch {
	w := &counterWatch{conn: conn, path: path, ended: make(chan error, 1)}
	go func() { w.ended <- w.run() }()
	return w
}

func (w *counterWatch) run() error {
	for {
		data, _, changed, err := w.conn.GetW(w.path)
		if noAnswer(err) {
			continue
		}
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(data), 10, 64)
		if err != nil {
			return err
		}
		if before := w.read.Swap(n); n < before {
			return fmt.Errorf("the counter steps back from %d to %d", before, n)
		}
		if event := <-changed; event.Err != nil && !noAnswer(event.Err) {
			return event.Err
		}
	}
}
