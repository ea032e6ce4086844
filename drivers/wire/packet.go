package wire

import "encoding/binary"

// LengthSize is the length in bytes of the number that begins every packet.
const LengthSize = 4

// Begin appends room for a packet's length to b. What is appended after it is
// the payload, until [End] is called with the length that b had before.
func Begin(b []byte) []byte { return append(b, 0, 0, 0, 0) }

// End writes the length of the packet that begins at b[start:] and ends with b.
func End(b []byte, start int) {
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-LengthSize))
}
