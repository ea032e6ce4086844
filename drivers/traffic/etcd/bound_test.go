package etcd

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// gaps adds up what a decoder could not decode.
type gaps struct{ bytes int64 }

func (*gaps) Session(time.Time, traffic.Session) {}
func (*gaps) Message(time.Time, drivers.Message) {}
func (g *gaps) Members(time.Time, []string)      {}
func (*gaps) Lease(time.Time, int64)             {}
func (*gaps) Owner(traffic.Process)              {}

func (g *gaps) Gap(_ time.Time, bytes int64, _ traffic.Cause) { g.bytes += bytes }
func (*gaps) Close(time.Time)                                 {}

// unended returns the beginnings of calls that never end.
func unended(t *testing.T, n int) []byte {
	t.Helper()
	var out, block bytes.Buffer
	f, e := http2.NewFramer(&out, nil), hpack.NewEncoder(&block)
	for i := range n {
		block.Reset()
		for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", watchMethod}} {
			if err := e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(), EndHeaders: true}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestStreamsAreBounded opens streams that never end: at the first one beyond the limit the decoder gives the
// connection up and keeps nothing.
func TestStreamsAreBounded(t *testing.T) {
	var g gaps
	d := newDecoder(&g, new(budget))
	d.FromClient(time.Unix(1, 0), append([]byte(preface), unended(t, maxStreams)...))
	if len(d.streams) != maxStreams || g.bytes != 0 {
		t.Fatalf("%d streams are kept and %d bytes not decoded, want %d and 0", len(d.streams), g.bytes, maxStreams)
	}
	d = newDecoder(&g, new(budget))
	all := append([]byte(preface), unended(t, maxStreams+1)...)
	d.FromClient(time.Unix(1, 0), all)
	d.FromServer(time.Unix(1, 0), make([]byte, 7))
	if want := int64(len(all) + 7); len(d.streams) != 0 || g.bytes != want {
		t.Errorf("%d streams are kept and %d bytes not decoded, want none and %d", len(d.streams), g.bytes, want)
	}
}

// TestHeadersAreBounded sends headers that never end.
func TestHeadersAreBounded(t *testing.T) {
	var g gaps
	d := newDecoder(&g, new(budget))
	d.FromClient(time.Unix(1, 0), []byte(preface))
	frame := make([]byte, frameHeader+1<<20) // a HEADERS frame whose end of headers does not come
	frame[0], frame[3], frame[8] = 1<<4, byte(http2.FrameHeaders), 1
	for range 2*maxFrame/len(frame) + 2 {
		d.FromClient(time.Unix(1, 0), frame)
		if n := d.requests.buf.Len(); n > maxHeld {
			t.Fatalf("%d bytes are kept, want at most %d", n, maxHeld)
		}
		frame[3] = byte(http2.FrameContinuation)
	}
	if g.bytes == 0 || d.requests.buf.Len() != 0 {
		t.Errorf("%d bytes not decoded, %d kept; want some and none", g.bytes, d.requests.buf.Len())
	}
}

// halves returns the beginnings of calls, each with a message of which all but one byte has come.
func halves(t *testing.T, n, size int) []byte {
	t.Helper()
	out := bytes.NewBuffer(unended(t, n))
	f := http2.NewFramer(out, nil)
	text := make([]byte, messageHeader+size-1)
	binary.BigEndian.PutUint32(text[1:], uint32(size))
	for i := range n {
		if err := f.WriteData(uint32(2*i+1), false, text); err != nil {
			t.Fatal(err)
		}
	}
	return append([]byte(preface), out.Bytes()...)
}

// TestUnfinishedMessagesAreBounded has several connections with messages that do not end. They keep no more
// together than the budget, and nothing when they have ended.
func TestUnfinishedMessagesAreBounded(t *testing.T) {
	var g gaps
	shared := new(budget)
	const size = 1 << 20
	half := halves(t, 20, size)
	var all []*decoder
	for range maxUnfinished/(20*size) + 3 {
		d := newDecoder(&g, shared)
		d.FromClient(time.Unix(1, 0), half)
		if n := shared.Load(); n > maxUnfinished {
			t.Fatalf("%d bytes are kept, want at most %d", n, maxUnfinished)
		}
		all = append(all, d)
	}
	if g.bytes != 3*int64(len(half)) {
		t.Errorf("%d bytes were not decoded, want those of 3 connections, %d", g.bytes, 3*len(half))
	}
	honest := newDecoder(&g, shared)
	before := g.bytes
	honest.FromClient(time.Unix(1, 0), append([]byte(preface), unended(t, 1)...))
	if g.bytes != before || len(honest.streams) != 1 {
		t.Error("a connection that keeps little is given up")
	}
	for _, d := range append(all, honest) {
		d.End(time.Unix(2, 0))
	}
	if n := shared.Load(); n != 0 {
		t.Errorf("%d bytes of the budget are taken by connections that have ended", n)
	}
}

// TestHostileHTTPIsBounded gives the gateway's decoder what no client sends, in pieces of 64 KiB. It keeps
// little of it, parses it with little memory, and what it does not decode is a gap.
func TestHostileHTTPIsBounded(t *testing.T) {
	const much = 1 << 20
	repeat := strings.Repeat
	begin := "POST /v3/kv/txn HTTP/1.1\r\nHost: etcd\r\n"
	chunks := begin + "Transfer-Encoding: chunked\r\n\r\n"
	get := "GET /v3/kv/range HTTP/1.1\r\nHost: etcd\r\n\r\n"
	nested := repeat(`{"success":[{"request_txn":`, much/4)
	read, watch := post("/v3/kv/range", rangeA), post("/v3/watch", `{"create_request":{"key":"L2E="}}`)
	empties := `[{}` + repeat(`,{}`, much) + `]`
	ok, as := "HTTP/1.1 200 OK\r\n\r\n", repeat("a", 16*much)
	watches := post("/v3/watch", repeat(`{"create_request":{}}`, maxCreating+2))
	for name, c := range map[string]struct {
		client, server string
		messages       int
		gap            int64 // at least
	}{
		"a header without an end":       {begin + repeat("A: a\r\n", much), "", 0, 6 * much},
		"a line without an end":         {"GET /" + as, "", 0, 16 * much},
		"a chunk's size without an end": {chunks + repeat("0", much), "", 0, much},
		"a chunk's extension":           {chunks + "1;" + repeat("a=b;", much), "", 0, 4 * much},
		"a trailer without an end":      {chunks + "0\r\n" + repeat("A: a\r\n", much), "", 0, 6 * much},
		"chunks of one byte":            {chunks + repeat("1\r\na\r\n", 9*much), "", 0, 0},
		"a chunk of 2^64 bytes":         {chunks + "ffffffffffffffff\r\nbody", "", 0, 4},
		"a chunk of -1 bytes":           {chunks + "-1\r\nbody", "", 0, 4},
		"a chunk that is too long":      {chunks + "2\r\n{}}\r\n", "", 0, 2},
		"a body without an end":         {begin + "Content-Length: 9223372036854775807\r\n\r\n" + as, "", 0, 0},
		"a negative length":             {begin + "Content-Length: -1\r\n\r\n" + get, "", 0, lengths(get)},
		"two lengths":                   {begin + "Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}{}", "", 0, 4},
		"a length that is too short":    {strings.Replace(read, "Length: 14", "Length: 4", 1), "", 1, 10},
		"JSON in JSON":                  {post("/v3/kv/txn", nested), answer(200, at7), 2, lengths(nested)},
		"JSON in JSON that is whole": {
			post("/v3/kv/txn", nested+"{}"+repeat("}]}", much/4)), answer(200, repeat("[", much)+repeat("]", much)),
			2, lengths(nested) + 2*much,
		},
		"operations of two bytes":   {post("/v3/kv/txn", `{"success":`+empties+`}`), answer(200, at7), 2, 3 * much},
		"keys of two bytes":         {read, answer(200, `{"kvs":`+empties+`}`), 2, 3 * much},
		"pipelined requests":        {repeat(get, much), "", maxStreams, int64(len(get) * (much - maxStreams))},
		"replies without a request": {read, repeat(answer(200, inA), much/8), 2, much},
		"interim replies":           {read, repeat("HTTP/1.1 100 Continue\r\n\r\n", much/8) + answer(200, inA), 2, 0},
		"an event without an end":   {watch, ok + `{"result":` + as, 2, 16 * much},
		"watches without an end":    {watches, "", maxCreating, 21 * maxCreating},
		"a reply without an end":    {read, ok + as, 2, 16 * much},
	} {
		t.Run(name, func(t *testing.T) {
			var n tally
			shared := new(budget)
			d := newGateway(&n, shared, "")
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			most := int64(0)
			for _, from := range []struct {
				text string
				take func(time.Time, []byte)
			}{{c.client, d.FromClient}, {c.server, d.FromServer}} {
				for rest := from.text; rest != ""; {
					size := min(len(rest), 1<<16)
					from.take(time.Unix(1, 0), []byte(rest[:size]))
					rest = rest[size:]
					most = max(most, shared.Load())
				}
			}
			runtime.ReadMemStats(&after)
			d.End(time.Unix(2, 0))
			all := lengths(c.client, c.server)
			if n.messages != c.messages || n.gap < c.gap || n.gap > all {
				t.Errorf("%d messages and a gap of %d bytes, want %d and at least %d", n.messages, n.gap, c.messages, c.gap)
			}
			if limit := int64(maxBody + maxStreams*callSize + maxHead); most > limit || shared.Load() != 0 {
				t.Errorf("%d bytes were kept, and %d in the end; want at most %d, and none", most, shared.Load(), limit)
			}
			got, limit := int64(after.TotalAlloc-before.TotalAlloc), 30*all+4*maxBody // the pieces are a part of it
			if got > limit {
				t.Errorf("%d MiB were allocated for %d, want at most %d", got>>20, all>>20, limit>>20)
			}
		})
	}
}

// TestUnfinishedBodiesAreBounded has several connections with bodies that do not end. They keep no more
// together than the budget.
func TestUnfinishedBodiesAreBounded(t *testing.T) {
	var g gaps
	shared := new(budget)
	body := post("/v3/kv/put", `"`+strings.Repeat("a", maxBody-100))
	body = strings.Replace(body, "Content-Length: ", "Content-Length: 0000", 1)
	var all []*gateway
	for range maxUnfinished/(maxBody-100+callSize) + 4 {
		d := newGateway(&g, shared, "")
		d.FromClient(time.Unix(1, 0), []byte(body[:len(body)-1]))
		if n := shared.Load(); n > maxUnfinished {
			t.Fatalf("%d bytes are kept, want at most %d", n, maxUnfinished)
		}
		all = append(all, d)
	}
	if want := 4 * (int64(len(body)) - 1); g.bytes != want {
		t.Errorf("%d bytes were not decoded, want those of 4 connections, %d", g.bytes, want)
	}
	for _, d := range all {
		d.End(time.Unix(2, 0))
	}
	if n := shared.Load(); n != 0 {
		t.Errorf("%d bytes of the budget are taken by connections that have ended", n)
	}
}
