package wire

import "encoding/binary"

// A Framer finds the beginnings of packets in one direction of a connection. The zero Framer
// expects a packet at the first byte.
type Framer struct {
	length [LengthSize]byte
	have   int // bytes of length
	left   int // bytes of the current packet that are still to come
	lost   bool
}

// Advance takes the next bytes and returns the offset of the first packet that begins in them, or
// -1 if none does, or if the bytes are no packets.
func (f *Framer) Advance(p []byte) int {
	first := -1
	for at := 0; at < len(p) && !f.lost; {
		if f.left > 0 {
			n := min(f.left, len(p)-at)
			f.left -= n
			at += n
			continue
		}
		if f.have == 0 && first < 0 {
			first = at
		}
		n := copy(f.length[f.have:], p[at:])
		f.have += n
		at += n
		if f.have == LengthSize {
			size := int32(binary.BigEndian.Uint32(f.length[:]))
			f.left, f.have, f.lost = int(size), 0, size < 0
		}
	}
	if f.lost {
		return -1
	}
	return first
}
