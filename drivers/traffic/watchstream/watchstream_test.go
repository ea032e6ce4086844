package watchstream_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/stampede-bench/stampede/drivers/traffic/watchstream"
)

// A side writes frames of one end of a connection, as bytes that are given to the Conn piece by piece, and reads what the
// Conn passes on to it.
type side struct {
	sent, got bytes.Buffer
	out, in   *http2.Framer
	headers   *hpack.Encoder
	block     bytes.Buffer
}

func newSide() *side {
	s := new(side)
	s.out, s.in = http2.NewFramer(&s.sent, nil), http2.NewFramer(nil, &s.got)
	s.in.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	s.headers = hpack.NewEncoder(&s.block)
	return s
}

// A pair is a client and a server with a Conn between them.
type pair struct {
	t              *testing.T
	conn           *watchstream.Conn
	client, server *side
	piece          int // bytes that are passed at once, 0 for all
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, conn: watchstream.New(), client: newSide(), server: newSide()}
	p.client.sent.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	p.client.out.WriteSettings()
	p.server.out.WriteSettings()
	return p
}

// pass passes on what was sent.
func (p *pair) pass() {
	give := func(b *bytes.Buffer, take func([]byte) bool) {
		for b.Len() > 0 {
			n := b.Len()
			if p.piece > 0 {
				n = min(n, p.piece)
			}
			take(b.Next(n))
		}
	}
	give(&p.client.sent, p.conn.FromClient)
	give(&p.server.sent, p.conn.FromServer)
	p.client.got.Write(p.conn.ToClient())
	p.server.got.Write(p.conn.ToServer())
}

// opens has the client open a stream, in two frames, and the server answer it.
func (p *pair) opens(stream uint32, method string) {
	head := func(s *side, fields ...string) []byte {
		s.block.Reset()
		for i := 0; i < len(fields); i += 2 {
			s.headers.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
		}
		return s.block.Bytes()
	}
	block := head(p.client, ":method", "POST", ":scheme", "http", ":path", method, "content-type", "application/grpc", fmt.Sprint("x-", stream), "text")
	p.client.out.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block[:5]})
	p.client.out.WriteContinuation(stream, true, block[5:])
	p.server.out.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head(p.server, ":status", "200"), EndHeaders: true})
}

const watches = "/etcdserverpb.Watch/Watch"

func grpc(m proto.Message) []byte {
	content, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(content))), content...)
}

func create(key string) []byte {
	return grpc(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte(key)}}})
}

func answer(id int64, change func(*pb.WatchResponse)) []byte {
	r := &pb.WatchResponse{Header: &pb.ResponseHeader{ClusterId: 1 << 60, MemberId: 1 << 61, Revision: 77, RaftTerm: 2}, WatchId: id}
	change(r)
	return grpc(r)
}

func created(id int64) []byte  { return answer(id, func(r *pb.WatchResponse) { r.Created = true }) }
func canceled(id int64) []byte { return answer(id, func(r *pb.WatchResponse) { r.Canceled = true }) }
func event(id int64, value string) []byte {
	return answer(id, func(r *pb.WatchResponse) {
		r.Events = []*mvccpb.Event{{Kv: &mvccpb.KeyValue{Key: []byte("k"), Value: []byte(value)}}}
	})
}

// watching returns a pair whose client has confirmed watches on one stream, the first with the number 0.
func watching(t *testing.T, keys ...string) *pair {
	p := newPair(t)
	p.opens(1, watches)
	for i, key := range keys {
		p.client.out.WriteData(1, false, create(key))
		p.server.out.WriteData(1, false, created(int64(i)))
	}
	p.pass()
	p.frames(p.client)
	p.frames(p.server)
	return p
}

