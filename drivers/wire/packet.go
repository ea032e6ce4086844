package wire

import "encoding/binary"

// LengthSize is the size in bytes of the length that begins every packet.
const LengthSize = 4

// Begin appends space for a packet's length to b. The caller appends the payload and then
// calls [End] with the length that b had before.
func Begin(b []byte) []byte { return append(b, 0, 0, 0, 0) }

// End writes the length of the packet that begins at b[start:] and extends to the end of b.
func End(b []byte, start int) {
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-LengthSize))
}
