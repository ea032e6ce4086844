package etcd

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// A gateway decodes one connection to the gateway of a member, which takes HTTP/1.1 and JSON and makes
// calls of gRPC of them. It decodes from the beginning of the connection, and after a loss from the next
// piece that begins with a request.
type gateway struct {
	reporter
	share
	requests, replies direction
	sending           *call       // the call whose request has not ended
	pending           []*call     // calls whose reply has not ended, in order
	over              []*exchange // streams that have ended: their watches end with the next request, else with the connection
	inCalls           int         // bytes that they keep
	pipelines         bool        // the client sends requests before it has the replies to earlier ones
}

// A direction is one direction of a connection.
type direction struct {
	splitter
	seeking traffic.Cause // why nothing is decoded until a piece begins with a message, "" if it is
	keeps   bool          // the body is to be decoded
	over    bool          // it, or the line, is too large for that
	text    []byte        // of the body, or of its last line
}

// A call is one request and what is known of its reply.
type call struct {
	exchange
	verb    string // of HTTP
	class   class
	asked   bool          // the request is in the report
	refused bool          // the server answers with an error
	without traffic.Cause // why the reply is not decoded, "" if it is
	unread  int64         // bytes of the request that were not decoded
	missing traffic.Cause // why they were not
	kept    int           // bytes, as the budget knows
}

// callSize is about what a call takes in memory, without its keys.
const callSize = 512

// A class is what a path of HTTP leads to.
type class uint8

const (
	unknown    class = iota
	decoded          // a method of gRPC that is decoded
	counted          // another method of gRPC
	monitoring       // health, metrics and the like: no traffic of keys
	old              // the API of etcd 2, which is not decoded
)

// gatewayMethods are the methods that are decoded, by their paths below the version.
var gatewayMethods = map[string]string{
	"kv/range":            "/etcdserverpb.KV/Range",
	"kv/put":              "/etcdserverpb.KV/Put",
	"kv/deleterange":      "/etcdserverpb.KV/DeleteRange",
	"kv/txn":              "/etcdserverpb.KV/Txn",
	"cluster/member/list": "/etcdserverpb.Cluster/MemberList",
	"watch":               watchMethod,
	"lease/grant":         "/etcdserverpb.Lease/LeaseGrant",
	"lease/revoke":        "/etcdserverpb.Lease/LeaseRevoke",
	"kv/lease/revoke":     "/etcdserverpb.Lease/LeaseRevoke",
	"lease/keepalive":     keepAliveMethod,
}

// newGateway returns a decoder. It begins with the connection, unless it is to seek a request for a cause.
func newGateway(t traffic.Tap, b *budget, seeking traffic.Cause) *gateway {
	d := &gateway{reporter: reporter{tap: t}, share: share{budget: b}}
	d.requests.seeking, d.replies.seeking = seeking, seeking
	d.requests.start, d.requests.body, d.requests.end = d.startRequest, d.requests.keep, d.endRequest
	d.replies.start, d.replies.body, d.replies.end = d.startReply, d.replyBody, d.endReply
	return d
}

func (d *gateway) FromClient(at time.Time, p []byte) {
	d.take(at, &d.requests, p, d.requests.seeking == "" || beginsRequest(p))
}

// FromServer takes bytes of the server. A reply that follows a loss answers the newest request: a client
// that does not pipeline has had the others.
func (d *gateway) FromServer(at time.Time, p []byte) {
	known := d.replies.seeking == ""
	if !known && len(d.pending) > 0 && beginsReply(p) {
		d.drop(len(d.pending) - 1)
		known = true
	}
	d.take(at, &d.replies, p, known)
}

// take takes bytes of one direction, if it is known where a message begins. From the first error on, all
// bytes are a gap.
func (d *gateway) take(at time.Time, from *direction, p []byte, known bool) {
	d.at = at
	switch {
	case d.undecodable != "":
		d.gap(int64(len(p)), d.undecodable)
	case !known:
		d.gap(int64(len(p)), from.seeking)
	default:
		from.seeking = ""
		d.split(from, p)
	}
	d.report()
}

