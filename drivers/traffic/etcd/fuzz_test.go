package etcd

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A tally counts what a tap gets.
type tally struct {
	messages, sessions int
	gap                int64
	closed             bool
}

func (c *tally) Session(time.Time, traffic.Session) { c.sessions++ }
func (c *tally) Message(time.Time, drivers.Message) { c.messages++ }
func (c *tally) Members(time.Time, []string)        {}
func (c *tally) Lease(time.Time, int64)             {}
func (c *tally) Owner(traffic.Process)              {}

func (c *tally) Gap(_ time.Time, bytes int64, _ traffic.Cause) { c.gap += bytes }
func (c *tally) Close(time.Time)                               { c.closed = true }

// A writer writes frames of one direction.
type writer struct {
	bytes.Buffer
	framer  *http2.Framer
	headers bytes.Buffer
	encoder *hpack.Encoder
}

func newWriter() *writer {
	w := new(writer)
	w.framer, w.encoder = http2.NewFramer(&w.Buffer, nil), hpack.NewEncoder(&w.headers)
	return w
}

func (w *writer) head(tb testing.TB, stream uint32, end bool, name, value string) {
	w.headers.Reset()
	if err := w.encoder.WriteField(hpack.HeaderField{Name: name, Value: value}); err != nil {
		tb.Fatal(err)
	}
	if err := w.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: w.headers.Bytes(), EndHeaders: true, EndStream: end,
	}); err != nil {
		tb.Fatal(err)
	}
}

func (w *writer) data(tb testing.TB, stream uint32, m proto.Message) {
	payload, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	message := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(payload))), payload...)
	if err := w.framer.WriteData(stream, false, message); err != nil {
		tb.Fatal(err)
	}
}

// example returns both directions of a connection with a put and a lease.
func example(tb testing.TB) (requests, replies []byte) {
	up, down := newWriter(), newWriter()
	up.WriteString(preface)
	for i, call := range []struct {
		method            string
		request, response proto.Message
	}{
		{"/etcdserverpb.KV/Put", &pb.PutRequest{Key: []byte("/a")}, &pb.PutResponse{Header: &pb.ResponseHeader{Revision: 2}}},
		{"/etcdserverpb.Lease/LeaseGrant", &pb.LeaseGrantRequest{TTL: 5}, &pb.LeaseGrantResponse{ID: 7, TTL: 5}},
		{watchMethod, &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("/a")}}},
			&pb.WatchResponse{Created: true}},
	} {
		id := uint32(2*i + 1)
		up.head(tb, id, false, ":path", call.method)
		up.data(tb, id, call.request)
		down.head(tb, id, false, ":status", "200")
		down.data(tb, id, call.response)
		down.head(tb, id, true, "grpc-status", "0")
	}
	return up.Bytes(), down.Bytes()
}

