package etcd

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A script is a tap that writes down what it gets.
type script struct {
	lines      []string
	bytes      int64            // of messages
	missing    traffic.Coverage // besides what is unfinished
	gap        int64            // of it
	unfinished int64
	members    []string
	leases     []int64 // as requests name them
	closed     bool
}

func (s *script) Session(_ time.Time, o traffic.Session) {
	s.lines = append(s.lines, fmt.Sprint("session ", o.ID, " ", o.Timeout))
}

func (s *script) Gap(_ time.Time, bytes int64, cause traffic.Cause) {
	if cause == traffic.Unfinished {
		s.unfinished += bytes
		return
	}
	s.gap += bytes
	s.missing.Add(traffic.Undecoded{Cause: cause, Bytes: bytes})
}

// causes returns the causes of what is missing, in the order of all causes.
func (s *script) causes() string {
	var all []string
	for _, u := range s.missing.List() {
		all = append(all, string(u.Cause))
	}
	return strings.Join(all, " ")
}

func (s *script) Members(_ time.Time, all []string) { s.members = append(s.members, all...) }
func (s *script) Lease(_ time.Time, id int64)       { s.leases = append(s.leases, id) }
func (s *script) Owner(traffic.Process)             {}
func (s *script) Close(time.Time)                   { s.closed = true }

func (s *script) Message(_ time.Time, m drivers.Message) {
	s.bytes += int64(m.Size)
	if m.Kind == drivers.Notification {
		s.lines = append(s.lines, fmt.Sprintf("event %v %s at %d", m.Event, m.Path, m.Pos))
		return
	}
	line := map[drivers.MessageKind]string{drivers.Request: "request", drivers.Reply: "reply"}[m.Kind]
	line += fmt.Sprintf(" %v %s", m.Op, m.Path)
	for _, p := range m.Parts {
		line += fmt.Sprintf("; %v %s", p.Op, p.Path)
	}
	if m.Pos > 0 {
		line += fmt.Sprintf(" at %d", m.Pos)
	}
	if m.Err != nil {
		line += ": " + m.Err.Error()
	}
	s.lines = append(s.lines, line)
}

// post returns a request of the gateway, and answer a reply.
func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: etcd\r\nAuthorization: token-1\r\nContent-Length: %d\r\n\r\n%s",
		path, len(body), body)
}

func answer(code int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d Text\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		code, len(body), body)
}

// chunked returns a text in chunks of n bytes, and the last one.
func chunked(n int, body string) (out string) {
	for len(body) > 0 {
		k := min(n, len(body))
		out += fmt.Sprintf("%x\r\n%s\r\n", k, body[:k])
		body = body[k:]
	}
	return out + "0\r\n\r\n"
}

const (
	putA   = `{"key":"L2E=","value":"cGxhbnRlZC1zZWNyZXQ="}` // of /a
	rangeA = `{"key":"L2E="}`
	inA    = `{"header":{"revision":"7"},"kvs":[{"key":"L2E=","mod_revision":"7","value":"dg=="}],"count":"1"}`
	at7    = `{"header":{"cluster_id":"1","member_id":"2","revision":"7","raft_term":"2"}}`
	inGzip = "Content-Encoding: gzip\r\n"
)

// play gives pieces to a decoder: those of the client begin with '>', those of the server with '<'. Each is
// cut into pieces of at most size bytes.
func play(d traffic.Decoder, size int, pieces ...string) {
	for _, p := range pieces {
		take := d.FromServer
		if p[0] == '>' {
			take = d.FromClient
		}
		for rest := []byte(p[1:]); len(rest) > 0; {
			n := min(size, len(rest))
			take(time.Unix(1, 0), rest[:n])
			rest = rest[n:]
		}
	}
}

func lengths(pieces ...string) (n int64) {
	for _, p := range pieces {
		n += int64(len(p))
	}
	return n
}

// requestAndReply are the messages of a read that succeeds.
var requestAndReply = []string{"request get /a", "reply get /a at 7"}

