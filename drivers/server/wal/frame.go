package wal

import (
	"encoding/binary"
	"hash/crc32"
)

// The offsets of the fields in a batch's header, in bytes, and the lengths of the header. The
// length field is that of the body, and the checksum covers everything behind it. The place is the
// zxid of the batch's first transaction in a log, and the batch's number in a snapshot. The mark is
// the file's mark; version 1 has none.
const (
	checksumAt = 4
	placeAt    = 8
	markAt     = 16

	batchHeaderOne = 16
	batchHeader    = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frame encodes and checks the batches of one file.
type frame struct {
	header int // length in bytes: batchHeader, or batchHeaderOne without a mark
	mark   uint64
}

// beginBatch appends the header of a batch. frame.end completes it.
func beginBatch(b []byte, place int64) []byte {
	b = append(b, make([]byte, batchHeader)...)
	binary.BigEndian.PutUint64(b[len(b)-batchHeader+placeAt:], uint64(place))
	return b
}

// end completes the header of the batch b.
func (f frame) end(b []byte) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-batchHeader))
	binary.BigEndian.PutUint64(b[markAt:], f.mark)
	binary.BigEndian.PutUint32(b[checksumAt:], checksum(b))
}

// whole returns the body of the batch at the start of b, which must have the place. It returns
// false if there is no whole batch.
func (f frame) whole(b []byte, place int64) (body []byte, ok bool) {
	if len(b) < f.header || placeOf(b) != place || !f.isMarked(b) {
		return nil, false
	}
	length := bodyLength(b)
	if length == 0 || length > int64(len(b)-f.header) {
		return nil, false
	}
	b = b[:int64(f.header)+length]
	return b[f.header:], binary.BigEndian.Uint32(b[checksumAt:]) == checksum(b)
}

func (f frame) isMarked(b []byte) bool {
	return f.header == batchHeaderOne || binary.BigEndian.Uint64(b[markAt:]) == f.mark
}

// anywhere reports whether the log contains a whole batch at any offset. The place of such a batch
// is at least the zxid next, and at most next plus the number of bytes before it: no transaction
// takes less than a byte.
func (f frame) anywhere(log []byte, next int64) bool {
	for skipped := int64(0); len(log) >= f.header; skipped++ {
		if place := placeOf(log); place >= next && place <= next+skipped {
			if _, ok := f.whole(log, place); ok {
				return true
			}
		}
		log = log[1:]
	}
	return false
}

func bodyLength(b []byte) int64 { return int64(binary.BigEndian.Uint32(b)) }
func placeOf(b []byte) int64    { return int64(binary.BigEndian.Uint64(b[placeAt:])) }
func checksum(b []byte) uint32  { return crc32.Checksum(b[placeAt:], castagnoli) }