// frames returns the frames that have come to a side in words, the messages of streams put together.
func (p *pair) frames(s *side) (all []string) {
	p.t.Helper()
	if s == p.server {
		if b := s.got.Bytes(); bytes.HasPrefix(b, []byte("PRI")) {
			s.got.Next(24)
		}
	}
	part := map[uint32][]byte{}
	for s.got.Len() > 0 {
		f, err := s.in.ReadFrame()
		if err != nil {
			p.t.Fatalf("frame: %v", err)
		}
		switch f := f.(type) {
		case *http2.DataFrame:
			b := append(part[f.StreamID], f.Data()...)
			for len(b) >= 5 && len(b) >= 5+int(binary.BigEndian.Uint32(b[1:])) {
				n := 5 + int(binary.BigEndian.Uint32(b[1:]))
				all = append(all, fmt.Sprint(f.StreamID, " ", words(p.t, b[5:n], s == p.client)))
				b = b[n:]
			}
			part[f.StreamID] = b
		case *http2.RSTStreamFrame:
			all = append(all, fmt.Sprint(f.StreamID, " reset ", f.ErrCode))
		case *http2.WindowUpdateFrame:
			all = append(all, fmt.Sprint(f.StreamID, " window ", f.Increment))
		case *http2.MetaHeadersFrame:
			all = append(all, fmt.Sprint(f.StreamID, " headers ", f.PseudoValue("path")+f.PseudoValue("status")))
		}
	}
	for stream, b := range part {
		if len(b) > 0 {
			p.t.Errorf("stream %d: %d bytes of a message that is not complete", stream, len(b))
		}
	}
	return all
}

// words says what a message is.
func words(t *testing.T, content []byte, reply bool) string {
	t.Helper()
	if !reply {
		q := new(pb.WatchRequest)
		if err := proto.Unmarshal(content, q); err != nil {
			t.Fatal(err)
		}
		if c := q.GetCancelRequest(); c != nil {
			return fmt.Sprint("cancel ", c.WatchId)
		}
		return "create " + string(q.GetCreateRequest().GetKey())
	}
	r := new(pb.WatchResponse)
	if err := proto.Unmarshal(content, r); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint("watch ", r.WatchId)
	if r.Created {
		text += " created"
	}
	if r.Canceled {
		text += fmt.Sprintf(" canceled, compact revision %d, reason %q, at %d", r.CompactRevision, r.CancelReason, r.Header.GetRevision())
	}
	for _, e := range r.Events {
		text += fmt.Sprint(" event ", len(e.Kv.Value))
	}
	return text
}

func (p *pair) expect(s *side, want ...string) {
	p.t.Helper()
	p.pass()
	if got := p.frames(s); !slices.Equal(got, want) {
		p.t.Errorf("got  %q\nwant %q", got, want)
	}
}

const (
	compactedAnswer = `1 watch 1 canceled, compact revision 77, reason "", at 77`
	canceledAnswer  = `1 watch 1 canceled, compact revision 0, reason "rpc error: code = Canceled desc = etcdserver: watch canceled", at 77`
)

// TestCancelOneOfSeveral cancels one of three watches of a stream, whatever the pieces in which bytes come: the others
// go on, and the answer stands where the server has put it.
func TestCancelOneOfSeveral(t *testing.T) {
	for _, piece := range []int{0, 1, 7, 100} {
		for want, how := range map[string]watchstream.Answer{compactedAnswer: watchstream.Compacted, canceledAnswer: watchstream.Canceled} {
			p := watching(t, "/a", "/b", "/c")
			p.piece = piece
			if hit := p.conn.Cancel("/b", how); !slices.Equal(hit, []string{"/b"}) {
				t.Fatalf("hit %q", hit)
			}
			p.expect(p.server, "1 cancel 1")
			p.server.out.WriteData(1, false, slices.Concat(event(1, "x"), event(0, "y"), canceled(1), event(2, strings.Repeat("z", 3000))))
			p.server.out.WriteData(1, false, event(0, "y"))
			p.expect(p.client, "1 watch 1 event 1", "1 watch 0 event 1", want, "1 watch 2 event 3000", "1 watch 0 event 1")
			if hit := p.conn.Cancel("/b", how); len(hit) > 0 {
				t.Errorf("hit %q, which it has cancelled", hit)
			}
			p.client.out.WriteData(1, false, create("/b"))
			p.server.out.WriteData(1, false, created(3))
			p.expect(p.client, "1 watch 3 created")
			if hit := p.conn.Cancel("", how); !slices.Equal(hit, []string{"/a", "/c", "/b"}) {
				t.Errorf("hit %q", hit)
			}
		}
	}
}

