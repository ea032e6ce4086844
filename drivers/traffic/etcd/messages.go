package etcd

import "encoding/binary"

// messages puts the messages of one direction of a stream together.
type messages struct {
	buf  []byte
	skip int // bytes of a large message that are still to be skipped
}

const (
	messageHeader = 5       // compressed or not, and a length of four bytes
	maxMessage    = 4 << 20 // larger messages are not decoded
)

// take calls message with every message that ends in p; whole is false for one that is
// compressed or too large, which has no bytes then.
func (b *messages) take(p []byte, message func(payload []byte, whole bool)) {
	for len(p) > 0 {
		if n := min(b.skip, len(p)); n > 0 {
			b.skip -= n
			p = p[n:]
			continue
		}
		want := messageHeader
		if len(b.buf) >= messageHeader {
			want += int(binary.BigEndian.Uint32(b.buf[1:]))
		}
		n := min(want-len(b.buf), len(p))
		b.buf = append(b.buf, p[:n]...)
		p = p[n:]
		b.finish(message)
	}
}

// finish passes on what has become complete.
func (b *messages) finish(message func([]byte, bool)) {
	if len(b.buf) < messageHeader {
		return
	}
	size := int(binary.BigEndian.Uint32(b.buf[1:]))
	switch {
	case size > maxMessage:
		b.skip = size
		message(nil, false)
	case len(b.buf) < messageHeader+size:
		return
	case b.buf[0] != 0:
		message(nil, false)
	default:
		message(b.buf[messageHeader:], true)
	}
	b.buf = b.buf[:0]
	if cap(b.buf) > keptCapacity {
		b.buf = nil
	}
}