// TestHTTP decodes what HTTP/1.1 permits, in pieces of each size: the messages are the same, and each byte is
// in a message or in a gap.
func TestHTTP(t *testing.T) {
	request := post("/v3/kv/range", rangeA)
	read, found := ">"+request, "<"+answer(200, inA)
	put, written := ">"+post("/v3/kv/put", putA), "<"+answer(200, at7)
	v2 := []string{">GET /v2/keys/a?wait=true HTTP/1.1\r\nHost: etcd\r\n\r\n", "<" + answer(404, `{"errorCode":100}`)}
	gzipped := fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: 3\r\n\r\n\x1f\x8b\x08", inGzip)
	inChunks := "Transfer-Encoding: chunked\r\n\r\n"
	extended := strings.Replace(chunked(4, inA), "4\r\n", "0004 ; name=\"v\"\r\n", 1)
	refused := "not supported here"
	for name, c := range map[string]struct {
		pieces []string
		want   []string
		gap    int64
		cause  traffic.Cause // of the gap
		leases []int64
		silent bool // bytes that are in no message and no gap
	}{
		"keep-alive": {
			pieces: []string{put, written, read, found},
			want:   append([]string{"request set /a", "reply set /a at 7"}, requestAndReply...),
		},
		"versions": {
			pieces: []string{">" + post("/v3alpha/kv/range", rangeA), found, ">" + post("/v3beta/kv/range", rangeA), found},
			want:   slices.Concat(requestAndReply, requestAndReply),
		},
		"pipelined": {
			pieces: []string{read + put[1:] + request, found + written[1:] + found[1:]},
			want: []string{"request get /a", "request set /a", "request get /a",
				"reply get /a at 7", "reply set /a at 7", "reply get /a at 7"},
		},
		"chunks": {
			pieces: []string{">POST /v3/kv/range HTTP/1.1\r\nHost: etcd\r\n" + inChunks + chunked(3, rangeA),
				"<HTTP/1.1 200 OK\r\nTrailer: T\r\n" + inChunks +
					strings.Replace(extended, "\r\n0\r\n", "\r\n0\r\nT: 1\r\nU: 2\r\n", 1),
				read, found},
			want: slices.Concat(requestAndReply, requestAndReply),
		},
		"continue": {
			pieces: []string{strings.Replace(strings.TrimSuffix(read, rangeA), "Host", "Expect: 100-continue\r\nHost", 1),
				"<HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", ">" + rangeA, found},
			want: requestAndReply,
		},
		"replies without a body": {
			pieces: []string{
				">HEAD /v3/kv/range HTTP/1.1\r\nHost: etcd\r\n\r\n",
				"<HTTP/1.1 501 Not Implemented\r\nContent-Length: 900\r\n\r\n",
				">OPTIONS /v3/kv/range HTTP/1.1\r\nHost: etcd\r\n\r\n", "<HTTP/1.1 204 No Content\r\n\r\n",
				read, "<HTTP/1.1 304 Not Modified\r\nContent-Length: 900\r\n\r\n", read, found,
			},
			want: append([]string{"request other ", "reply other : " + refused, "request other ", "reply other ",
				"request get /a", "reply get /a: " + refused}, requestAndReply...),
		},
		"until the end": {
			pieces: []string{strings.Replace(read, "HTTP/1.1", "HTTP/1.0", 1),
				"<HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n" + inA},
			want: requestAndReply,
		},
		"bare line feeds": {
			pieces: []string{strings.ReplaceAll(read, "\r\n", "\n"), strings.ReplaceAll(found, "\r\n", "\n")},
			want:   requestAndReply,
		},
		"errors": {
			pieces: []string{put, "<" + answer(400, `{"code":3,"message":"etcdserver: key is not provided"}`),
				read, "<" + answer(503, `{"code":14}`),
				">" + post("/v3/kv/range", `{"key":`), "<" + answer(400, `{"code":3}`)},
			want: []string{"request set /a", "reply set /a: " + refused, "request get /a", "reply get /a: " + refused,
				"request other ", "reply other : " + refused},
		},
		"no text is an empty message": {
			pieces: []string{">POST /v3/kv/range HTTP/1.1\r\nHost: etcd\r\n\r\n", "<" + answer(400, `{"code":3}`)},
			want:   []string{"request get ", "reply get : " + refused},
		},
		"the reply comes before the request has ended": {
			pieces: []string{read[:len(read)-3], "<" + answer(413, "too large"), ">" + read[len(read)-3:], read, found},
			want:   append([]string{"request other ", "reply other : " + refused}, requestAndReply...),
			silent: true, // the end of the first request
		},
		"forms of JSON": {
			pieces: []string{">" + post("/v3/kv/txn", `{
				"success": [
					{"requestPut": {"key": "L2E_", "lease": 12, "unknown": [{}]}},
					{"request_range": {"key": "L2E"}}
				],
				"compare": [{"target": 1, "result": "EQUAL", "key": "L2E_", "createRevision": "0"}]
				} trailing`), "<" + answer(200, `{"header":{"revision":7},"succeeded":true}`)},
			want:   []string{"request create /a?; create /a?; get /a", "reply create /a?; create /a?; get /a at 7"},
			leases: []int64{12},
		},
		"compressed": {
			pieces: []string{read, "<" + gzipped, strings.Replace(read, "Host", inGzip+"Host", 1), found},
			want:   []string{"request get /a", "reply get /a", "request other ", "reply other  at 7"},
			gap:    lengths(gzipped, inGzip, request),
			cause:  traffic.Opaque,
			silent: true, // they are messages too
		},
		"a reply that is no JSON": {
			pieces: []string{read, "<" + answer(200, "<html>")},
			want:   []string{"request get /a", "reply get /a"},
			gap:    lengths(answer(200, "<html>")),
			cause:  traffic.Malformed,
			silent: true,
		},
		"etcd 2": {
			pieces: append(v2, read, found), want: requestAndReply,
			gap: lengths(v2[0][1:], v2[1][1:]), cause: traffic.OldAPI,
		},
		"etcd 2 of a server that has it no more": {
			pieces: []string{v2[0], "<" + strings.Replace(answer(404, "404"), "application/json", "text/plain", 1)},
			silent: true,
		},
		"monitoring": {
			pieces: []string{">GET /metrics HTTP/1.1\r\nHost: etcd\r\n\r\n", "<" + answer(200, "# HELP"),
				">GET /health?serializable=true HTTP/1.1\r\nHost: etcd\r\n\r\n", "<" + answer(503, `{"health":"false"}`)},
			silent: true,
		},
		"an unknown path that is refused": {
			pieces: []string{">GET / HTTP/1.1\r\nHost: etcd\r\n\r\n", "<" + answer(404, "404 page not found"), read, found},
			want:   requestAndReply,
			silent: true,
		},
		"an unknown path": {
			pieces: []string{">" + post("/v4/kv/put", putA), "<" + answer(200, "{}")},
			gap:    lengths(post("/v4/kv/put", putA), answer(200, "{}")),
			cause:  traffic.OtherPaths,
		},
		"upgraded": {
			pieces: []string{">GET /v3/watch HTTP/1.1\r\nHost: etcd\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
				"<HTTP/1.1 101 Switching Protocols\r\n\r\n\x81\x05hello", ">\x81\x05hello"},
			want:   []string{"request other "},
			gap:    lengths("HTTP/1.1 101 Switching Protocols\r\n\r\n", "\x81\x05hello", "\x81\x05hello"),
			cause:  traffic.Upgraded,
			silent: true,
		},
		"other methods": {
			pieces: []string{
				">" + post("/v3/auth/authenticate", `{"name":"root","password":"planted-secret"}`),
				"<" + answer(200, `{"token":"planted-secret"}`),
				">" + post("/v3/cluster/member/list", ""), "<" + answer(200, `{}`),
				">" + post("/v3/lock/lock", `{"name":"bA=="}`), "<" + answer(200, `{}`),
			},
			want: slices.Repeat([]string{"request other ", "reply other "}, 3),
		},
		"leases": {
			pieces: []string{
				">" + post("/v3/lease/grant", `{"TTL":60}`),
				"<" + answer(200, `{"header":{"revision":"7"},"ID":"12","TTL":"60"}`),
				">" + post("/v3/lease/keepalive", `{"ID":"12"}`),
				"<HTTP/1.1 200 OK\r\n" + inChunks + chunked(99, `{"result":{"ID":"12","TTL":"60"}}`+"\n"),
				">" + post("/v3/lease/keepalive", `{"ID":"12"}`), "<" + answer(503, `{"error":{"code":14}}`),
				">" + post("/v3/kv/lease/revoke", `{"ID":"12"}`), "<" + answer(200, at7),
			},
			want: []string{"request open ", "session 12 1m0s", "reply open  at 7", "request ping ", "reply ping ",
				"request ping ", "reply ping : " + refused, "request close ", "reply close  at 7"},
			silent: true, // the end of the chunks
			leases: []int64{12, 12, 12},
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := int64(-len(c.pieces)) + lengths(c.pieces...)
			for _, size := range []int{1, 2, 7, 1 << 20} {
				var s script
				d := Protocol().Open(&s, false)
				play(d, size, c.pieces...)
				d.End(time.Unix(2, 0))
				if !slices.Equal(s.lines, c.want) || s.gap != c.gap || s.causes() != string(c.cause) || !s.closed {
					t.Fatalf("pieces of %d bytes: a gap of %d bytes (%s), closed %t, and\n%s\nwant %d (%s) and\n%s", size,
						s.gap, s.causes(), s.closed, strings.Join(s.lines, "\n"),
						c.gap, c.cause, strings.Join(c.want, "\n"))
				}
				if !slices.Equal(s.leases, c.leases) {
					t.Errorf("pieces of %d bytes: requests name the leases %v, want %v", size, s.leases, c.leases)
				}
				if s.bytes+s.gap != all && !c.silent {
					t.Errorf("pieces of %d bytes: messages of %d bytes and a gap of %d, want %d together", size, s.bytes,
						s.gap, all)
				}
			}
		})
	}
}

