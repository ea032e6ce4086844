package watchstream

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/stampede-bench/stampede/drivers/etcd/calls"
)

// A Conn is one connection of HTTP/2. Its methods may be called from any goroutine.
type Conn struct {
	mu                 sync.Mutex
	preface            int    // bytes of the client that come before its first frame
	client, server     []byte // of each, what has come of a frame that is not complete
	toServer, toClient way
	headers            *http2.Framer // reads the client's headers from the buffer
	read               *bytes.Buffer
	streams            map[uint32]*stream
	broken             map[uint32]bool // streams that the Conn has broken
	unknown            bool            // the client's headers cannot be read: all passes as it comes
}

const (
	preface     = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	headerTable = 4096 // bytes, which etcd's servers keep
	watchMethod = "/etcdserverpb.Watch/Watch"

	// mostRequest is the size of a request of which the key is kept. An answer that creates or ends a watch has a few numbers
	// and a reason; all else is longer or has events, and is not kept back.
	mostRequest, mostAnswer = 1 << 16, 1 << 10
	mostWatches             = 1 << 16 // of a stream
	mostBroken              = 1 << 10 // streams of which late frames are dropped
)

// New returns a Conn of which nothing has come.
func New() *Conn {
	c := &Conn{preface: len(preface), toServer: newWay(), toClient: newWay(), read: new(bytes.Buffer), streams: map[uint32]*stream{}, broken: map[uint32]bool{}}
	c.headers = http2.NewFramer(nil, c.read)
	c.headers.SetMaxReadFrameSize(1<<24 - 1)
	c.headers.ReadMetaHeaders = hpack.NewDecoder(headerTable, nil)
	return c
}

// A stream is one of watches.
type stream struct {
	id       uint32
	up, down messages
	creating []string // what was asked for and not answered, in the order of the answers
	watches  map[int64]string
	ending   map[int64]Answer // watches that the Conn has cancelled, whose answers have not come
	requests [][]byte         // that wait for the end of a message of the client
	closed   bool             // the client sends nothing more
	unread   bool             // a message could not be read: which watches there are is not known
}

// An Answer makes the server's answer to a client that cancels a watch the one with which the service itself ends it.
type Answer func(*pb.WatchResponse)

// Canceled is the answer with which the service cancels a watch.
func Canceled(r *pb.WatchResponse) { r.CancelReason = rpctypes.ErrGRPCWatchCanceled.Error() }

// Compacted is the answer to a watch whose next revision is compacted: to all revisions before the current one.
func Compacted(r *pb.WatchResponse) { r.CompactRevision = r.Header.GetRevision() }

// Cancel ends the client's watches on a key, as reports name it, or on all keys if it is empty. It returns what those
// watch that the server has confirmed; there may be several on one key.
func (c *Conn) Cancel(key string, answer Answer) (hit []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.inOrder() {
		for _, id := range slices.Sorted(maps.Keys(s.watches)) {
			if _, before := s.ending[id]; before || s.closed || key != "" && key != s.watches[id] {
				continue
			}
			hit = append(hit, s.watches[id])
			s.ending[id] = answer
			s.requests = append(s.requests, message(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{WatchId: id}}}))
		}
		c.ask(s)
	}
	return hit
}

// Break breaks the streams that have a watch on the key, or all with watches if it is empty. It returns what these watch.
func (c *Conn) Break(key string) (hit []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.inOrder() {
		of := slices.Sorted(maps.Values(s.watches))
		if len(of) == 0 || key != "" && !slices.Contains(of, key) {
			continue
		}
		hit = append(hit, of...)
		delete(c.streams, s.id)
		if len(c.broken) >= mostBroken {
			clear(c.broken)
		}
		c.broken[s.id] = true
		// What a client does after its own cancellation of a stream differs from what it does after an internal error, on which
		// etcd's library opens another one.
		c.toClient.send(reset(s.id, http2.ErrCodeInternal), 0)
		c.toServer.send(reset(s.id, http2.ErrCodeCancel), 0)
		delete(c.toClient.streams, s.id)
		delete(c.toServer.streams, s.id)
	}
	return hit
}

func (c *Conn) inOrder() (all []*stream) {
	for _, id := range slices.Sorted(maps.Keys(c.streams)) {
		all = append(all, c.streams[id])
	}
	return all
}

