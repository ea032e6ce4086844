package etcd_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
)

// A record is an Observer that writes down the messages of all connections.
type record struct {
	mu       sync.Mutex
	lines    []string
	sessions []traffic.Session
	leases   []int64 // as requests name them
	gap      int64
	cause    traffic.Cause // of the latest gap
	members  []string
	waits    chan struct{} // if not nil, closed when a watch of one node is requested
}

func (r *record) Open(traffic.Connection) traffic.Tap { return r }
func (r *record) Close(time.Time)                     {}
func (r *record) Missed(traffic.Undecoded)            {}
func (r *record) Members(_ time.Time, all []string)   { r.members = append(r.members, all...) }
func (r *record) Lease(_ time.Time, id int64)         { r.leases = append(r.leases, id) }
func (r *record) Owner(traffic.Process)               {}

func (r *record) Gap(_ time.Time, bytes int64, cause traffic.Cause) {
	r.gap, r.cause = r.gap+bytes, cause
}
func (r *record) Session(_ time.Time, s traffic.Session) {
	r.sessions = append(r.sessions, s)
}

func (r *record) Message(_ time.Time, m drivers.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Op == drivers.OpPing {
		return
	}
	kind := map[drivers.MessageKind]string{drivers.Request: "request", drivers.Reply: "reply", drivers.Notification: "event"}[m.Kind]
	line := fmt.Sprint(kind, " ", m.Op, " ", string(m.Path))
	if m.Kind == drivers.Notification {
		line = fmt.Sprint(kind, " ", m.Event, " ", string(m.Path))
	}
	for _, p := range m.Parts {
		line += fmt.Sprint("; ", p.Op, " ", string(p.Path))
	}
	if m.Err != nil {
		line += ": " + m.Err.Error()
	}
	r.lines = append(r.lines, line)
	if m.Kind == drivers.Request && m.Op == drivers.OpWatchNode && r.waits != nil {
		close(r.waits)
	}
}

