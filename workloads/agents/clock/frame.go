package clock

import (
	"encoding/binary"
	"errors"
	"time"
)

// A frame is a request or its answer, in one packet. Both have the same size, so that a request with a
// forged address makes the coordinator send no more than it received.
//
//	bytes 0-3    "stcl"
//	byte  4      version, 1
//	byte  5      kind: 1 request, 2 answer
//	bytes 6-7    0
//	bytes 8-15   nonce of the request, in both
//	bytes 16-23  when the coordinator received the request, ns; 0 in a request
//	bytes 24-31  when the coordinator answered, ns; 0 in a request
//
// Integers are big-endian.
type frame struct {
	kind               kind
	nonce              uint64
	received, answered CoordinatorMoment
}

type kind byte

const (
	request kind = 1
	answer  kind = 2
)

const (
	frameSize = 32
	header    = "stcl\x01"
)

var errFrame = errors.New("not a frame of a clock exchange")

func (f frame) encode() [frameSize]byte {
	var b [frameSize]byte
	copy(b[:], header)
	b[5] = byte(f.kind)
	binary.BigEndian.PutUint64(b[8:], f.nonce)
	binary.BigEndian.PutUint64(b[16:], uint64(f.received.since))
	binary.BigEndian.PutUint64(b[24:], uint64(f.answered.since))
	return b
}

// decode accepts exactly what encode makes of a valid frame.
func decode(b []byte) (frame, error) {
	if len(b) != frameSize || string(b[:5]) != header || b[6] != 0 || b[7] != 0 {
		return frame{}, errFrame
	}
	f := frame{
		kind:     kind(b[5]),
		nonce:    binary.BigEndian.Uint64(b[8:]),
		received: CoordinatorMoment{time.Duration(binary.BigEndian.Uint64(b[16:]))},
		answered: CoordinatorMoment{time.Duration(binary.BigEndian.Uint64(b[24:]))},
	}
	switch {
	case f.kind == request && f.received.since == 0 && f.answered.since == 0:
		return f, nil
	case f.kind == answer && 0 <= f.received.since && f.received.since <= f.answered.since && f.answered.since <= longest:
		return f, nil
	}
	return frame{}, errFrame
}