// TestNothingChanges passes what it does not concern byte by byte as it came, padding too.
func TestNothingChanges(t *testing.T) {
	p := newPair(t)
	p.opens(1, watches)
	p.opens(3, "/etcdserverpb.KV/Range")
	p.client.out.WriteDataPadded(1, false, create("/a")[:3], make([]byte, 9))
	p.client.out.WriteDataPadded(1, false, create("/a")[3:], nil)
	p.server.out.WriteDataPadded(1, false, append(created(0), event(0, "x")[:4]...), make([]byte, 3))
	p.server.out.WriteData(1, false, event(0, "x")[4:])
	p.server.out.WriteData(3, true, []byte("anything"))
	p.server.out.WriteGoAway(3, http2.ErrCodeNo, nil)
	p.client.out.WriteWindowUpdate(1, 100)
	p.client.out.WriteRSTStream(1, http2.ErrCodeCancel)
	client, server := slices.Clone(p.client.sent.Bytes()), slices.Clone(p.server.sent.Bytes())
	p.pass()
	if !bytes.Equal(p.server.got.Bytes(), client) || !bytes.Equal(p.client.got.Bytes(), server) {
		t.Error("bytes differ from those that came")
	}
	if hit := p.conn.Cancel("", watchstream.Canceled); len(hit) > 0 {
		t.Errorf("hit %q of a stream that has ended", hit)
	}
}

// TestWatchThatIsNotConfirmed cannot be hit: it has no number yet.
func TestWatchThatIsNotConfirmed(t *testing.T) {
	p := newPair(t)
	p.opens(1, watches)
	p.client.out.WriteData(1, false, create("/a"))
	p.pass()
	if hit := append(p.conn.Cancel("", watchstream.Canceled), p.conn.Break("")...); len(hit) > 0 {
		t.Errorf("hit %q", hit)
	}
	p.frames(p.server)
	p.server.out.WriteData(1, false, answer(-1, func(r *pb.WatchResponse) { r.Created, r.Canceled, r.CancelReason = true, true, "refused" }))
	p.pass()
	if hit := p.conn.Cancel("", watchstream.Canceled); len(hit) > 0 {
		t.Errorf("hit %q, which the server has refused", hit)
	}
}

// TestRequestBetweenMessages puts a request between the client's messages, not into one.
func TestRequestBetweenMessages(t *testing.T) {
	p := watching(t, "/a")
	long := create("/" + strings.Repeat("b", 100))
	p.client.out.WriteData(1, false, long[:50])
	p.pass()
	p.conn.Cancel("/a", watchstream.Canceled)
	p.client.out.WriteData(1, false, long[50:])
	p.expect(p.server, "1 create /"+strings.Repeat("b", 100), "1 cancel 0")
}

// TestServerEndsTheWatchItself at the same time: its own reason stays.
func TestServerEndsTheWatchItself(t *testing.T) {
	p := watching(t, "/a", "/b")
	p.conn.Cancel("/b", watchstream.Canceled)
	p.server.out.WriteData(1, false, answer(1, func(r *pb.WatchResponse) { r.Canceled, r.CompactRevision = true, 5 }))
	p.expect(p.client, `1 watch 1 canceled, compact revision 5, reason "", at 77`)
}

// TestBreak resets the stream on both sides. What was on its way does not pass, and the room that it took is returned.
func TestBreak(t *testing.T) {
	p := watching(t, "/a", "/b")
	p.opens(3, watches)
	p.opens(5, "/etcdserverpb.KV/Range")
	p.client.out.WriteData(3, false, create("/c"))
	p.server.out.WriteData(3, false, created(0))
	p.pass()
	p.frames(p.client)
	p.frames(p.server)
	if hit := p.conn.Break("/b"); !slices.Equal(hit, []string{"/a", "/b"}) {
		t.Errorf("hit %q", hit)
	}
	p.expect(p.client, "1 reset INTERNAL_ERROR")
	p.pass()
	if got := p.frames(p.server); !slices.Equal(got, []string{"1 reset CANCEL"}) {
		t.Errorf("the server got %q", got)
	}
	p.client.out.WriteData(1, false, create("/late"))
	p.client.out.WriteRSTStream(1, http2.ErrCodeCancel)
	p.server.out.WriteData(1, false, event(0, "late"))
	p.server.out.WriteData(3, false, event(0, "c"))
	p.pass()
	if got, want := p.frames(p.client), []string{fmt.Sprint("0 window ", len(create("/late"))), "3 watch 0 event 1"}; !slices.Equal(got, want) {
		t.Errorf("the client got %q, want %q", got, want)
	}
	if got, want := p.frames(p.server), []string{fmt.Sprint("0 window ", len(event(0, "late")))}; !slices.Equal(got, want) {
		t.Errorf("the server got %q, want %q", got, want)
	}
}