// observed runs a function with a client whose connections pass through a proxy, and returns what
// an observer got.
func observed(t *testing.T, use func(ctx context.Context, c *clientv3.Client, root string, r *record)) *record {
	t.Helper()
	r := &record{waits: make(chan struct{})}
	p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: backendtest.SharedEtcd(t)}},
		proxy.Options{Protocol: etcd.Protocol(), Observer: r})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c, err := clientv3.New(clientv3.Config{Endpoints: p.Addresses(), DialTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	use(t.Context(), c, fmt.Sprint("/observed-", time.Now().UnixNano()), r)
	p.Flush()
	return r
}

// TestCallsAreDecoded makes calls of each kind and compares what an observer gets.
func TestCallsAreDecoded(t *testing.T) {
	var root string
	r := observed(t, func(ctx context.Context, c *clientv3.Client, at string, _ *record) {
		root = at
		must(t, err(c.Put(ctx, root+"/a", secret)))
		must(t, err(c.Get(ctx, root+"/a")))
		must(t, err(c.Get(ctx, root+"/", clientv3.WithPrefix())))
		must(t, err(c.Txn(ctx).If(missing(root+"/a")).Then(clientv3.OpPut(root+"/a", strings.Repeat(secret, 10_000))).Commit()))
		must(t, err(c.Delete(ctx, root+"/a")))
		must(t, err(c.Txn(ctx).If(missing(root+"/a")).Then(clientv3.OpPut(root+"/a", "")).Commit()))
		if _, err := c.Get(ctx, root+"/a", clientv3.WithRev(1<<60)); err == nil {
			t.Error("a read of the future succeeded")
		}
		must(t, err(c.MemberList(ctx)))
		must(t, err(c.Delete(ctx, root+"/a")))
	})
	want := []string{
		"request set /a", "reply set /a",
		"request get /a", "reply get /a",
		"request children /", "reply children /",
		"request create /a", "reply create /a: node exists",
		"request delete /a", "reply delete /a",
		"request create /a", "reply create /a",
		"request get /a", "reply get /a: not supported here",
		"request other ", "reply other ",
		"request delete /a", "reply delete /a",
	}
	if got := below(r.lines, root); !slices.Equal(got, want) {
		t.Errorf("an observer got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(strings.Join(r.lines, "\n"), secret) {
		t.Error("an observer got the value of a key")
	}
	if r.gap != 0 {
		t.Errorf("%d bytes were not decoded, want none", r.gap)
	}
}

// TestTransactionsAreDecoded makes transactions with several operations, one of which fails.
func TestTransactionsAreDecoded(t *testing.T) {
	var root string
	r := observed(t, func(ctx context.Context, c *clientv3.Client, at string, _ *record) {
		root = at
		must(t, err(c.Txn(ctx).If(missing(root+"/b")).Then(
			clientv3.OpPut(root+"/a", secret), clientv3.OpPut(root+"/b", secret), clientv3.OpGet(root+"/", clientv3.WithPrefix())).Commit()))
		must(t, err(c.Txn(ctx).If(missing(root+"/b")).Then(
			clientv3.OpDelete(root+"/a"), clientv3.OpPut(root+"/b", secret), clientv3.OpGet(root+"/a")).Else(clientv3.OpGet(root+"/c")).Commit()))
		must(t, err(c.Txn(ctx).Then(clientv3.OpGet(root+"/a"), clientv3.OpGet(root+"/b")).Commit()))
	})
	want := []string{
		"request create /b; set /a; create /b; children /", "reply create /b; set /a; create /b; children /",
		"request create /b; delete /a; create /b; get /a", "reply create /b; delete /a; create /b: node exists",
		"request get /a; get /a; get /b", "reply get /a; get /a; get /b",
	}
	if got := below(r.lines, root); !slices.Equal(got, want) {
		t.Errorf("an observer got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// missing is the condition that the key does not exist.
func missing(key string) clientv3.Cmp { return clientv3.Compare(clientv3.CreateRevision(key), "=", 0) }

// TestMutexIsDecoded has two clients of etcd's own mutex take turns.
func TestMutexIsDecoded(t *testing.T) {
	var root string
	r := observed(t, func(ctx context.Context, c *clientv3.Client, at string, r *record) {
		root = at
		var sessions [2]*concurrency.Session
		var locks [2]*concurrency.Mutex
		for i := range sessions {
			var err error
			sessions[i], err = concurrency.NewSession(c, concurrency.WithTTL(60))
			must(t, err)
			locks[i] = concurrency.NewMutex(sessions[i], root)
		}
		must(t, locks[0].Lock(ctx))
		locked := make(chan error, 1)
		watching := c.Watch(ctx, root, clientv3.WithPrefix(), clientv3.WithCreatedNotify())
		<-watching // confirmed
		go func() { locked <- locks[1].Lock(ctx) }()
		<-watching // the second client's key
		<-r.waits  // for the first client's
		must(t, locks[0].Unlock(ctx))
		must(t, <-locked)
		must(t, locks[1].Unlock(ctx))
		for _, s := range sessions {
			must(t, s.Close())
		}
	})
	if len(r.sessions) != 2 || r.sessions[0].Timeout != time.Minute {
		t.Errorf("sessions %v, want two of a minute", r.sessions)
	}
	for _, s := range r.sessions { // the key in the line, and the end of the session
		named := slices.DeleteFunc(slices.Clone(r.leases), func(id int64) bool { return id != s.ID })
		if n := len(named); n < 2 || !s.Lease {
			t.Errorf("%d requests name the lease of %+v, want 2 or more", n, s)
		}
	}
	count := func(prefix string) (n int) {
		for _, line := range below(r.lines, root) {
			if strings.HasPrefix(line, prefix) {
				n++
			}
		}
		return n
	}
	for prefix, want := range map[string]int{
		"request create /": 2, "reply create /": 2, "request delete /": 2, "request watch tree ": 1,
		"request watch node /": 1, "request open": 2, "request close": 2,
	} {
		if got := count(prefix); got != want {
			t.Errorf("%d messages begin with %q, want %d; all:\n%s", got, prefix, want, strings.Join(below(r.lines, root), "\n"))
		}
	}
	// Four events for the watch of all keys; one, of the first key, for the second client.
	if got := count("event Deleted /") + count("event deleted /"); got < 2 {
		t.Errorf("%d deletions were reported, want those of the first key to two watches, and of the second to one:\n%s",
			got, strings.Join(below(r.lines, root), "\n"))
	}
}

// TestJoinedConnectionIsAGap gives bytes of a connection that was open before. None may be decoded.
func TestJoinedConnectionIsAGap(t *testing.T) {
	r := new(record)
	d := etcd.Protocol().Open(r, true)
	d.FromClient(time.Now(), make([]byte, 100))
	d.FromServer(time.Now(), make([]byte, 50))
	if r.gap != 150 || r.cause != traffic.Joined || len(r.lines) > 0 {
		t.Errorf("gap of %d bytes (%s) and messages %v, want 150 that are joined and none", r.gap, r.cause, r.lines)
	}
}

// TestOtherBytesAreAGap gives bytes that are neither HTTP/2 nor HTTP/1.1.
func TestOtherBytesAreAGap(t *testing.T) {
	r := new(record)
	d := etcd.Protocol().Open(r, false)
	d.FromClient(time.Now(), []byte("\x16\x03\x01\x00\x05hello"))
	d.FromServer(time.Now(), []byte("\x15\x03\x01\x00\x02no"))
	if len(r.lines) > 0 || r.cause != traffic.TLS || r.gap != 17 {
		t.Errorf("messages %v and a gap of %d bytes (%s), want none and all 17 (tls)", r.lines, r.gap, r.cause)
	}
}

const secret = "planted-secret"

func below(lines []string, root string) (all []string) {
	for _, l := range lines {
		all = append(all, strings.ReplaceAll(l, root, ""))
	}
	return all
}

func err[T any](_ T, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
