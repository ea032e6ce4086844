package etcd_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A recording is an Observer that writes down all that a decoder reports, and the pieces that the decoder
// got.
type recording struct {
	lines   []string
	gap     int64 // bytes that are missing
	members []string
	leases  int // times that a request names one
	pieces  []recordedPiece
}

type recordedPiece struct {
	fromClient bool
	bytes      []byte
}

func (r *recording) Open(traffic.Connection) traffic.Tap { return r }
func (r *recording) Close(time.Time)                     {}
func (r *recording) Missed(traffic.Undecoded)            {}
func (r *recording) Members(_ time.Time, all []string)   { r.members = append(r.members, all...) }
func (r *recording) Lease(time.Time, int64)              { r.leases++ }
func (r *recording) Owner(traffic.Process)               {}

func (r *recording) Gap(_ time.Time, bytes int64, cause traffic.Cause) {
	if !cause.Harmless() {
		r.gap += bytes
	}
}

func (r *recording) Session(_ time.Time, s traffic.Session) {
	r.lines = append(r.lines, fmt.Sprint("session of ", s.Timeout, ", resumed ", s.Resumed))
}

func (r *recording) Message(_ time.Time, m drivers.Message) {
	line := fmt.Sprintf("kind %d %v %s watch %t mode %d event %d", m.Kind, m.Op, m.Path, m.Watch, m.Mode,
		m.Event)
	for _, p := range m.Parts {
		line += fmt.Sprintf("; %v %s mode %d: %v", p.Op, p.Path, p.Mode, p.Err)
	}
	line += fmt.Sprintf("; position %t, digest %t: %v", m.Pos > 0, m.Digest != 0, m.Err)
	r.lines = append(r.lines, line)
}

// protocol is etcd's protocol, whose decoder also records what it gets.
func (r *recording) protocol() traffic.Protocol {
	p := etcd.Protocol()
	decode := p.Decode
	p.Decode = func(t traffic.Tap, begins traffic.Cause) traffic.Decoder {
		return recorder{decode(t, begins), r}
	}
	return p
}

type recorder struct {
	traffic.Decoder
	to *recording
}

func (r recorder) FromClient(at time.Time, p []byte) {
	r.to.pieces = append(r.to.pieces, recordedPiece{true, slices.Clone(p)})
	r.Decoder.FromClient(at, p)
}

func (r recorder) FromServer(at time.Time, p []byte) {
	r.to.pieces = append(r.to.pieces, recordedPiece{false, slices.Clone(p)})
	r.Decoder.FromServer(at, p)
}

// replayed decodes the recorded pieces again, each cut as size says.
func (r *recording) replayed(size func() int) *recording {
	again := new(recording)
	d := etcd.Protocol().Open(again, false)
	for _, p := range r.pieces {
		take := d.FromServer
		if p.fromClient {
			take = d.FromClient
		}
		for rest := p.bytes; len(rest) > 0; {
			n := min(size(), len(rest))
			take(time.Time{}, rest[:n])
			rest = rest[n:]
		}
	}
	d.End(time.Time{})
	return again
}

func TestMain(m *testing.M) { backendtest.Main(m) }

// throughProxy runs a function with the address of a proxy of a member, and returns what the proxy recorded
// of the connection that the function opened.
func throughProxy(t *testing.T, member string, use func(address string)) *recording {
	t.Helper()
	r := new(recording)
	p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: member}},
		proxy.Options{Protocol: r.protocol(), Observer: r})
	must(t, err)
	defer p.Close()
	use(p.Addresses()[0])
	p.Flush()
	if s := p.Stats(); s.Dropped > 0 || s.Failed > 0 {
		t.Fatalf("the proxy's stats are %+v, want all analysed", s)
	}
	return r
}

// An operation is one call, by its method of gRPC and by its path at the gateway.
type operation struct {
	method, path      string
	request, response proto.Message
}

const (
	lineKey  = "/line/694d5765fc71500b"
	password = "planted-password"
)

