package journal

import (
	"encoding/binary"
	"hash/crc32"
)

// Where the fields of a batch's header are, in bytes. The length is that of the
// body, the checksum is of everything behind it, and the place is in a log the
// zxid of the batch's first transaction, in a snapshot the batch's number. The
// mark is that of the file. Version 1 has none.
const (
	checksumAt = 4
	placeAt    = 8
	markAt     = 16

	batchHeaderOne = 16
	batchHeader    = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A frame reads and completes the batches of one file.
type frame struct {
	header int // length in bytes: batchHeader, or batchHeaderOne and no mark
	mark   uint64
}

// beginBatch appends the header of a batch, which the file's frame completes.
func beginBatch(b []byte, place int64) []byte {
	b = append(b, make([]byte, batchHeader)...)
	binary.BigEndian.PutUint64(b[len(b)-batchHeader+placeAt:], uint64(place))
	return b
}

// end completes the batch that b is.
func (f frame) end(b []byte) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-batchHeader))
	binary.BigEndian.PutUint64(b[markAt:], f.mark)
	binary.BigEndian.PutUint32(b[checksumAt:], checksum(b))
}

// whole returns the body of the batch that b begins with and that has the place,
// or false if it does not begin with one.
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

// anywhere tells whether there is a whole batch anywhere in the log that
// continues with the zxid next or a later one, no later than if every byte
// before it had been a transaction.
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
