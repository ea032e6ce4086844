package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

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

func (r *reader) parts() (parts []drivers.Part) {
	for range r.uvarint() {
		head := r.bytes(3)
		path := r.path()
		if r.err != nil {
			return nil
		}
		parts = append(parts, drivers.Part{Op: drivers.Op(head[0]), Mode: drivers.Mode(head[1]), Err: errorOf(head[2]), Path: path})
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