// operations are calls of each kind below a root. Some fail.
func operations(root string) []operation {
	at := func(name string) []byte { return []byte(root + name) }
	put := func(name string, lease int64) *pb.PutRequest {
		return &pb.PutRequest{Key: at(name), Value: []byte(secret), Lease: lease}
	}
	prefix := &pb.RangeRequest{Key: at("/"), RangeEnd: at("0")}
	opPut := func(name string, lease int64) *pb.RequestOp {
		return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: put(name, lease)}}
	}
	opRange := &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: prefix}}
	opDelete := &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{
		RequestDeleteRange: &pb.DeleteRangeRequest{Key: at("/a"), PrevKv: true},
	}}
	missing := func(name string) *pb.Compare {
		return &pb.Compare{Key: at(name), Target: pb.Compare_CREATE, TargetUnion: &pb.Compare_CreateRevision{}}
	}
	never := func(name string) *pb.Compare {
		return &pb.Compare{Key: at(name), Target: pb.Compare_VERSION, TargetUnion: &pb.Compare_Version{}}
	}
	value := &pb.Compare{Key: at("/a"), Target: pb.Compare_VALUE,
		TargetUnion: &pb.Compare_Value{Value: []byte("other")}}
	txn := func(then []*pb.RequestOp, conditions ...*pb.Compare) operation {
		return operation{"KV/Txn", "kv/txn", &pb.TxnRequest{Compare: conditions, Success: then,
			Failure: []*pb.RequestOp{opRange}}, new(pb.TxnResponse)}
	}
	lease := time.Now().UnixNano()
	read := func(q *pb.RangeRequest) operation {
		return operation{"KV/Range", "kv/range", q, new(pb.RangeResponse)}
	}
	return []operation{
		{"KV/Put", "kv/put", put("/a", 0), new(pb.PutResponse)},
		{"KV/Put", "kv/put", &pb.PutRequest{Key: at("/large"), Value: bytes.Repeat([]byte(secret), 20_000)},
			new(pb.PutResponse)},
		read(&pb.RangeRequest{Key: at("/a")}), read(prefix), read(new(pb.RangeRequest)),
		read(&pb.RangeRequest{Key: at("/a"), Revision: 1 << 60}),
		read(&pb.RangeRequest{Key: at("/"), RangeEnd: at("0"), Limit: 1, SortOrder: pb.RangeRequest_DESCEND,
			SortTarget: pb.RangeRequest_MOD}),
		{"Lease/LeaseGrant", "lease/grant", &pb.LeaseGrantRequest{ID: lease, TTL: 60}, new(pb.LeaseGrantResponse)},
		{"Lease/LeaseGrant", "lease/grant", &pb.LeaseGrantRequest{ID: lease, TTL: 60}, new(pb.LeaseGrantResponse)},
		{"Lease/LeaseTimeToLive", "lease/timetolive", &pb.LeaseTimeToLiveRequest{ID: lease, Keys: true},
			new(pb.LeaseTimeToLiveResponse)},
		{"Lease/LeaseLeases", "lease/leases", new(pb.LeaseLeasesRequest), new(pb.LeaseLeasesResponse)},
		{"KV/Put", "kv/put", put("/leased", lease), new(pb.PutResponse)},
		{"KV/Put", "kv/put", put("/leased", lease+1), new(pb.PutResponse)},
		txn([]*pb.RequestOp{opPut("/a", 0)}, missing("/a")),
		txn([]*pb.RequestOp{opPut("/b", lease)}, never("/b")),
		txn([]*pb.RequestOp{opPut(lineKey, lease)}, missing(lineKey)),
		txn([]*pb.RequestOp{opPut("/c", 0), opRange, opDelete, opPut("/d", lease)}, missing("/c"), never("/d")),
		txn([]*pb.RequestOp{opPut("/c", 0), opRange, opDelete, opPut("/d", lease)}, missing("/c"), never("/d")),
		txn([]*pb.RequestOp{opPut("/c", 0), opPut("/a", 0)}, value), txn([]*pb.RequestOp{opRange, opRange}),
		txn(nil, missing("/a")),
		txn([]*pb.RequestOp{opPut("/twice", 0), opPut("/twice", 0)}),
		{"KV/DeleteRange", "kv/deleterange", &pb.DeleteRangeRequest{Key: at("/c")}, new(pb.DeleteRangeResponse)},
		{"Lease/LeaseRevoke", "lease/revoke", &pb.LeaseRevokeRequest{ID: lease}, new(pb.LeaseRevokeResponse)},
		{"Lease/LeaseRevoke", "kv/lease/revoke", &pb.LeaseRevokeRequest{ID: lease}, new(pb.LeaseRevokeResponse)},
		{"KV/DeleteRange", "kv/deleterange", &pb.DeleteRangeRequest{Key: at("/"), RangeEnd: at("0")},
			new(pb.DeleteRangeResponse)},
		{"Cluster/MemberList", "cluster/member/list", new(pb.MemberListRequest), new(pb.MemberListResponse)},
		{"Maintenance/Status", "maintenance/status", new(pb.StatusRequest), new(pb.StatusResponse)},
		{"Auth/Authenticate", "auth/authenticate", &pb.AuthenticateRequest{Name: "root", Password: password},
			new(pb.AuthenticateResponse)},
	}
}