// split takes bytes that begin where the earlier ones of the direction have ended.
func (d *gateway) split(from *direction, p []byte) {
	if err := from.take(p); err != nil {
		d.undecodable = cmp.Or(d.undecodable, causeOf(err))
	} else if !d.set(d.keeps()) {
		d.undecodable = cmp.Or(d.undecodable, traffic.BeyondLimit)
	}
	switch {
	case d.undecodable != "":
		d.forget(d.undecodable)
	case len(d.pending) > 0 && d.pending[0].without != "":
		d.missing(&d.replies, d.pending[0].without)
	}
}

// Lost seeks the next message.
func (d *gateway) Lost(at time.Time, fromClient bool, bytes int64, cause traffic.Cause) {
	d.at = at
	d.gap(bytes, cause)
	if fromClient || d.pipelines || d.undecodable != "" {
		d.forget(cause)
		d.undecodable = ""
		if d.pipelines { // which reply answers which request is unknown
			d.undecodable = cause
		}
		d.requests.seeking = cause
	} else {
		d.missing(&d.replies, cause)
		d.replies.restart()
	}
	d.replies.seeking = cause
	d.report()
}

// End ends the connection. The other side did not get what has not ended.
func (d *gateway) End(at time.Time) {
	d.at = at
	if d.replies.part == toTheEnd {
		_ = d.replies.finish() // nothing follows that an error could stop
	}
	d.forget(traffic.Unfinished)
	d.report()
	d.tap.Close(at)
}

// missing adds what is in no report of the message so far.
func (d *gateway) missing(of *direction, cause traffic.Cause) {
	d.gap(of.size-of.reported, cause)
	of.reported = of.size
}

// forget keeps nothing of the connection. What is in no report is missing for the cause.
func (d *gateway) forget(cause traffic.Cause) {
	d.missing(&d.requests, cause)
	d.missing(&d.replies, cause)
	d.drop(len(d.pending))
	d.requests.restart()
	d.replies.restart()
	d.sending = nil
	d.set(0)
}

// drop removes the first calls.
func (d *gateway) drop(n int) {
	for i, c := range d.pending[:n] {
		d.gap(c.unread, c.missing)
		d.budget.relayed.take(c.content)
		d.inCalls -= c.kept
		d.pending[i] = nil
	}
	d.pending = d.pending[n:]
}

// update takes into account what a call keeps now.
func (d *gateway) update(c *call) {
	now := callSize + c.size()
	d.inCalls += now - c.kept
	c.kept = now
}

// keeps returns how many bytes are kept.
func (d *gateway) keeps() int {
	return len(d.requests.lines) + len(d.requests.text) + len(d.replies.lines) + len(d.replies.text) + d.inCalls
}

var (
	errTooMany     = errors.New("more requests without a reply than are kept")
	errUnasked     = errors.New("reply without a request")
	errUpgraded    = errors.New("another protocol follows")
	errUndecodable = errors.New("connection is given up")
)

// stop returns an error if nothing more is to be decoded.
func (d *gateway) stop() error {
	if d.undecodable != "" {
		return errUndecodable
	}
	return nil
}

// startRequest takes the head of a request.
func (d *gateway) startRequest(head *bufio.Reader) (delimiter, error) {
	r, err := http.ReadRequest(head)
	if err != nil {
		return delimiter{}, err
	}
	if len(d.pending) >= maxStreams {
		d.pipelines = true
		return delimiter{}, errTooMany
	}
	for _, e := range d.over {
		d.ends(e)
	}
	d.over = nil
	c := &call{verb: r.Method}
	c.class, c.method = classify(r.Method, r.URL.Path)
	c.alone = c.streams()
	d.pending, d.sending = append(d.pending, c), c
	d.update(c)
	d.requests.expect(c.class == decoded && plain(r.Header))
	return delimiter{chunked: len(r.TransferEncoding) > 0, length: r.ContentLength}, nil
}

