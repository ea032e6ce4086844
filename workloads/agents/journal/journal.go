package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

// A Journal records the packets of the sessions of one agent, in the order in which it saw them. Its methods
// may be called from any goroutine.
type Journal struct {
	now   func() time.Duration
	limit int // of the text, in bytes

	mu       sync.Mutex
	text     []byte
	paths    map[string]uint64 // numbers of the paths so far, from 1
	last     time.Duration     // time of the latest entry
	position int64             // of the latest entry
	dropped  bool              // packets are missing, since the limit was reached
}

// maxSize is the largest size of a journal in bytes. A packet takes about ten, and a new path its length.
const maxSize = 1 << 30

// New returns an empty Journal with a clock, which must be monotonic.
func New(now func() time.Duration) *Journal {
	return &Journal{now: now, limit: maxSize, paths: map[string]uint64{}}
}

// Probe returns a probe of the session that records each packet and passes it on.
func (j *Journal) Probe(session int, p drivers.Probe) drivers.Probe { return probe{j, session, p} }

type probe struct {
	*Journal
	session int
	next    drivers.Probe
}

// Message records the packet and passes it on.
func (p probe) Message(m drivers.Message) {
	p.record(p.session, &m)
	p.next.Message(m)
}

// A journal begins with magic and a byte that is 1 if packets are missing. Then come the entries. An entry
// has the session, the time since the entry before, kind, operation, mode and event, flags, the difference
// of the positions, the path, and its parts if the flags say so. A path is its number, or 0 and, at its
// first occurrence, its length and its text.
const magic = "stjl\x01"

// Flags of an entry or a part.
const (
	failed   = 1 << iota // with an error
	noNode               // which is ErrNoNode
	watching             // it arms a watch
	several              // it has parts
)

func (j *Journal) record(session int, m *drivers.Message) {
	if m.Op == drivers.OpPing && m.Kind == drivers.Request {
		return // it tells the meter nothing
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.text) > j.limit {
		j.dropped = true
		return
	}
	now := j.now()
	flags := flagsOf(m.Err)
	if m.Watch {
		flags |= watching
	}
	if len(m.Parts) > 0 {
		flags |= several
	}
	b := binary.AppendUvarint(j.text, uint64(session))
	b = binary.AppendUvarint(b, uint64(now-j.last))
	b = append(b, byte(m.Kind), byte(m.Op), byte(m.Mode), byte(m.Event), flags)
	b = binary.AppendVarint(b, m.Pos-j.position)
	b = j.path(b, m.Path)
	if len(m.Parts) > 0 {
		b = binary.AppendUvarint(b, uint64(len(m.Parts)))
	}
	for _, p := range m.Parts {
		b = append(b, byte(p.Op), byte(p.Mode), flagsOf(p.Err))
		b = j.path(b, p.Path)
	}
	j.text, j.last, j.position = b, now, m.Pos
}

func flagsOf(err error) byte {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, drivers.ErrNoNode):
		return failed | noNode
	}
	return failed
}

// path appends a path.
func (j *Journal) path(b, path []byte) []byte {
	if n, known := j.paths[string(path)]; known {
		return binary.AppendUvarint(b, n)
	}
	j.paths[string(path)] = uint64(len(j.paths) + 1)
	b = binary.AppendUvarint(append(b, 0), uint64(len(path)))
	return append(b, path...)
}

// WriteTo writes the journal, compressed.
func (j *Journal) WriteTo(w io.Writer) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := &counted{Writer: w}
	z := gzip.NewWriter(out)
	head := append([]byte(magic), 0)
	if j.dropped {
		head[len(magic)] = 1
	}
	_, err := z.Write(head)
	if err == nil {
		_, err = z.Write(j.text)
	}
	return out.n, errors.Join(err, z.Close())
}

type counted struct {
	io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}

// A Recording is a journal that another process has written.
type Recording struct {
	text    []byte // the entries
	dropped bool
}

var errFormat = errors.New("not the journal of an agent, or a damaged one")

// Read reads what WriteTo wrote.
func Read(r io.Reader) (*Recording, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	text, err := io.ReadAll(io.LimitReader(z, 2*maxSize))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	body, found := bytes.CutPrefix(text, []byte(magic))
	if !found || len(body) == 0 || body[0] > 1 {
		return nil, errFormat
	}
	return &Recording{text: body[1:], dropped: body[0] == 1}, nil
}

// An entry is one packet of a session.
type entry struct {
	session int
	at      time.Duration
	message drivers.Message
}

// A reader returns the entries of a Recording, one after the other.
type reader struct {
	rest  []byte
	paths [][]byte
	entry // the latest
	err   error
}

// next reads the next entry, and reports whether there is one.
func (r *reader) next() bool {
	if len(r.rest) == 0 || r.err != nil {
		return false
	}
	session, since := r.uvarint(), r.uvarint()
	head := r.bytes(5)
	position := r.varint()
	path := r.path()
	if r.err != nil {
		return false
	}
	flags := head[4]
	m := drivers.Message{
		Kind: drivers.MessageKind(head[0]), Op: drivers.Op(head[1]), Mode: drivers.Mode(head[2]), Event: drivers.EventType(head[3]),
		Err: errorOf(flags), Watch: flags&watching != 0, Pos: r.message.Pos + position, Path: path,
	}
	if flags&several != 0 {
		m.Parts = r.parts()
	}
	if m.Kind == 0 || m.Kind > drivers.Cut || m.Op > drivers.OpFlush || m.Event > drivers.Rearmed || session > maxSession {
		r.err = errFormat
	}
	r.session, r.at, r.message = int(session), r.at+time.Duration(since), m
	return r.err == nil
}

// maxSession is more than the sessions of any run.
const maxSession = 1 << 30

func (r *reader) parts() (parts []drivers.TxnOp) {
	for range r.uvarint() {
		head := r.bytes(3)
		path := r.path()
		if r.err != nil {
			return nil
		}
		parts = append(parts, drivers.TxnOp{Op: drivers.Op(head[0]), Mode: drivers.Mode(head[1]), Err: errorOf(head[2]), Path: path})
	}
	return parts
}

func errorOf(flags byte) error {
	switch {
	case flags&failed == 0:
		return nil
	case flags&noNode != 0:
		return drivers.ErrNoNode
	}
	return drivers.ErrUnsupported // the meter asks only whether there was another one
}

func (r *reader) path() []byte {
	switch n := r.uvarint(); {
	case n == 0:
		path := r.bytes(r.uvarint())
		r.paths = append(r.paths, path)
		return path
	case n <= uint64(len(r.paths)):
		return r.paths[n-1]
	}
	r.fail()
	return nil
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) fail() { r.err, r.rest = errFormat, nil }