// TestMembersOfTheGateway asks for the list of members: the client learns the addresses of those that serve
// clients.
func TestMembersOfTheGateway(t *testing.T) {
	list := `{"header":{"member_id":"1"},"members":[{"ID":"1","peerURLs":["http://etcd1:2380"],` +
		`"clientURLs":["http://etcd1:2379","https://etcd2"]},{"ID":"2","clientURLs":[]}]}`
	var s script
	d := Protocol().Open(&s, false)
	play(d, 9, ">"+post("/v3/cluster/member/list", "{}"), "<"+answer(200, list),
		">"+post("/v3/cluster/member/list", ""), "<"+answer(503, `{"code":14}`))
	d.End(time.Unix(2, 0))
	want := []string{"request other ", "reply other ", "request other ", "reply other : not supported here"}
	got := strings.Join(s.members, " ")
	if got != "etcd1:2379 etcd2:443" || !slices.Equal(s.lines, want) || s.gap != 0 {
		t.Errorf("members %q, a gap of %d bytes and %q; want etcd1:2379 etcd2:443, none and %q",
			got, s.gap, s.lines, want)
	}
}

// watchReplies are the messages of a watch of /a in which a key is created, changed and deleted.
var watchReplies = []string{
	`{"result":{"header":{"revision":"6"},"created":true}}` + "\n",
	`{"result":{"header":{"revision":"7"},"events":[{"kv":` +
		`{"key":"L2E=","create_revision":"7","mod_revision":"7","value":"dg=="}}]}}` + "\n",
	`{"result":{"header":{"revision":"9"},"events":[{"kv":{"key":"L2E=","create_revision":"7","mod_revision":"8"}},` +
		`{"type":"DELETE","kv":{"key":"L2E=","mod_revision":"9"}}]}}` + "\n",
}

