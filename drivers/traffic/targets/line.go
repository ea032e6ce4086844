package targets

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/watchstream"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A line is one connection of a client to the proxy.
type line struct {
	program    *Program
	connection traffic.Connection
	near, far  net.Conn        // to the client, and to the proxy
	first      []byte          // bytes that the client sent before its identity was known
	received   traffic.Decoder // decodes what the client receives; nil without [Program.Received]

	watches *watchstream.Conn // nil before a line to etcd speaks HTTP/2, and for any other
	sending sync.Mutex        // keeps the bytes to the server in order
	changed chan struct{}     // has an element when watches may have bytes for the client
}

// An end is the proxy's end of a line.
type end struct {
	net.Conn
	of net.Conn
}

// LocalAddr returns the local address of the client's connection.
func (e *end) LocalAddr() net.Addr { return e.of.LocalAddr() }

// RemoteAddr returns the client's address.
func (e *end) RemoteAddr() net.Addr { return e.of.RemoteAddr() }

// CloseWrite ends the connection: its end passes the faults as bytes do.
func (e *end) CloseWrite() error { return e.Close() }

// run passes bytes until both sides have ended.
func (l *line) run() {
	defer l.near.Close()
	defer l.far.Close()
	c, whole := l.identify()
	if !whole || !c.admit(l) {
		return
	}
	defer c.left(l)
	f := newFilter(l, c)
	defer f.close()
	c.link.Join(&begun{Conn: l.near, from: io.MultiReader(bytes.NewReader(l.first), l.near), received: l.received}, f)
}

// begun is a client's connection whose first bytes have already been read; Read returns them first.
type begun struct {
	net.Conn
	from io.Reader

	mu       sync.Mutex      // for the decoder
	received traffic.Decoder // decodes both directions; nil without [Program.Received], and after the client has left
}

func (b *begun) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.received == nil:
	case err != nil: // the client has left: it receives nothing more
		b.received = nil
	default:
		b.received.FromClient(time.Now(), p[:n])
	}
	return n, err
}

func (b *begun) Write(p []byte) (int, error) {
	b.mu.Lock()
	if b.received != nil {
		b.received.FromServer(time.Now(), p)
	}
	b.mu.Unlock()
	return b.Conn.Write(p)
}

// identify returns the client of the line, and false if the client leaves before it is known.
func (l *line) identify() (*Client, bool) {
	if !l.zooKeeper() {
		if !l.listen() {
			return nil, false
		}
		if !l.plain() {
			l.watches = watchstream.New()
		}
		return l.program.whose(l.near), true
	}
	request, whole := l.open()
	if !whole {
		return nil, false
	}
	key := ""
	if request.SessionID != 0 {
		key = sessionKey(request.SessionID)
	}
	c := l.program.client(key)
	l.program.owners.Find(l.near, func() bool { return true }, c.owned)
	return c, true
}

func (l *line) zooKeeper() bool { return slices.Contains(l.program.protocol.Speaks, traffic.Sessions) }

// listen reads from the client until the first bytes tell the protocol. It returns false if the client leaves before.
func (l *line) listen() bool {
	buf := make([]byte, 512)
	for {
		if _, known := traffic.Recognise(l.first); known {
			return true
		}
		n, err := l.near.Read(buf)
		if l.first = append(l.first, buf[:n]...); n == 0 && err != nil {
			return false
		}
	}
}

// open reads the packet that opens a session. If the connection begins with something else, that is passed on unchanged.
func (l *line) open() (request wire.ConnectRequest, whole bool) {
	buf := make([]byte, 512)
	for n, err := 0, error(nil); ; n, err = l.near.Read(buf) {
		l.first = append(l.first, buf[:n]...)
		if cause, known := traffic.Recognise(l.first); known && cause != traffic.Sessions {
			return request, true
		}
		if payload := packet(l.first); payload != nil {
			d := wire.NewDecoder(payload)
			request.Decode(&d)
			return request, true
		}
		if err != nil {
			return request, false
		}
	}
}

// packet returns the payload of the first packet, nil if that is not complete.
func packet(p []byte) []byte {
	if len(p) < wire.LengthSize {
		return nil
	}
	n := int(int32(binary.BigEndian.Uint32(p)))
	if n < 0 || n > len(p)-wire.LengthSize {
		return nil
	}
	return p[wire.LengthSize : wire.LengthSize+n]
}

