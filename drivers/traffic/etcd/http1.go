package etcd

import (
	"bufio"
	"bytes"
	"errors"
	"strconv"
)

// A splitter splits one direction of a connection into messages of HTTP/1.1 (RFC 9112), from pieces of any
// size. It keeps nothing of their bodies.
type splitter struct {
	// start takes the head of a message and returns how its body is delimited.
	start func(head *bufio.Reader) (delimiter, error)
	body  func(p []byte) // takes the next bytes of the body
	end   func() error   // ends the message

	part     part
	lines    []byte // what has come of a head, a trailer or the line of a chunk
	line     int    // where the last one begins
	left     int64  // bytes left of the body or of the chunk
	chunked  bool
	size     int64 // bytes of the message so far
	reported int64 // of them, those that are in the report: decoded, or a gap
}

// A delimiter is what ends a body: its length, a chunk of no bytes, or the end of the connection if length
// is -1.
type delimiter struct {
	chunked bool
	length  int64
	interim bool // there is no body, and the head of the same message follows
}

// A part is what comes next of a message.
type part uint8

const (
	head part = iota
	content
	toTheEnd // content that ends with the connection
	chunkSize
	chunkEnd
	trailer
)

// maxHead is the length of the longest head, trailer, or line of a chunk. Web servers accept as much or less.
const maxHead = 64 << 10

var errMalformed = errors.New("chunk is malformed")

// take takes the next bytes. After an error there is no more to be taken.
func (s *splitter) take(p []byte) error {
	for len(p) > 0 {
		n, err := s.next(p)
		p = p[n:]
		if err != nil {
			s.size += int64(len(p))
			return err
		}
	}
	return nil
}

// next takes the next part of a message, or what there is of it, and returns its length.
func (s *splitter) next(p []byte) (n int, err error) {
	n = len(p)
	if s.part == content || s.part == toTheEnd {
		if s.part == content {
			n = int(min(int64(n), s.left))
			s.left -= int64(n)
		}
		s.size += int64(n)
		s.body(p[:n])
		switch {
		case s.part == toTheEnd || s.left > 0:
			return n, nil
		case s.chunked:
			s.part = chunkEnd
			return n, nil
		}
		return n, s.finish()
	}
	end := bytes.IndexByte(p, '\n')
	if end >= 0 {
		n = end + 1
	}
	s.size += int64(n)
	s.lines = append(s.lines, p[:n]...)
	if len(s.lines) > maxHead {
		return n, errTooLarge
	}
	if end < 0 {
		return n, nil
	}
	return n, s.endLine()
}

// endLine takes a line that is complete.
func (s *splitter) endLine() error {
	line := bytes.TrimSuffix(s.lines[s.line:len(s.lines)-1], []byte("\r"))
	s.line = len(s.lines)
	switch {
	case s.part == chunkSize:
		return s.beginChunk(line)
	case s.part == chunkEnd && len(line) == 0:
		s.part = chunkSize
		s.clear()
	case s.part == chunkEnd:
		return errMalformed
	case len(line) > 0: // of a head or a trailer
	case s.part == trailer:
		return s.finish()
	default:
		return s.begin()
	}
	return nil
}

// begin takes a whole head.
func (s *splitter) begin() error {
	d, err := s.start(bufio.NewReaderSize(bytes.NewReader(s.lines), len(s.lines)))
	s.clear()
	s.chunked, s.left = d.chunked, d.length
	switch {
	case err != nil || d.interim:
		return err
	case d.chunked:
		s.part = chunkSize
	case d.length < 0:
		s.part = toTheEnd
	case d.length > 0:
		s.part = content
	default:
		return s.finish()
	}
	return nil
}

// beginChunk takes the line with the size of a chunk. Extensions mean nothing.
func (s *splitter) beginChunk(line []byte) error {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	size, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 63)
	s.clear()
	s.left = int64(size)
	switch {
	case err != nil:
		return errMalformed
	case size == 0:
		s.part = trailer
	default:
		s.part = content
	}
	return nil
}

// finish ends the message.
func (s *splitter) finish() error {
	s.clear()
	s.part = head
	err := s.end()
	s.size, s.reported = 0, 0
	return err
}

// clear forgets the lines.
func (s *splitter) clear() {
	s.lines, s.line = s.lines[:0], 0
	if cap(s.lines) > keptCapacity {
		s.lines = nil
	}
}