// asked is what a client of the gateway sends, as the clients of other languages write it.
func asked(t *testing.T, address, path string, chunked bool, messages ...proto.Message) *http.Request {
	t.Helper()
	var text bytes.Buffer
	for _, m := range messages {
		one, err := protojson.MarshalOptions{UseProtoNames: !chunked, Multiline: chunked}.Marshal(m)
		must(t, err)
		text.Write(one)
	}
	body := io.Reader(&text)
	if chunked {
		body = io.MultiReader(&text) // of unknown length
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v3/"+path, body)
	must(t, err)
	return r
}

// TestGatewayIsDecodedAsGRPC makes the same calls by gRPC and through the gateway. An observer gets the same
// messages, also if they come in pieces of other sizes.
func TestGatewayIsDecodedAsGRPC(t *testing.T) {
	member := backendtest.SharedEtcd(t)
	root := fmt.Sprint("/gateway-", time.Now().UnixNano())
	byGRPC := throughProxy(t, member, func(address string) {
		c := connected(t, address)
		for _, o := range operations(root + "-1") {
			// Whether it fails is in the messages.
			_ = c.Invoke(t.Context(), "/etcdserverpb."+o.method, o.request, o.response)
		}
	})
	for chunked, name := range []string{"-2", "-3"} {
		byGateway := throughProxy(t, member, func(address string) {
			c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
			defer c.CloseIdleConnections()
			for _, o := range operations(root + name) {
				r, err := c.Do(asked(t, address, o.path, chunked == 1, o.request))
				must(t, err)
				_, err = io.Copy(io.Discard, r.Body)
				must(t, err)
				must(t, r.Body.Close())
			}
		})
		sameMessages(t, byGRPC, byGateway, root+"-1", root+name)
		samePieces(t, byGateway)
		if byGateway.leases != byGRPC.leases {
			t.Errorf("requests name a lease %d times, those by gRPC %d times", byGateway.leases, byGRPC.leases)
		}
	}
	samePieces(t, byGRPC)
	if want := 8; byGRPC.leases != want { // the one request that asks for the time it has left is no use of it
		t.Errorf("requests name a lease %d times, want %d", byGRPC.leases, want)
	}
	if len(byGRPC.members) == 0 {
		t.Error("the client did not learn the members")
	}
	if n, want := len(byGRPC.lines), 2*len(operations(root))+1; n != want {
		t.Errorf("%d messages and sessions, want %d: a request and a reply each, and one session", n, want)
	}
}

// connected returns a connection of gRPC.
func connected(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: time.Minute, Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c.ActiveConnection()
}

// sameMessages compares what was recorded of two clients, each with its root.
func sameMessages(t *testing.T, want, got *recording, wantRoot, gotRoot string) {
	t.Helper()
	if want.gap != 0 || got.gap != 0 {
		t.Errorf("%d bytes of gRPC and %d of the gateway were not decoded", want.gap, got.gap)
	}
	if !slices.Equal(want.members, got.members) {
		t.Errorf("by gRPC the client learned %q, through the gateway %q", want.members, got.members)
	}
	w, g := below(want.lines, wantRoot), below(got.lines, gotRoot)
	if !slices.Equal(w, g) {
		t.Errorf("by gRPC:\n%s\nthrough the gateway:\n%s", strings.Join(w, "\n"), strings.Join(g, "\n"))
	}
	for _, line := range g {
		if strings.Contains(line, secret) || strings.Contains(line, password) {
			t.Errorf("a secret is in %q", line)
		}
	}
}

// samePieces decodes the pieces byte by byte, and cut at random.
func samePieces(t *testing.T, r *recording) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for _, most := range []int{1, 30, 1 << 20} {
		size := func() int { return 1 + random.IntN(most) }
		if again := r.replayed(size); again.gap != r.gap || !slices.Equal(again.lines, r.lines) {
			t.Errorf("in other pieces a gap of %d bytes and\n%s\nwant %d and\n%s", again.gap,
				strings.Join(again.lines, "\n"),
				r.gap, strings.Join(r.lines, "\n"))
		}
	}
}

