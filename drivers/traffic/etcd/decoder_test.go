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
	read     []int64 // positions of reads
	shown    []string
	shownAt  []int64
	watches  []string // that were armed and that ended, with their numbers
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
	if m.Kind == drivers.Reply && m.Op.IsRead() {
		r.read = append(r.read, m.Pos)
	}
	for _, s := range m.Shown {
		r.shown, r.shownAt = append(r.shown, describe(s)), append(r.shownAt, s.Pos)
	}
	if m.Kind == drivers.Reply && m.Watch {
		r.watches = append(r.watches, fmt.Sprint(m.Op, " ", m.Number, " ", string(m.Path)))
	}
	line := fmt.Sprint(kind, " ", m.Op, " ", string(m.Path))
	if m.Kind == drivers.Notification {
		line = fmt.Sprint(kind, " ", m.Event, " ", string(m.Path))
	}
	for _, p := range m.Parts {
		if line += fmt.Sprint("; ", p.Op, " ", string(p.Path)); p.Err != nil && m.Err == nil {
			line += ": " + p.Err.Error()
		}
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

// TestReadsOfTheHistory reads a revision that is not the current one: the answer shows nothing later.
func TestReadsOfTheHistory(t *testing.T) {
	var first, second int64
	r := observed(t, func(ctx context.Context, c *clientv3.Client, root string, _ *record) {
		for _, revision := range []*int64{&first, &second} {
			done, err := c.Put(ctx, root, "")
			must(t, err)
			*revision = done.Header.Revision
		}
		must(t, err(c.Get(ctx, root, clientv3.WithRev(first))))
		must(t, err(c.Get(ctx, root)))
	})
	if len(r.read) != 2 || r.read[0] != first || r.read[1] < second {
		t.Errorf("reads at %v, want %d and %d or later", r.read, first, second)
	}
}

// describe says what an answer shows, without its position.
func describe(s drivers.Sight) string {
	text := string(s.Path)
	if s.Below {
		text = "below " + text
	}
	if s.Values {
		text = "values of " + text
	}
	return text
}

// TestWhatAnswersShow reads /a, whose revision is the first, and /b and /c, with each of the options that leave values or keys out
// of an answer, and in both branches of transactions.
func TestWhatAnswersShow(t *testing.T) {
	holds, fails := clientv3.Compare(clientv3.Version("/none"), "=", 0), clientv3.Compare(clientv3.Version("/none"), "=", 1)
	var first int64
	var root string
	get := func(key string, o ...clientv3.OpOption) clientv3.Op { return clientv3.OpGet(root+key, o...) }
	all, keys, count := clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithCountOnly()
	txn := func(condition clientv3.Cmp, then, otherwise clientv3.Op) clientv3.Op {
		return clientv3.OpTxn([]clientv3.Cmp{condition}, []clientv3.Op{then}, []clientv3.Op{otherwise})
	}
	for _, c := range []struct {
		name string
		op   func() clientv3.Op
		want string
	}{
		{"a key", func() clientv3.Op { return get("/a") }, "values of /a"},
		{"no key", func() clientv3.Op { return get("/none") }, "values of /none"},
		{"a key without its value", func() clientv3.Op { return get("/a", keys) }, "/a"},
		{"whether a key is there", func() clientv3.Op { return get("/a", count) }, "/a"},
		{"whether a key is there that is not", func() clientv3.Op { return get("/none", count) }, "values of /none"},
		{"a key that was changed since", func() clientv3.Op { return get("/a", clientv3.WithMinModRev(first)) }, "values of /a"},
		{"a key that was not changed since", func() clientv3.Op { return get("/a", clientv3.WithMinModRev(first+1)) }, "/a"},
		{"a key that was changed later", func() clientv3.Op { return get("/a", clientv3.WithMaxModRev(first-1)) }, "/a"},
		{"a key that was created later", func() clientv3.Op { return get("/a", clientv3.WithMaxCreateRev(first-1)) }, "/a"},
		{"a range", func() clientv3.Op { return get("/", all) }, "values of below /"},
		{"an empty range", func() clientv3.Op { return get("/none/", all, count) }, "values of below /none/"},
		{"the keys of a range", func() clientv3.Op { return get("/", all, keys) }, "below /"},
		{"the number of keys of a range", func() clientv3.Op { return get("/", all, count) }, ""},
		{"the first key of a range", func() clientv3.Op { return get("/", all, clientv3.WithLimit(1)) }, ""},
		{"a part of a range", func() clientv3.Op { return get("/", all, clientv3.WithLimit(2)) }, ""},
		{"all of a range, with a limit", func() clientv3.Op { return get("/", all, clientv3.WithLimit(3)) }, "values of below /"},
		{"what was changed since", func() clientv3.Op { return get("/", all, clientv3.WithMinModRev(first+1)) }, ""},
		{"what was created before", func() clientv3.Op { return get("/", all, clientv3.WithMaxCreateRev(first)) }, ""},
		{"what a filter leaves whole", func() clientv3.Op { return get("/", all, clientv3.WithMinCreateRev(first)) }, "values of below /"},
		{"a branch that was executed", func() clientv3.Op { return txn(holds, get("/a"), get("/b")) }, "values of /a"},
		{"the other branch", func() clientv3.Op { return txn(fails, get("/a"), get("/b", keys)) }, "/b"},
		{"the other branch of one that writes", func() clientv3.Op { return txn(fails, clientv3.OpPut(root+"/a", ""), get("/", all)) }, "values of below /"},
		{"the number of keys in the other branch", func() clientv3.Op { return txn(fails, get("/a"), get("/", all, count)) }, ""},
		{"a branch in another", func() clientv3.Op { return txn(fails, get("/a"), txn(holds, get("/b"), get("/c"))) }, "values of /b"},
		{"a branch in one that was not executed", func() clientv3.Op { return txn(holds, get("/a"), txn(holds, get("/b"), get("/c"))) }, "values of /a"},
		{"several reads", func() clientv3.Op {
			return clientv3.OpTxn(nil, []clientv3.Op{get("/b"), txn(fails, get("/a"), get("/c")), get("/a", count)}, nil)
		}, "values of /b, values of /c, /a"},
	} {
		r := observed(t, func(ctx context.Context, cl *clientv3.Client, at string, _ *record) {
			root = at
			for i, key := range []string{"/a", "/b", "/c"} {
				done, err := cl.Put(ctx, root+key, secret)
				if must(t, err); i == 0 {
					first = done.Header.Revision
				}
			}
			must(t, err(cl.Do(ctx, c.op())))
		})
		if got := strings.ReplaceAll(strings.Join(r.shown, ", "), root, ""); got != c.want || r.gap != 0 {
			t.Errorf("%s shows %q, want %q; %d bytes were not decoded", c.name, got, c.want, r.gap)
		}
	}
}

// TestPositionsOfWhatIsShown reads an earlier revision beside the current one: the answer shows that revision.
func TestPositionsOfWhatIsShown(t *testing.T) {
	var first, second int64
	r := observed(t, func(ctx context.Context, cl *clientv3.Client, root string, _ *record) {
		for _, revision := range []*int64{&first, &second} {
			done, err := cl.Put(ctx, root, "")
			must(t, err)
			*revision = done.Header.Revision
		}
		must(t, err(cl.Txn(ctx).Then(clientv3.OpGet(root, clientv3.WithRev(first)), clientv3.OpGet(root)).Commit()))
	})
	if len(r.shownAt) != 2 || r.shownAt[0] != first || r.shownAt[1] < second {
		t.Errorf("shown at %v, want %d and %d or later", r.shownAt, first, second)
	}
}

// TestWatchesHaveNumbers arms three watches, two of them on one key, and ends the second: its number says which.
func TestWatchesHaveNumbers(t *testing.T) {
	var root string
	r := observed(t, func(ctx context.Context, c *clientv3.Client, at string, r *record) {
		root, r.waits = at, nil
		watch := func(key string, o ...clientv3.OpOption) context.CancelFunc {
			ctx, cancel := context.WithCancel(ctx)
			<-c.Watch(ctx, root+key, append(o, clientv3.WithCreatedNotify())...)
			return cancel
		}
		watch("/a")
		cancel := watch("/a")
		watch("/a", clientv3.WithPrefix())
		cancel()
		watch("/b") // by the same stream, after the cancellation
	})
	got := strings.ReplaceAll(strings.Join(r.watches, "\n"), root, "")
	if want := "watch node 1 /a\nwatch node 2 /a\nwatch tree 3 /a\n"; !strings.HasPrefix(got, want) || !strings.Contains(got, "unwatch 2 /a") || !strings.Contains(got, "watch node 4 /b") {
		t.Errorf("got\n%s\nwant\n%sand the end of the second, and a fourth", got, want)
	}
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

// TestNestedTransactionsAreDecoded nests transactions in transactions of which some conditions fail. What
// they write for that case is a gap, and so is what is nested too deep.
func TestNestedTransactionsAreDecoded(t *testing.T) {
	var root string
	put := func(key string) clientv3.Op { return clientv3.OpPut(key, secret) }
	create := func(key string) clientv3.Op {
		return clientv3.OpTxn([]clientv3.Cmp{missing(root + key)}, []clientv3.Op{clientv3.OpPut(root+key, secret)},
			[]clientv3.Op{clientv3.OpGet(root + key)})
	}
	r := observed(t, func(ctx context.Context, c *clientv3.Client, at string, _ *record) {
		root = at
		must(t, err(c.Txn(ctx).Then(create("/a")).Commit()))
		must(t, err(c.Txn(ctx).Then(create("/a")).Commit()))
		must(t, err(c.Txn(ctx).Then(clientv3.OpPut(root+"/b", secret), create("/a")).Commit()))
		must(t, err(c.Txn(ctx).If(missing(root+"/c")).Then(
			clientv3.OpTxn(nil, []clientv3.Op{put(root + "/c"), clientv3.OpGet(root + "/a")}, nil)).Commit()))
		must(t, err(c.Txn(ctx).If(missing(root+"/c")).Then(
			clientv3.OpTxn(nil, []clientv3.Op{put(root + "/c"), clientv3.OpGet(root + "/a")}, nil)).Commit()))
	})
	want := []string{
		"request create /a", "reply create /a",
		"request create /a", "reply create /a: node exists",
		"request create /a; set /b; create /a", "reply create /a; set /b; create /a: node exists",
		"request create /c; create /c; get /a", "reply create /c; create /c; get /a",
		"request create /c; create /c; get /a", "reply create /c; create /c: node exists",
	}
	if got := below(r.lines, root); !slices.Equal(got, want) || r.gap != 0 {
		t.Errorf("an observer got, beside %d bytes,\n%s\nwant\n%s", r.gap, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	for _, c := range []struct {
		cause traffic.Cause
		op    clientv3.Op
	}{
		{traffic.Otherwise, clientv3.OpTxn([]clientv3.Cmp{clientv3.Compare(clientv3.Version("/none"), "=", 1)}, nil,
			[]clientv3.Op{clientv3.OpPut("/otherwise", "")})},
		{traffic.Otherwise, clientv3.OpTxn([]clientv3.Cmp{clientv3.Compare(clientv3.Version("/none"), "=", 1)}, nil,
			[]clientv3.Op{clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpPut("/otherwise", "")}, nil)})},
		{traffic.BeyondLimit, deep(10)},
	} {
		r := observed(t, func(ctx context.Context, cl *clientv3.Client, _ string, _ *record) {
			must(t, err(cl.Txn(ctx).Then(c.op).Commit()))
		})
		if r.gap == 0 || r.cause != c.cause {
			t.Errorf("a gap of %d bytes for %q, want one for %q", r.gap, r.cause, c.cause)
		}
	}
}

// deep returns transactions nested in one another.
func deep(n int) clientv3.Op {
	op := clientv3.OpPut("/deep", "")
	for range n {
		op = clientv3.OpTxn(nil, []clientv3.Op{op}, nil)
	}
	return op
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