func reset(stream uint32, code http2.ErrCode) frame {
	var b bytes.Buffer
	http2.NewFramer(&b, nil).WriteRSTStream(stream, code)
	return b.Bytes()
}

// message returns a message with its head.
func message(m proto.Message) []byte {
	content, err := proto.Marshal(m)
	if err != nil {
		panic(err) // texts are those of this package or of a message that was read
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(content))), content...)
}

// ask sends the requests that wait, if no message of the client is in progress.
func (c *Conn) ask(s *stream) {
	if s.closed || !s.up.idle() {
		return
	}
	for _, q := range s.requests {
		c.toServer.send(dataFrame(s.id, q, false), int64(len(q)))
	}
	s.requests = nil
}

// ToServer returns what is to be passed on to the server since the last call.
func (c *Conn) ToServer() []byte { return c.take(&c.toServer) }

// ToClient returns what is to be passed on to the client since the last call.
func (c *Conn) ToClient() []byte { return c.take(&c.toClient) }

func (c *Conn) take(w *way) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := bytes.Clone(w.out.Bytes())
	w.out.Reset()
	return p
}

// FromClient takes bytes of the client, and reports whether they have led to something for the client itself.
func (c *Conn) FromClient(p []byte) (back bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(c.preface, len(p))
	c.preface -= n
	c.toServer.out.Write(p[:n])
	c.client = append(c.client, p[n:]...)
	for {
		f, rest := split(c.client)
		if f == nil {
			return c.toClient.out.Len() > 0
		}
		c.client = rest
		c.fromClient(slices.Clone(f))
	}
}

// FromServer takes bytes of the server, and reports whether they have led to something for the server itself.
func (c *Conn) FromServer(p []byte) (back bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server = append(c.server, p...)
	for {
		f, rest := split(c.server)
		if f == nil {
			return c.toServer.out.Len() > 0
		}
		c.server = rest
		c.fromServer(slices.Clone(f))
	}
}

// window takes what the receiver of a way returns, and passes it on in the other way.
func window(f frame, of, back *way) {
	if len(f.payload()) != 4 {
		back.send(f, 0)
		return
	}
	was := number(f.payload())
	if pass := of.returned(f.stream(), was); pass > 0 || was == 0 {
		binary.BigEndian.PutUint32(f.payload(), pass)
		back.send(f, 0)
	}
}

// late reports whether a frame is one of a stream that is broken, and does not pass. Its sender gets the room back. Headers
// pass: by them those of other streams are decompressed.
func (c *Conn) late(f frame, sender *way) bool {
	if !c.broken[f.stream()] || f.kind() == http2.FrameHeaders {
		return false
	}
	if n := len(f.payload()); f.kind() == http2.FrameData && n > 0 {
		var b bytes.Buffer
		http2.NewFramer(&b, nil).WriteWindowUpdate(0, uint32(n))
		sender.send(b.Bytes(), 0)
	}
	return true
}

func (c *Conn) fromClient(f frame) {
	s := c.streams[f.stream()]
	switch kind := f.kind(); {
	case c.late(f, &c.toClient):
		return
	case kind == http2.FrameWindowUpdate:
		window(f, &c.toClient, &c.toServer)
		return
	case kind == http2.FrameSettings:
		c.toClient.settings(f)
	case kind == http2.FrameHeaders:
		c.opened(f)
	case kind == http2.FrameRSTStream:
		c.ended(f.stream())
	case kind == http2.FrameData && s != nil:
		s.up.take(f.data(), s.asked)
		s.up.passed = len(s.up.part)
		s.closed = s.closed || f.has(http2.FlagDataEndStream)
		c.toServer.send(f, 0)
		c.ask(s)
		return
	}
	c.toServer.send(f, 0)
}

// opened reads the headers with which the client opens a stream.
func (c *Conn) opened(f frame) {
	if c.unknown {
		return
	}
	c.read.Write(f)
	got, err := c.headers.ReadFrame()
	h, is := got.(*http2.MetaHeadersFrame)
	if err != nil || !is {
		c.unknown = true
		clear(c.streams)
		return
	}
	if h.PseudoValue("path") != watchMethod {
		return
	}
	id := f.stream()
	c.streams[id] = &stream{
		id: id, up: messages{most: mostRequest}, down: messages{most: mostAnswer}, watches: map[int64]string{}, ending: map[int64]Answer{},
		closed: h.StreamEnded(),
	}
	c.toClient.streams[id], c.toServer.streams[id] = new(room), new(room)
}