// TestWatchStream decodes a watch whose reply does not end, in chunks that do not follow the messages.
func TestWatchStream(t *testing.T) {
	const unfinished = `{"result":{"header":{"rev`
	body := strings.TrimSuffix(chunked(11, strings.Join(watchReplies, "")+unfinished), "0\r\n\r\n")
	request := post("/v3/watch", `{"create_request":{"key":"L2E="}}`)
	reply := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body
	want := []string{"request watch node /a", "reply watch node /a at 6", "event created /a at 7",
		"event data changed /a at 8", "event deleted /a at 9"}
	for _, size := range []int{1, 5, 1 << 20} {
		var s script
		d := Protocol().Open(&s, false)
		play(d, size, ">"+request, "<"+reply)
		d.End(time.Unix(2, 0))
		if !slices.Equal(s.lines, want) || s.gap != 0 {
			t.Errorf("pieces of %d bytes: a gap of %d bytes and\n%s\nwant none and\n%s", size, s.gap,
				strings.Join(s.lines, "\n"), strings.Join(want, "\n"))
		}
		// The unfinished message is in four chunks, each with 5 bytes around it.
		if most := lengths(request, reply) - int64(len(unfinished)); s.bytes > most || s.bytes < most-4*5 {
			t.Errorf("pieces of %d bytes: messages of %d bytes, want about %d", size, s.bytes, most)
		}
	}
}