// classify returns what a request leads to, and the method of gRPC if that is decoded.
func classify(verb, path string) (class, string) {
	for _, version := range []string{"/v3/", "/v3beta/", "/v3alpha/"} {
		below, ok := strings.CutPrefix(path, version)
		if !ok {
			continue
		}
		if method := gatewayMethods[below]; method != "" && verb == http.MethodPost {
			return decoded, method
		}
		return counted, ""
	}
	switch first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); first {
	case "health", "livez", "readyz", "metrics", "version", "debug":
		return monitoring, ""
	case "v2":
		return old, ""
	}
	return unknown, ""
}

// plain reports whether the body is not compressed.
func plain(h http.Header) bool {
	coding := h.Get("Content-Encoding")
	return coding == "" || strings.EqualFold(coding, "identity")
}

func (d *gateway) endRequest() error {
	c := d.sending
	d.sending = nil
	switch {
	case !c.asked:
		d.ask(c)
	case c.without != "": // the reply came first
		d.missing(&d.requests, c.without)
	}
	d.requests.clearText()
	return d.stop()
}

// ask reports the request of a call, of which all has come that the server needs for a reply.
func (d *gateway) ask(c *call) {
	c.asked = true
	switch size := int(d.requests.size); c.class {
	case decoded:
		c.missing = d.askEach(c, size)
	case counted:
		d.request(&c.exchange, text{size, unread(traffic.Opaque)})
	case old:
		c.missing = traffic.OldAPI
	case unknown:
		c.missing = traffic.OtherPaths
	}
	if c.missing != "" {
		c.unread = d.requests.size
	}
	d.requests.reported = d.requests.size
	d.update(c)
}

// askEach reports each message of a request, of which a unary call has one. No text at all is an empty
// message, as it is to the gateway.
func (d *gateway) askEach(c *call, size int) (missing traffic.Cause) {
	if r := &d.requests; !r.keeps || r.over {
		return d.request(&c.exchange, text{size, unread(traffic.Opaque)})
	}
	all := json.NewDecoder(bytes.NewReader(d.requests.text))
	for first := true; d.undecodable == ""; first = false {
		t := text{size, unread(traffic.Malformed)}
		var one json.RawMessage
		err := all.Decode(&one)
		switch {
		case errors.Is(err, io.EOF) && first:
			t.parse = parseJSON([]byte("{}"))
		case err == nil:
			t.parse = parseJSON(one)
		case errors.Is(err, io.EOF):
			return missing
		case !first:
			return cmp.Or(missing, traffic.Malformed)
		}
		d.budget.relayed.expect(&c.exchange, t)
		missing = cmp.Or(missing, d.request(&c.exchange, t))
		if err != nil || !c.streams() {
			break
		}
		size = 0 // all came in one request
	}
	return missing
}

// maxObjects is more than the longest honest text has. A hostile one has two or three bytes for each
// object, which takes a hundred in memory.
const maxObjects = maxBody / 64

// parseJSON parses a message in JSON as the gateway does.
func parseJSON(p []byte) func(proto.Message) traffic.Cause {
	return func(m proto.Message) traffic.Cause {
		if bytes.Count(p, []byte("{")) > maxObjects {
			return traffic.Opaque
		}
		return parsed(protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(p, m))
	}
}

// streams reports whether the reply is a stream of messages, a line each.
func (c *call) streams() bool { return c.method == watchMethod || c.method == keepAliveMethod }