// ended forgets a stream.
func (c *Conn) ended(id uint32) {
	delete(c.streams, id)
	delete(c.toClient.streams, id)
	delete(c.toServer.streams, id)
}

// asked takes a message of the client.
func (s *stream) asked(raw, content []byte) {
	q := new(pb.WatchRequest)
	if content == nil || proto.Unmarshal(content, q) != nil {
		s.unread = true
		clear(s.watches)
	}
	if r := q.GetCreateRequest(); r != nil && !s.unread {
		key := string(calls.Covering(r.Key, r.RangeEnd))
		if s.creating = append(s.creating, key); len(s.creating) > mostWatches {
			s.unread = true
		}
	}
}

func (c *Conn) fromServer(f frame) {
	s := c.streams[f.stream()]
	switch kind := f.kind(); {
	case c.late(f, &c.toServer):
		return
	case kind == http2.FrameWindowUpdate:
		window(f, &c.toServer, &c.toClient)
		return
	case kind == http2.FrameSettings:
		c.toServer.settings(f)
	case kind == http2.FrameData && s != nil:
		c.answered(s, f)
		return
	case s != nil && (kind == http2.FrameRSTStream || kind == http2.FrameHeaders && f.has(http2.FlagHeadersEndStream)):
		c.release(s)
		c.toClient.send(f, 0)
		c.ended(s.id)
		return
	}
	c.toClient.send(f, 0)
}

// answered passes data of the server on. It passes as it came, unless an answer is awaited that is to be changed: then whole
// short messages pass, so that the changed one is put in place of the server's.
func (c *Conn) answered(s *stream, f frame) {
	changing := len(s.ending) > 0 || len(s.down.part) > s.down.passed
	var out []byte
	changed := 0
	s.down.take(f.data(), func(raw, content []byte) {
		if to := s.heard(content); to != nil && len(raw) == messageHead+len(content) { // none of it has passed
			changed += len(to) - len(raw)
			raw = to
		}
		out = append(out, raw...)
	})
	if !changing {
		s.down.passed = len(s.down.part)
		c.toClient.send(f, 0)
	} else {
		padding := len(f.payload()) - len(f.data())
		if ends := f.has(http2.FlagDataEndStream); len(out) > 0 || ends || padding > 0 {
			c.put(s, out, ends, int64(changed-padding))
		}
	}
	if f.has(http2.FlagDataEndStream) {
		c.release(s)
		c.ended(s.id)
	}
}

// put sends data to the client in frames of the size that every receiver takes.
func (c *Conn) put(s *stream, data []byte, ends bool, extra int64) {
	const most = 1 << 14
	for len(data) > most {
		c.toClient.send(dataFrame(s.id, data[:most], false), 0)
		data = data[most:]
	}
	c.toClient.send(dataFrame(s.id, data, ends), extra)
}

// release passes on what was kept of a message that does not become complete.
func (c *Conn) release(s *stream) {
	if kept := s.down.part[s.down.passed:]; len(kept) > 0 {
		c.put(s, kept, false, 0)
		s.down.passed = len(s.down.part)
	}
}

// heard takes a message of the server, and returns the one that is to take its place, nil if there is none.
func (s *stream) heard(content []byte) (instead []byte) {
	r := new(pb.WatchResponse)
	if content == nil || s.unread || proto.Unmarshal(content, r) != nil {
		return nil
	}
	switch answer, ours := s.ending[r.WatchId]; {
	case r.Created && len(s.creating) > 0:
		key := s.creating[0]
		s.creating = s.creating[1:]
		if !r.Canceled {
			s.watches[r.WatchId] = key
		}
	case r.Canceled && !r.Created:
		delete(s.watches, r.WatchId)
		delete(s.ending, r.WatchId)
		if ours && r.CompactRevision == 0 && r.CancelReason == "" { // else the service has ended it for a reason of its own
			answer(r)
			return message(r)
		}
	}
	return nil
}
