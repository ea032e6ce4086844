package journal

import (
	"encoding/binary"
	"hash/crc32"
)

// A batch is its header and its body. The header is the length of the body in
// bytes, the checksum of all behind it, and the batch's place: in a log the zxid
// of its first transaction, in a snapshot its number.
const (
	checksumAt  = 4
	placeAt     = 8
	batchHeader = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func beginBatch(b []byte, place int64) []byte {
	b = append(b, make([]byte, placeAt)...)
	return binary.BigEndian.AppendUint64(b, uint64(place))
}

func endBatch(b []byte) {
	binary.BigEndian.PutUint32(b, uint32(len(b)-batchHeader))
	binary.BigEndian.PutUint32(b[checksumAt:], checksum(b))
}

// wholeBatch returns the body of the batch that b begins with and that has the
// place, or false if it does not begin with one.
func wholeBatch(b []byte, place int64) (body []byte, ok bool) {
	if len(b) < batchHeader || placeOf(b) != place {
		return nil, false
	}
	length := bodyLength(b)
	if length == 0 || length > int64(len(b)-batchHeader) {
		return nil, false
	}
	b = b[:batchHeader+length]
	return b[batchHeader:], binary.BigEndian.Uint32(b[checksumAt:]) == checksum(b)
}

// hasBatch tells whether there is a whole batch anywhere in the log that
// continues with the zxid next or a later one, no later than if every byte
// before it had been a transaction.
func hasBatch(log []byte, next int64) bool {
	for skipped := int64(0); len(log) >= batchHeader; skipped++ {
		if place := placeOf(log); place >= next && place <= next+skipped {
			if _, ok := wholeBatch(log, place); ok {
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