// A filter is the server's end of a line. It decodes both directions, and returns from the server the packets that the
// faults let pass.
type filter struct {
	net.Conn
	line   *line
	client *Client
	units  chan []byte // whole packets from the server; closed at the end
	over   chan struct{}

	mu      sync.Mutex // for the decoder
	decoder traffic.Decoder
	lost    bool            // the packet contains the reply that is to be lost
	told    bool            // the packet contains a notification
	leased  bool            // the next request binds the keys that it writes to a lease
	bound   map[string]bool // the keys that unanswered requests bind to a lease

	opening bool   // the next packet answers the one that opens a session
	pass    []byte // packets that pass
	ready   []byte // what the client gets in place of them
	back    []held // packets that are held back, oldest first
}

// A held packet waits until it may pass. Its stream is 0 in other protocols than HTTP/2.
type held struct {
	stream uint32
	bytes  []byte
}

func newFilter(l *line, c *Client) *filter {
	f := &filter{Conn: l.far, line: l, client: c, units: make(chan []byte), over: make(chan struct{}), opening: l.zooKeeper(), bound: map[string]bool{}}
	f.decoder = l.program.protocol.Open(tap{f}, false)
	go f.receive()
	return f
}

func (f *filter) close() {
	close(f.over)
	f.Conn.Close()
}

