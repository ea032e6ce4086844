package logfile

import (
	"encoding/binary"
	"hash/crc32"
)

// The offsets of the fields in a batch's header, in bytes. The length field is that of the body, and
// the checksum covers everything behind it. The mark is the file's mark.
const (
	checksumAt = 4
	placeAt    = 8
	markAt     = 16

	// HeaderLength is the length of a batch's header in bytes.
	HeaderLength = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A Frame encodes and checks the batches of one file.
type Frame struct{ mark uint64 }

// BeginBatch appends the header of a batch. Frame.End completes it when the body is behind it.
func BeginBatch(b []byte, place int64) []byte {
	b = append(b, make([]byte, HeaderLength)...)
	binary.BigEndian.PutUint64(b[len(b)-HeaderLength+placeAt:], uint64(place))
	return b
}

// End completes the header of the batch b.
func (f Frame) End(b []byte) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-HeaderLength))
	binary.BigEndian.PutUint64(b[markAt:], f.mark)
	binary.BigEndian.PutUint32(b[checksumAt:], checksum(b))
}

// whole returns the body of the batch at the start of b, which must have the place. It returns
// false if there is no whole batch.
func (f Frame) whole(b []byte, place int64) (body []byte, ok bool) {
	if len(b) < HeaderLength || PlaceOf(b) != place || binary.BigEndian.Uint64(b[markAt:]) != f.mark {
		return nil, false
	}
	length := bodyLength(b)
	if length == 0 || length > int64(len(b)-HeaderLength) {
		return nil, false
	}
	b = b[:HeaderLength+length]
	return b[HeaderLength:], binary.BigEndian.Uint32(b[checksumAt:]) == checksum(b)
}

// anywhere reports whether the log contains a whole batch at any offset. The place of such a batch
// is at least next, and at most next plus the number of bytes before it: no step of the places takes
// less than a byte.
func (f Frame) anywhere(log []byte, next int64) bool {
	for skipped := int64(0); len(log) >= HeaderLength; skipped++ {
		if place := PlaceOf(log); place >= next && place <= next+skipped {
			if _, ok := f.whole(log, place); ok {
				return true
			}
		}
		log = log[1:]
	}
	return false
}

// PlaceOf returns the place of the batch b.
func PlaceOf(b []byte) int64 { return int64(binary.BigEndian.Uint64(b[placeAt:])) }

func bodyLength(b []byte) int64 { return int64(binary.BigEndian.Uint32(b)) }
func checksum(b []byte) uint32  { return crc32.Checksum(b[placeAt:], castagnoli) }

// SetPlace changes the place of the batch b.
func SetPlace(b []byte, place int64) { binary.BigEndian.PutUint64(b[placeAt:], uint64(place)) }