// TestGatewayWatchIsDecodedAsGRPC watches a key and a prefix on one stream, and asks for a third watch with
// an identifier that is in use, which the server cancels.
func TestGatewayWatchIsDecodedAsGRPC(t *testing.T) {
	member := backendtest.SharedEtcd(t)
	root := fmt.Sprint("/watched-", time.Now().UnixNano())
	next := "/next" + root
	writer, failed := clientv3.New(clientv3.Config{Endpoints: []string{member}, DialTimeout: time.Minute})
	must(t, failed)
	defer writer.Close()
	requests := func(root string) (all []proto.Message) {
		for _, c := range []*pb.WatchCreateRequest{
			{Key: []byte(root + "/a"), WatchId: 7, PrevKv: true},
			{Key: []byte(root + "/"), RangeEnd: []byte(root + "0"), WatchId: 8},
			{Key: []byte(root + "/b"), WatchId: 7},
		} {
			all = append(all, &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: c}})
		}
		return all
	}
	// The order of the events of two watches is open, so each is awaited: a change of /a by both, of /b by one.
	change := func(ctx context.Context, root string, next func() error) {
		for range requests(root) {
			must(t, next())
		}
		for _, c := range []struct {
			op     clientv3.Op
			events int
		}{
			{clientv3.OpPut(root+"/b", secret), 1}, {clientv3.OpPut(root+"/b", secret), 1},
			{clientv3.OpDelete(root + "/b"), 1},
			{clientv3.OpPut(root+"/a", secret), 2}, {clientv3.OpDelete(root + "/a"), 2},
		} {
			must(t, err(writer.Do(ctx, c.op)))
			for range c.events {
				must(t, next())
			}
		}
	}
	byGRPC := throughProxy(t, member, func(address string) {
		ctx, cancel := context.WithCancel(t.Context())
		c := connected(t, address)
		s, failed := pb.NewWatchClient(c).Watch(ctx)
		must(t, failed)
		for _, m := range requests(root + "-1") {
			must(t, s.Send(m.(*pb.WatchRequest)))
		}
		change(t.Context(), root+"-1", func() error { return err(s.Recv()) })
		cancel()
		for failed = nil; failed == nil; {
			_, failed = s.Recv()
		}
		// What the client sends next comes after the end of the stream.
		must(t, err(pb.NewKVClient(c).Put(t.Context(), &pb.PutRequest{Key: []byte(next)})))
	})
	byGRPC.lines = slices.DeleteFunc(byGRPC.lines, func(line string) bool { return strings.Contains(line, next) })
	byGateway := throughProxy(t, member, func(address string) {
		c := new(http.Client)
		r, failed := c.Do(asked(t, address, "watch", false, requests(root+"-2")...))
		must(t, failed)
		lines := bufio.NewReader(r.Body)
		change(t.Context(), root+"-2", func() error { return err(lines.ReadString('\n')) })
		must(t, r.Body.Close())
	})
	// Only by gRPC does a stream end before its connection.
	ends := func(line string) bool { return strings.HasPrefix(line, "kind 2 unwatch ") }
	all := len(byGRPC.lines)
	byGRPC.lines = slices.DeleteFunc(byGRPC.lines, ends)
	if n := all - len(byGRPC.lines); n != 2 {
		t.Errorf("%d watches ended with their stream, want 2", n)
	}
	// The gateway has all requests before it replies. By gRPC the first replies may come before the last
	// requests.
	slices.SortStableFunc(byGRPC.lines, func(a, b string) int {
		return strings.Compare(a[:len("kind 1")],
			b[:len("kind 1")])
	})
	sameMessages(t, byGRPC, byGateway, root+"-1", root+"-2")
	samePieces(t, byGateway)
	if n, want := len(byGateway.lines), 3+3+3+4; n != want {
		t.Errorf("%d messages, want %d: 3 requests, 3 replies and 7 events", n, want)
	}
}