// startReply takes the head of a reply.
func (d *gateway) startReply(head *bufio.Reader) (delimiter, error) {
	if len(d.pending) == 0 {
		return delimiter{}, errUnasked
	}
	c := d.pending[0]
	r, err := http.ReadResponse(head, &http.Request{Method: c.verb})
	switch {
	case err != nil:
		return delimiter{}, err
	case r.StatusCode == http.StatusSwitchingProtocols:
		return delimiter{}, errUpgraded
	case r.StatusCode < http.StatusOK:
		return delimiter{interim: true}, nil
	}
	d.pipelines = d.pipelines || len(d.pending) > 1
	if !c.asked {
		d.ask(c)
	}
	c.refused = r.StatusCode >= http.StatusMultipleChoices
	keeps := c.class == decoded && !c.refused && plain(r.Header)
	d.replies.expect(keeps)
	// What the server refuses it did not do, whatever it was. API version 2 says in JSON that a key is missing.
	if !c.refused || c.class == old && r.Header.Get("Content-Type") == "application/json" {
		c.without = map[class]traffic.Cause{old: traffic.OldAPI, unknown: traffic.OtherPaths}[c.class]
		if c.class == decoded && !keeps {
			c.without = traffic.Opaque
		}
		d.gap(c.unread, c.missing)
	}
	c.unread = 0
	if r.Body == http.NoBody {
		return delimiter{}, d.stop()
	}
	return delimiter{chunked: len(r.TransferEncoding) > 0, length: r.ContentLength}, d.stop()
}

// replyBody takes the next bytes of a reply's body.
func (d *gateway) replyBody(p []byte) {
	r, c := &d.replies, d.pending[0]
	for r.keeps && c.streams() {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if !ended {
			break
		}
		r.keep(line)
		d.endLine(c, r.size-int64(len(rest)))
		p = rest
	}
	r.keep(p)
}

// endLine reports a message of a stream. The reply has so many bytes up to it.
func (d *gateway) endLine(c *call, upTo int64) {
	r := &d.replies
	t := text{int(upTo - r.reported), unread(traffic.Malformed)}
	var line struct{ Result, Error json.RawMessage }
	switch {
	case r.over:
		t.parse = unread(traffic.Opaque)
	case len(bytes.TrimSpace(r.text)) == 0:
		r.clearText()
		return
	case json.Unmarshal(r.text, &line) == nil:
		t.parse = parseJSON(line.Result)
	}
	if len(line.Error) > 0 {
		d.fail(&c.exchange, drivers.ErrUnsupported, t.size)
	} else if missing := d.reply(&c.exchange, t); missing != "" {
		d.gap(int64(t.size), missing)
	}
	r.reported = upTo
	r.over = false
	r.clearText()
	d.update(c)
}

func (d *gateway) endReply() error {
	r, c := &d.replies, d.pending[0]
	t := text{int(r.size), unread(traffic.Opaque)}
	missing := c.without
	switch {
	case c.class != decoded && c.class != counted:
	case c.refused:
		d.fail(&c.exchange, drivers.ErrUnsupported, t.size)
	case r.keeps && c.streams():
		d.endLine(c, r.size)
	default:
		if r.keeps && !r.over {
			t.parse = parseJSON(r.text)
		}
		missing = cmp.Or(missing, d.reply(&c.exchange, t))
	}
	if missing != "" {
		d.missing(r, missing)
	}
	r.clearText()
	if len(c.watches.standing) > 0 {
		d.over = append(d.over, &c.exchange)
	}
	d.drop(1)
	return d.stop()
}

// maxBody is the length of the longest text in JSON that is decoded. JSON takes more bytes than gRPC's form.
const maxBody = 2 * maxMessage

// expect prepares for a body.
func (r *direction) expect(keeps bool) { r.keeps, r.over = keeps, false }

// keep keeps the next bytes of a body that is to be decoded.
func (r *direction) keep(p []byte) {
	switch {
	case !r.keeps || r.over:
	case len(r.text)+len(p) > maxBody:
		r.over, r.text = true, nil
	default:
		r.text = append(r.text, p...)
	}
}

// clearText forgets the text.
func (r *direction) clearText() {
	r.text = r.text[:0]
	if cap(r.text) > keptCapacity {
		r.text = nil
	}
}

// restart forgets what has come of a message.
func (r *direction) restart() {
	r.part, r.size, r.reported = head, 0, 0
	r.clear()
	r.text = nil
	r.expect(false)
}