// Write sends the client's bytes to the server.
func (f *filter) Write(p []byte) (int, error) {
	f.mu.Lock()
	f.decoder.FromClient(time.Now(), p)
	f.mu.Unlock()
	w := f.line.watches
	if w == nil {
		return f.Conn.Write(p)
	}
	if w.FromClient(p) {
		f.line.wake()
	}
	if err := f.line.send(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// send writes the bytes that watches has for the server.
func (l *line) send() error {
	l.sending.Lock()
	defer l.sending.Unlock()
	p := l.watches.ToServer()
	if len(p) == 0 {
		return nil
	}
	_, err := l.far.Write(p)
	return err
}

// wake interrupts [filter.next]: watches may have bytes for the client.
func (l *line) wake() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// endWatches ends watches of the line, and returns the keys and prefixes that they were on.
func (l *line) endWatches(how faults.Verb, key string) (hit []string) {
	switch {
	case l.watches == nil:
		return nil
	case how == faults.CancelWatch:
		hit = l.watches.Cancel(key, watchstream.Canceled)
	case how == faults.CompactWatch:
		hit = l.watches.Cancel(key, watchstream.Compacted)
	case how == faults.BreakStream:
		hit = l.watches.Break(key)
	}
	l.wake()
	l.send() // an error is one of the connection, and its reader gets it, too
	return hit
}

// receive splits the server's bytes into packets.
func (f *filter) receive() {
	defer close(f.units)
	var rest []byte
	buf := make([]byte, 16<<10)
	for {
		n, err := f.Conn.Read(buf)
		rest = append(rest, buf[:n]...)
		for {
			size := f.line.unit(rest)
			if size == 0 || size > len(rest) {
				break
			}
			select {
			case f.units <- slices.Clone(rest[:size]):
			case <-f.over:
				return
			}
			rest = rest[size:]
		}
		if err != nil {
			if len(rest) > 0 {
				select {
				case f.units <- rest:
				case <-f.over:
				}
			}
			return
		}
	}
}

const head = 9 // bytes of a frame of HTTP/2 before its payload (RFC 9113, section 4.1)

// unit returns the size in bytes of the first packet, or frame of HTTP/2; 0 if that is not known yet.
func (l *line) unit(p []byte) int {
	switch {
	case l.plain():
		return len(p)
	case !l.zooKeeper() && len(p) >= head:
		return head + int(p[0])<<16 + int(p[1])<<8 + int(p[2])
	case l.zooKeeper() && len(p) >= wire.LengthSize:
		return wire.LengthSize + max(0, int(int32(binary.BigEndian.Uint32(p))))
	}
	return 0
}

// plain reports whether the line's protocol has no packets: four-letter words, HTTP/1.1.
func (l *line) plain() bool {
	cause, known := traffic.Recognise(l.first)
	if l.zooKeeper() {
		return known && cause != traffic.Sessions
	}
	return known && cause != traffic.HTTP2
}

// Read returns bytes for the client.
func (f *filter) Read(p []byte) (int, error) {
	for len(f.ready) == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
		f.ready, f.pass = f.line.change(f.pass), nil
	}
	n := copy(p, f.ready)
	f.ready = f.ready[n:]
	return n, nil
}

// change returns the bytes that the client gets in place of those that pass.
func (l *line) change(pass []byte) []byte {
	if l.watches == nil {
		return pass
	}
	if l.watches.FromServer(pass) {
		go l.send() // it may block until the server reads, and the server until this line reads
	}
	return l.watches.ToClient()
}

// next waits for one of three events: the server sends a packet, the packets that are held back may pass, or watches has
// bytes for the client.
func (f *filter) next() error {
	released := f.client.passes.Resumed()
	if len(f.back) > 0 && released == nil {
		f.release(func(held) bool { return true })
		return nil
	}
	select {
	case unit, open := <-f.units:
		if !open {
			return io.EOF
		}
		if f.judge(unit) {
			return net.ErrClosed
		}
	case <-f.line.changed:
	case <-released: // never if nothing is held back
	}
	return nil
}

// judge lets a packet pass, holds it back, or drops it. It reports whether it drops it, and the connection with it.
func (f *filter) judge(unit []byte) (lost bool) {
	f.mu.Lock()
	f.lost, f.told = false, false
	f.decoder.FromServer(time.Now(), unit)
	lost, told := f.lost, f.told
	f.mu.Unlock()
	if f.opening {
		f.opening = false
		f.grant(unit)
	}
	stream, data := f.line.streamOf(unit)
	same := func(h held) bool { return stream != 0 && h.stream == stream }
	switch {
	case lost:
		f.line.near.Close()
	case f.client.passes.Resumed() != nil && (told && data || data && slices.ContainsFunc(f.back, same)):
		f.back = append(f.back, held{stream, unit})
	default:
		f.release(same) // keeps the order within a stream
		f.pass = append(f.pass, unit...)
	}
	return lost
}

// lose tells of a reply that is dropped.
func (l *line) lose(op drivers.Op) {
	if l.program.Lost != nil {
		l.program.Lost(l.connection, time.Now(), op)
	}
}

// release lets some of the packets pass that are held back.
func (f *filter) release(which func(held) bool) {
	f.back = slices.DeleteFunc(f.back, func(h held) bool {
		if which(h) {
			f.pass = append(f.pass, h.bytes...)
			return true
		}
		return false
	})
}

// streamOf returns the stream of a frame of HTTP/2, and whether the frame has data: frames with headers must keep their
// order over all streams. A packet of ZooKeeper's protocol always has data, and its stream is 0.
func (l *line) streamOf(unit []byte) (stream uint32, data bool) {
	if l.zooKeeper() || l.plain() || len(unit) < head {
		return 0, l.zooKeeper()
	}
	return binary.BigEndian.Uint32(unit[5:]) & (1<<31 - 1), unit[3] == 0
}

// grant reads the answer to the packet that opens a session.
func (f *filter) grant(unit []byte) {
	payload := packet(unit)
	d := wire.NewDecoder(slices.Clone(payload))
	var answer wire.ConnectResponse
	if answer.Decode(&d); payload != nil && d.Err() == nil {
		f.client.granted(answer)
	}
}

// A tap gets the decoded messages of a filter.
type tap struct{ *filter }

func (t tap) Session(_ time.Time, s traffic.Session) {
	if s.Lease {
		t.client.leased(s.ID)
	}
}

func (t tap) Lease(_ time.Time, id int64) { t.leased = id != 0 }

func (t tap) Message(_ time.Time, m drivers.Message) {
	switch {
	case m.Kind == drivers.Notification:
		t.told = true
	case m.Kind == drivers.Request:
		for _, w := range writes(m) {
			if t.leased && len(t.bound) < mostNodes {
				t.bound[string(w.Path)] = true
			}
		}
		t.leased = false
	case m.Kind == drivers.Reply:
		for _, w := range writes(m) {
			if t.bound[string(w.Path)] {
				w.Mode |= drivers.Ephemeral
			}
			if delete(t.bound, string(w.Path)); m.Err == nil {
				t.client.wrote(w.Op, w.Mode, w.Path)
			}
		}
		if m.Op == drivers.OpClose && m.Err == nil {
			t.client.ends()
		}
		if t.client.loses(m) {
			t.lost = true
			t.line.lose(m.Op)
		}
	}
}

// writes returns what a request or its reply writes.
func writes(m drivers.Message) []drivers.TxnOp {
	all := m.Parts
	if len(all) == 0 {
		all = []drivers.TxnOp{{Op: m.Op, Path: m.Path, Mode: m.Mode}}
	}
	return slices.DeleteFunc(slices.Clone(all), func(w drivers.TxnOp) bool { return !w.Op.IsWrite() })
}

func (tap) Gap(time.Time, int64, traffic.Cause) {}
func (tap) Members(time.Time, []string)         {}
func (tap) Owner(traffic.Process)               {}
func (tap) Close(time.Time)                     {}