// TestGatewayHeartbeats makes heartbeats of a lease by gRPC and through the gateway.
func TestGatewayHeartbeats(t *testing.T) {
	member := backendtest.SharedEtcd(t)
	beat := &pb.LeaseKeepAliveRequest{ID: 1 << 40} // of no lease: it is answered, too
	byGRPC := throughProxy(t, member, func(address string) {
		s, failed := pb.NewLeaseClient(connected(t, address)).LeaseKeepAlive(t.Context())
		must(t, failed)
		for range 2 {
			must(t, s.Send(beat))
			must(t, err(s.Recv()))
		}
	})
	byGateway := throughProxy(t, member, func(address string) {
		c := new(http.Client)
		defer c.CloseIdleConnections()
		for range 2 {
			r, failed := c.Do(asked(t, address, "lease/keepalive", false, beat))
			must(t, failed)
			must(t, err(io.Copy(io.Discard, r.Body)))
			must(t, r.Body.Close())
		}
	})
	sameMessages(t, byGRPC, byGateway, "", "")
	if len(byGateway.lines) != 4 {
		t.Errorf("%d messages, want 4: 2 heartbeats and their replies", len(byGateway.lines))
	}
}

// TestGatewayWithTLS has clients of the gateway and of gRPC on a member with TLS. They connect to the proxy
// in the clear and with TLS, and those of the gateway also offer HTTP/2 to it.
func TestGatewayWithTLS(t *testing.T) {
	testenv.SkipIfShort(t)
	member := backendtest.SecureEtcd(t)
	behind, failed := member.Security.TLSConfig()
	must(t, failed)
	behind.ServerName = "127.0.0.1"
	authority := t.TempDir()
	before, failed := backendtest.Authority(t, authority).TLSConfig()
	must(t, failed)
	pair := filepath.Join(authority, "server.pem")
	certificate, failed := tls.LoadX509KeyPair(pair, pair)
	must(t, failed)
	own := &tls.Config{
		Certificates: []tls.Certificate{certificate},
		NextProtos:   traffic.ApplicationProtocols(etcd.Protocol().Speaks...),
	}
	for scheme, own := range map[string]*tls.Config{"http": nil, "https": own} {
		root, r := fmt.Sprint("/secure-", scheme), new(record)
		p, failed := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: member.Address, TLS: behind}},
			proxy.Options{TLS: own, Protocol: etcd.Protocol(), Observer: r})
		must(t, failed)
		address := p.Addresses()[0]
		for _, offers := range []bool{false, true} {
			c := &http.Client{Transport: &http.Transport{TLSClientConfig: before.Clone(), ForceAttemptHTTP2: offers}}
			q := asked(t, address, "kv/put", false, &pb.PutRequest{Key: []byte(root + "/a")})
			q.URL.Scheme = scheme
			reply, failed := c.Do(q)
			must(t, failed)
			must(t, err(io.Copy(io.Discard, reply.Body)))
			must(t, reply.Body.Close())
			c.CloseIdleConnections()
			if reply.StatusCode != http.StatusOK || reply.ProtoMajor != 1 {
				t.Errorf("%s: %s by %s, want 200 by HTTP/1.1", scheme, reply.Status, reply.Proto)
			}
		}
		config := clientv3.Config{Endpoints: []string{scheme + "://" + address}, DialTimeout: time.Minute}
		if own != nil {
			config.TLS = before.Clone()
		}
		c, failed := clientv3.New(config)
		must(t, failed)
		must(t, err(c.Get(t.Context(), root+"/a")))
		must(t, c.Close())
		must(t, p.Close())
		want := []string{"request set /a", "reply set /a", "request set /a", "reply set /a"}
		want = append(want, "request get /a", "reply get /a")
		if got := below(r.lines, root); !slices.Equal(got, want) || r.gap > 0 {
			t.Errorf("%s: %q and a gap of %d bytes (%s), want %q and none", scheme, got, r.gap, r.cause, want)
		}
	}
}

