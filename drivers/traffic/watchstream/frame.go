package watchstream

import (
	"encoding/binary"

	"golang.org/x/net/http2"
)

// A frame is one of HTTP/2 (RFC 9113, section 4.1), or headers with those that continue them.
type frame []byte

const headSize = 9 // of a frame, in bytes

func (f frame) kind() http2.FrameType  { return http2.FrameType(f[3]) }
func (f frame) has(x http2.Flags) bool { return http2.Flags(f[4]).Has(x) }
func (f frame) stream() uint32         { return number(f[5:]) }
func (f frame) payload() []byte        { return f[headSize:] }

// number reads the 31 bits of a stream or of a window.
func number(p []byte) uint32 { return binary.BigEndian.Uint32(p) & (1<<31 - 1) }

// data returns the data of a DATA frame without its padding.
func (f frame) data() []byte {
	p := f.payload()
	if !f.has(http2.FlagDataPadded) || len(p) == 0 {
		return p
	}
	return p[1:max(1, len(p)-int(p[0]))]
}

// split returns the first frame of p, nil if it is not complete, and what follows it. No frame may stand between
// headers and those that continue them.
func split(p []byte) (first frame, rest []byte) {
	size := 0
	for {
		head := p[size:]
		if len(head) < headSize {
			return nil, p
		}
		size += headSize + int(head[0])<<16 + int(head[1])<<8 + int(head[2])
		if size > len(p) {
			return nil, p
		}
		f := frame(head)
		headers := f.kind() == http2.FrameHeaders || f.kind() == http2.FrameContinuation || f.kind() == http2.FramePushPromise
		if !headers || f.has(http2.FlagHeadersEndHeaders) {
			return p[:size:size], p[size:]
		}
	}
}

// messages finds the messages of gRPC in one direction of a stream: a byte that says whether it is compressed, a length
// of four bytes, and the content.
type messages struct {
	most   int    // size of a message that is read
	part   []byte // of a message that is not complete
	passed int    // bytes of it that have been passed on
	skip   int    // bytes of a longer message that are still to come
}

const messageHead = 5 // bytes

// idle reports whether no message is in progress.
func (m *messages) idle() bool { return len(m.part) == 0 && m.skip == 0 }

// take calls each with what has come of a message and was not passed on, and with its content if that is complete and
// can be read. What is left is the beginning of a message.
func (m *messages) take(p []byte, each func(raw, content []byte)) {
	for len(p) > 0 {
		if n := min(m.skip, len(p)); n > 0 {
			each(p[:n], nil)
			m.skip, p = m.skip-n, p[n:]
			continue
		}
		n := min(m.wants(), len(p))
		m.part, p = append(m.part, p[:n]...), p[n:]
		size := m.size()
		switch {
		case size < 0:
		case size > m.most || m.part[0] != 0:
			m.skip = size - (len(m.part) - messageHead)
			m.emit(each, nil)
		case len(m.part) == messageHead+size:
			m.emit(each, m.part[messageHead:])
		}
	}
}

// size returns the size of the content, -1 if that is not known yet.
func (m *messages) size() int {
	if len(m.part) < messageHead {
		return -1
	}
	return int(binary.BigEndian.Uint32(m.part[1:]))
}

// wants returns how many bytes are needed next: of the head, then of the content.
func (m *messages) wants() int {
	if n := messageHead - len(m.part); n > 0 {
		return n
	}
	return messageHead + m.size() - len(m.part)
}

func (m *messages) emit(each func(raw, content []byte), content []byte) {
	raw := m.part[m.passed:]
	m.part, m.passed = nil, 0
	each(raw, content)
}