// TestExampleIsDecoded checks that the fuzzer begins with bytes that the decoder understands.
func TestExampleIsDecoded(t *testing.T) {
	requests, replies := example(t)
	if got, want := decodeAll(requests, replies, 1<<20, false), (tally{messages: 7, sessions: 1, closed: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestUnreadMessagesOfGRPC has requests that are compressed, too large, or JSON. Their bytes are a gap, and those of
// methods that are not decoded are none.
func TestUnreadMessagesOfGRPC(t *testing.T) {
	compressed := append(binary.BigEndian.AppendUint32([]byte{1}, 3), "abc"...)
	large := append(binary.BigEndian.AppendUint32([]byte{0}, maxMessage+1), make([]byte, maxMessage+1)...)
	for _, c := range []struct {
		method        string
		body          []byte
		gap, messages int
	}{
		{"/etcdserverpb.KV/Put", compressed, len(compressed), 1},
		{"/etcdserverpb.KV/Put", large, len(large), 1},
		{watchMethod, compressed, len(compressed), 1},
		{"/etcdserverpb.Maintenance/Status", compressed, 0, 1},
		{"/etcdserverpb.Maintenance/Status", large, 0, 1},
		{"/v3/kv/put", []byte(putA), len(putA), 0},
		{"/v2/keys/a", []byte("value=x"), len("value=x"), 0},
	} {
		up := newWriter()
		up.WriteString(preface)
		up.head(t, 1, false, ":path", c.method)
		for rest := c.body; len(rest) > 0; {
			n := min(len(rest), 1<<14)
			if err := up.framer.WriteData(1, false, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		for _, size := range []int{100, 1 << 30} {
			if got := decodeAll(up.Bytes(), nil, size, false); got.gap != int64(c.gap) || got.messages != c.messages {
				t.Errorf("%s with %d bytes: %d messages and a gap of %d, want %d and %d", c.method, len(c.body),
					got.messages, got.gap, c.messages, c.gap)
			}
		}
	}
}

// TestPagesOverHTTP2 has requests over HTTP/2 that are none of gRPC: pages for monitoring, and paths that
// the server refuses. They are neither messages nor a gap.
func TestPagesOverHTTP2(t *testing.T) {
	for path, code := range map[string]string{
		"/health": "200", "/metrics": "503", "/": "404", "/v2/keys/a": "404",
	} {
		up, down := newWriter(), newWriter()
		up.WriteString(preface)
		up.head(t, 1, true, ":path", path)
		down.head(t, 1, false, ":status", code)
		if err := down.framer.WriteData(1, true, []byte("404 page not found")); err != nil {
			t.Fatal(err)
		}
		if got := decodeAll(up.Bytes(), down.Bytes(), 1<<20, false); got != (tally{closed: true}) {
			t.Errorf("%s: %+v, want nothing", path, got)
		}
	}
}

// TestEventWithoutAKey decodes what no server sends.
func TestEventWithoutAKey(t *testing.T) {
	up, down := newWriter(), newWriter()
	up.WriteString(preface)
	up.head(t, 1, false, ":path", watchMethod)
	down.head(t, 1, false, ":status", "200")
	down.data(t, 1, &pb.WatchResponse{Events: []*mvccpb.Event{{}}})
	if got := decodeAll(up.Bytes(), down.Bytes(), 1<<20, false); got.messages != 1 || got.gap != 0 {
		t.Errorf("got %+v, want one message", got)
	}
}

// TestEachWatchIsDecoded has a client watch one key three times. It cancels one watch. The rest end with their stream, which
// the server ends or the client: each watch begins and ends once. A watch that the server refuses begins none, and
// one that it confirms and then refuses, as its revision was compacted, ends with an error.
func TestEachWatchIsDecoded(t *testing.T) {
	t.Run("the server ends the stream", func(t *testing.T) { eachWatchIsDecoded(t, false) })
	t.Run("the client ends the stream", func(t *testing.T) { eachWatchIsDecoded(t, true) })
}

func eachWatchIsDecoded(t *testing.T, byClient bool) {
	up, down := &pb.WatchRequest{}, []*pb.WatchResponse{
		{Created: true, WatchId: 1}, {Created: true, WatchId: 2}, {Created: true, WatchId: 3},
		{Created: true, Canceled: true, WatchId: 4}, {Canceled: true, WatchId: 2}, {Canceled: true, WatchId: 2},
		{Created: true, WatchId: 5}, {Canceled: true, WatchId: 5, CompactRevision: 9},
	}
	up.RequestUnion = &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("/a")}}
	requests, replies := newWriter(), newWriter()
	requests.WriteString(preface)
	requests.head(t, 1, false, ":path", watchMethod)
	replies.head(t, 1, false, ":status", "200")
	for range 5 {
		requests.data(t, 1, up)
	}
	for _, m := range down {
		replies.data(t, 1, m)
	}
	r := new(script)
	d := Protocol().Open(r, false)
	d.FromClient(time.Time{}, requests.Bytes())
	d.FromServer(time.Time{}, replies.Bytes())
	requests.Reset()
	replies.Reset()
	if byClient {
		if err := requests.framer.WriteRSTStream(1, http2.ErrCodeCancel); err != nil {
			t.Fatal(err)
		}
	}
	d.FromClient(time.Time{}, requests.Bytes())
	replies.head(t, 1, true, "grpc-status", "0")
	d.FromServer(time.Time{}, replies.Bytes())
	want := strings.Repeat("request watch node /a\n", 5) +
		"reply watch node /a\nreply watch node /a\nreply watch node /a\nreply watch node /a: not supported here\n" +
		"reply unwatch /a\nreply other \nreply watch node /a\nreply unwatch /a: not supported here\nreply unwatch /a\nreply unwatch /a"
	if got := strings.Join(r.lines, "\n"); got != want {
		t.Errorf("an observer got\n%s\nwant\n%s", got, want)
	}
}

func decodeAll(requests, replies []byte, size int, joined bool) tally {
	var c tally
	d := Protocol().Open(&c, joined)
	for _, direction := range []struct {
		all  []byte
		take func(time.Time, []byte)
	}{{requests, d.FromClient}, {replies, d.FromServer}} {
		for all := direction.all; len(all) > 0; {
			n := min(size, len(all))
			direction.take(time.Time{}, all[:n])
			all = all[n:]
		}
	}
	d.End(time.Time{})
	return c
}

// FuzzEtcd gives arbitrary bytes of both directions to the decoder: it does not panic, and finds the same
// messages whatever the size of the pieces. Only how many bytes are a gap depends on the pieces, and where
// decoding begins on a connection that was joined.
func FuzzEtcd(f *testing.F) {
	requests, replies := example(f)
	f.Add(requests, replies, uint16(6), false)
	f.Add(requests, replies[:len(replies)/2], uint16(100), false)
	f.Add(requests, replies, uint16(1), true)
	f.Fuzz(func(t *testing.T, requests, replies []byte, size uint16, joined bool) {
		got, want := decodeAll(requests, replies, int(size)+1, joined), decodeAll(requests, replies, max(len(requests), len(replies), 1), joined)
		if joined {
			if !beginsRequest(requests) && (want.messages > 0 || want.gap != int64(len(requests)+len(replies))) {
				t.Errorf("joined in the middle: %+v, want a gap of all bytes", want)
			}
			return
		}
		got.gap, want.gap = 0, 0
		if got != want || !want.closed {
			t.Errorf("in pieces of %d bytes: %+v; in one: %+v; want the same, closed", int(size)+1, got, want)
		}
	})
}

// FuzzGateway gives arbitrary bytes of both directions to the decoder, the replies after some of the
// requests. Without a loss it finds the same messages, and on a connection of HTTP/1.1 the same gap,
// whatever the size of the pieces. With one it does not panic. Nothing is kept in the end.
func FuzzGateway(f *testing.F) {
	grpc, settings := example(f)
	f.Add(grpc, settings, uint16(6), uint16(9), uint16(1<<15))
	watch := post("/v3/watch", `{"create_request":{"key":"L2E="}}`)
	stream := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
		chunked(99, strings.Join(watchReplies, ""))
	for _, seed := range [][2]string{
		{post("/v3/kv/put", putA) + post("/v3/kv/range", rangeA), answer(200, at7) + answer(200, inA)},
		{watch, stream},
		{post("/v3/lease/grant", `{"TTL":9}`) + "GET /metrics HTTP/1.1\r\n\r\n",
			answer(200, `{"ID":"7","TTL":"9"}`) + answer(200, "#")},
		{"PUT /v2/keys/a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(3, "value=x"), answer(404, "{}")},
		{post("/v3/kv/txn", `{"compare":[{"key":"L2E=","version":0}],"success":[{"request_put":{"key":"L2E="}},`+
			`{"request_delete_range":{}}]}`), answer(400, `{"code":3}`)},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), uint16(6), uint16(0), uint16(1<<15))
		f.Add([]byte(seed[0]), []byte(seed[1]), uint16(40), uint16(5), uint16(30))
	}
	f.Fuzz(func(t *testing.T, requests, replies []byte, size, lost, ahead uint16) {
		decode := func(size int, lost uint16) *script {
			s, shared := new(script), new(budget)
			d := protocol(shared).Open(s, false)
			early, late := requests[:min(len(requests), int(ahead))], requests[min(len(requests), int(ahead)):]
			half := replies[:len(replies)/2]
			play(d, size, ">"+string(early), "<"+string(half))
			if lost > 0 {
				d.Lost(time.Unix(1, 0), lost%2 == 0, int64(lost), traffic.Missing)
			}
			play(d, size, ">"+string(late), "<"+string(replies[len(half):]))
			d.End(time.Unix(2, 0))
			if all := int64(len(requests)+len(replies)) + int64(lost); s.gap > all || s.gap < int64(lost) ||
				shared.Load() != 0 || !s.closed {
				t.Errorf("a gap of %d of %d bytes, closed %t, and %d bytes kept; want no more, closed and none",
					s.gap, all, s.closed, shared.Load())
			}
			return s
		}
		got, want := decode(int(size)+1, 0), decode(1<<20, 0)
		if bytes.HasPrefix(requests, []byte(preface)) {
			got.gap, want.gap = 0, 0
		}
		if !slices.Equal(got.lines, want.lines) || got.bytes != want.bytes || got.gap != want.gap {
			t.Errorf("in pieces of %d bytes: a gap of %d and\n%q\nin one: %d and\n%q", int(size)+1, got.gap,
				got.lines, want.gap, want.lines)
		}
		decode(int(size)+1, lost)
	})
}