// TestWatchErrors decodes watches that are refused, before and within the stream.
func TestWatchErrors(t *testing.T) {
	two := `{"create_request":{"key":"L2E=","range_end":"L2I="}} {"create_request":{"key":"L2E="}}`
	want := []string{
		"request watch tree /a", "request watch node /a", "reply watch tree /a at 6",
		"reply watch node /a: not supported here", "reply unwatch /a", "request watch node /a",
		"reply watch node /a: not supported here",
	}
	var s script
	d := Protocol().Open(&s, false)
	play(d, 9, ">"+post("/v3/watch", two), "<HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+
		chunked(50, watchReplies[0]+`{"error":{"code":7,"message":"permission denied"}}`+"\n"),
		">"+post("/v3/watch", `{"create_request":{"key":"L2E="}}`), "<"+answer(401, `{"error":{"code":16}}`))
	if !slices.Equal(s.lines, want) || s.gap != 0 {
		t.Errorf("a gap of %d bytes and\n%s\nwant none and\n%s", s.gap, strings.Join(s.lines, "\n"),
			strings.Join(want, "\n"))
	}
}

// TestGatewayAfterALoss joins connections, and loses bytes: decoding resumes at the next request that
// begins a piece, and a reply is never taken for that of another request.
func TestGatewayAfterALoss(t *testing.T) {
	read, put, reply, wrote := post("/v3/kv/range", rangeA), post("/v3/kv/put", putA), answer(200, inA),
		answer(200, at7)
	at := time.Unix(1, 0)
	for name, c := range map[string]struct {
		joined bool
		play   func(d traffic.Decoder)
		want   []string
		gap    int64
	}{
		"joined": {true, func(d traffic.Decoder) {
			play(d, 1<<20, ">"+read[9:], "<"+reply, "<"+wrote, ">"+read, "<"+reply)
		}, requestAndReply, lengths(read[9:], reply, wrote)},
		"joined within a reply": {true, func(d traffic.Decoder) {
			play(d, 1<<20, "<"+reply[9:], ">"+read, "<"+reply)
		}, requestAndReply, lengths(reply[9:])},
		"a reply is lost, which is known when the next one comes": {false, func(d traffic.Decoder) {
			play(d, 1<<20, ">"+put, ">"+read)
			d.Lost(at, false, 100, traffic.Missing)
			play(d, 1<<20, "<"+reply)
		}, append([]string{"request set /a"}, requestAndReply...), 100},
		"the end of a reply is lost": {false, func(d traffic.Decoder) {
			play(d, 1<<20, ">"+put, "<"+wrote[:60])
			d.Lost(at, false, 100, traffic.Missing)
			play(d, 1<<20, "<"+wrote[90:], ">"+read, "<"+reply)
		}, append([]string{"request set /a"}, requestAndReply...), 100 + lengths(wrote[:60], wrote[90:])},
		"a request is lost, and its reply comes": {false, func(d traffic.Decoder) {
			play(d, 1<<20, ">"+read, "<"+reply, "<"+wrote)
			d.Lost(at, true, 100, traffic.Missing)
			play(d, 1<<20, ">"+read, "<"+reply)
		}, slices.Concat(requestAndReply, requestAndReply), 100 + lengths(wrote)},
		"a client that pipelines": {false, func(d traffic.Decoder) {
			play(d, 1<<20, ">"+read+put, "<"+reply)
			d.Lost(at, false, 100, traffic.Missing)
			play(d, 1<<20, ">"+read, "<"+reply)
		}, []string{"request get /a", "request set /a", "reply get /a at 7"}, 100 + lengths(read, reply)},
	} {
		t.Run(name, func(t *testing.T) {
			var s script
			d := Protocol().Open(&s, c.joined)
			c.play(d)
			d.End(at)
			if !slices.Equal(s.lines, c.want) || s.gap != c.gap {
				t.Errorf("a gap of %d bytes and\n%s\nwant %d and\n%s", s.gap, strings.Join(s.lines, "\n"), c.gap,
					strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestFirstBytes chooses the decoder by the first bytes of a connection. Bytes of anything else are a gap,
// and those of a client that does not go on are unfinished.
func TestFirstBytes(t *testing.T) {
	for first, want := range map[string]traffic.Cause{
		"P": traffic.Unfinished, "PO": traffic.Unfinished, "PRI * HTTP/2.0\r": traffic.Unfinished,
		"\x16\x03\x01\x02\x00\x01": traffic.TLS, "ruok": traffic.Words, "\x00\x00\x00,": traffic.Foreign,
		"PRI * HTTP/1.1\r\n": traffic.Foreign, "POSTS / HTTP/1.1\r\n": traffic.Foreign,
		" GET / HTTP/1.1\r\n": traffic.Foreign, "\r\n": traffic.Foreign,
	} {
		var s script
		d := Protocol().Open(&s, false)
		pieces := []string{"<early", ">" + first}
		if want != traffic.Unfinished {
			pieces = append(pieces, "<reply", ">more")
		}
		play(d, 1, pieces...)
		d.End(time.Unix(2, 0))
		if want == traffic.Unfinished {
			s.missing.Add(traffic.Undecoded{Cause: want, Bytes: s.unfinished})
		}
		all := lengths(pieces...) - int64(len(pieces))
		if s.gap+s.unfinished != all || s.causes() != string(want) || len(s.lines) > 0 || !s.closed {
			t.Errorf("%q: a gap of %d bytes (%s) and %v, closed %t; want %d (%s), no message, closed", first,
				s.gap+s.unfinished, s.causes(), s.lines, s.closed, all, want)
		}
	}
	for first, messages := range map[string]int{
		preface: 0, "GET /v3/kv/range HTTP/1.1\r\n\r\n": 1, post("/v3/kv/range", rangeA): 1,
	} {
		var s script
		d := Protocol().Open(&s, false)
		play(d, 1, ">"+first)
		d.End(time.Unix(2, 0))
		if len(s.lines) != messages || s.gap+s.unfinished != 0 {
			t.Errorf("%q: %v and a gap of %d bytes, want %d messages and none", first, s.lines, s.gap+s.unfinished, messages)
		}
	}
}