// TestRoom fills the window of the client after an answer has become longer: not a byte more comes than the client
// has granted, and with what it returns all comes.
func TestRoom(t *testing.T) {
	for _, stream := range []uint32{0, 1} { // whose window is the smaller one
		p := watching(t, "/a", "/b")
		room := 1<<16 - 1 - len(created(0)) - len(created(1))
		p.conn.Cancel("/b", watchstream.Canceled)
		p.server.out.WriteData(1, false, canceled(1))
		more := len(answer(1, func(r *pb.WatchResponse) { r.Canceled = true; watchstream.Canceled(r) })) - len(canceled(1))
		for left := room - len(canceled(1)); left > 0; left -= 1 << 14 {
			p.server.out.WriteData(1, false, make([]byte, min(left, 1<<14)))
		}
		p.pass()
		if got := data(p); got != room {
			t.Fatalf("%d bytes came, want %d, which there is room for", got, room)
		}
		p.client.out.WriteWindowUpdate(1-stream, 1<<20)
		p.pass()
		if got := data(p); got != 0 {
			t.Errorf("%d bytes came beyond the other window", got)
		}
		p.client.out.WriteWindowUpdate(stream, 1000)
		p.pass()
		if got := data(p); got != more {
			t.Errorf("%d bytes came, want the %d that had waited", got, more)
		}
		p.frames(p.client)
		if got, want := p.frames(p.server), []string{"1 cancel 1", fmt.Sprint(1-stream, " window ", 1<<20-more), fmt.Sprint(stream, " window ", 1000-more)}; !slices.Equal(got, want) {
			t.Errorf("the server got %q, want %q", got, want)
		}
	}
}

// data returns how many bytes of data have come to the client.
func data(p *pair) (n int) {
	for p.client.got.Len() > 0 {
		f, err := p.client.in.ReadFrame()
		if err != nil {
			p.t.Fatal(err)
		}
		if f.Header().Type == http2.FrameData {
			n += int(f.Header().Length)
		}
	}
	return n
}

// FuzzConn gives a Conn any bytes of both sides between faults. It does not panic, and until it has ended a watch
// what passes are whole frames of what came.
func FuzzConn(f *testing.F) {
	p := newPair(&testing.T{})
	p.opens(1, watches)
	p.client.out.WriteData(1, false, create("/a"))
	p.server.out.WriteData(1, false, created(0))
	f.Add(p.client.sent.Bytes(), p.server.sent.Bytes(), canceled(0), byte(3))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), []byte("HTTP/1.1 200 OK\r\n\r\n"), []byte{}, byte(1))
	f.Fuzz(func(t *testing.T, client, server, more []byte, piece byte) {
		c := watchstream.New()
		give := func(p []byte, take func([]byte) bool) {
			for n := max(1, int(piece)); len(p) > 0; p = p[min(n, len(p)):] {
				take(p[:min(n, len(p))])
			}
		}
		give(client, c.FromClient)
		give(server, c.FromServer)
		if got := c.ToClient(); len(got) > len(server) {
			t.Errorf("%d bytes pass to the client of %d", len(got), len(server))
		}
		hit := c.Cancel("", watchstream.Compacted)
		give(more, c.FromServer)
		c.Break("")
		give(more, c.FromServer)
		give(more, c.FromClient)
		if c.ToServer(); len(hit) > 0 && len(c.Cancel("", watchstream.Canceled)) > 0 {
			t.Error("a stream that is broken has watches")
		}
		c.ToClient()
	})
}