// A held observer waits before its first connection.
type held struct {
	*record
	hold chan struct{}
}

func (h held) Open(c traffic.Connection) traffic.Tap {
	<-h.hold
	return h.record.Open(c)
}

// TestLateAnalysisOfTheGateway holds the analysis while more passes than its queue holds. What comes
// afterwards on the connection is decoded.
func TestLateAnalysisOfTheGateway(t *testing.T) {
	h := held{new(record), make(chan struct{})}
	p, failed := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: backendtest.SharedEtcd(t)}},
		proxy.Options{Protocol: etcd.Protocol(), Observer: h, Queue: 4 << 10})
	must(t, failed)
	defer p.Close()
	c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer c.CloseIdleConnections()
	read := func(key string) {
		r, failed := c.Do(asked(t, p.Addresses()[0], "kv/range", false, &pb.RangeRequest{Key: []byte(key)}))
		must(t, failed)
		must(t, err(io.Copy(io.Discard, r.Body)))
		must(t, r.Body.Close())
	}
	for range 50 {
		read("/before")
	}
	close(h.hold)
	p.Flush()
	read("/after")
	p.Flush()
	dropped, last := p.Stats().Dropped, h.lines[max(0, len(h.lines)-2):]
	if want := []string{"request get /after", "reply get /after"}; !slices.Equal(last, want) {
		t.Errorf("after the loss %q, want %q", last, want)
	}
	if dropped == 0 || h.gap < dropped || h.cause != traffic.Late {
		t.Errorf("a gap of %d bytes (%s) and %d dropped, want at least these (late) and some",
			h.gap, h.cause, dropped)
	}
}

// etcd3gwPython returns a Python that has the library etcd3gw; only the system's own may have it.
func etcd3gwPython(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import etcd3gw").Run() == nil {
			return python
		}
	}
	backendtest.Lacking(t, errors.New("etcd3gw is not installed: apt-get install python3-etcd3gw"))
	return ""
}

// TestClientOfTheGateway runs a program that uses the library etcd3gw. What the proxy decodes of its
// connections is what the program does.
func TestClientOfTheGateway(t *testing.T) {
	testenv.SkipIfShort(t)
	python, root := etcd3gwPython(t), fmt.Sprint("/etcd3gw-", time.Now().UnixNano())
	r := new(record)
	p, failed := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: backendtest.SharedEtcd(t)}},
		proxy.Options{Protocol: etcd.Protocol(), Observer: r})
	must(t, failed)
	defer p.Close()
	program := exec.CommandContext(t.Context(), python, "testdata/etcd3gw_client.py", p.Addresses()[0], root,
		secret)
	if out, failed := program.CombinedOutput(); failed != nil {
		t.Fatalf("%v: %s", failed, out)
	}
	p.Flush()
	var want []string
	for _, call := range []struct{ op, failure string }{
		{"set /config", ""}, {"get /config", ""}, {"open ", ""}, {"create /once", ""},
		{"create /once", "node exists"}, {"set /config", ""}, {"set /config", "version does not match"},
		{"children /", ""}, {"watch node /config", ""}, {"set /config", ""}, {"delete /config", ""},
		{"open ", ""}, {"create /locks/", ""}, {"delete /locks/", ""}, {"other ", ""}, {"close ", ""},
	} {
		want = append(want, "request "+call.op, strings.TrimSuffix("reply "+call.op+": "+call.failure, ": "))
	}
	want = append(want, "event data changed /config", "event deleted /config")
	got := below(r.lines, root)
	slices.Sort(got) // the order of what comes on two connections is open
	slices.Sort(want)
	if !slices.Equal(got, want) || r.gap != 0 || len(r.sessions) != 2 {
		t.Errorf("a gap of %d bytes, %d sessions and\n%s\nwant none, 2 and\n%s", r.gap, len(r.sessions),
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
