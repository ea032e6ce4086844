package watchstream

import (
	"bytes"
	"encoding/binary"
	"math"

	"golang.org/x/net/http2"
)

// A way is one direction of a connection, to its receiver.
type way struct {
	out     *bytes.Buffer // whole frames that pass
	framer  *http2.Framer // writes to out
	room    room          // of the connection
	initial int64         // room of a new stream
	streams map[uint32]*room
	stalled []frame // that wait for room, in their order
}

// A room is how much data the receiver takes.
type room struct {
	used int64 // bytes more than the receiver has returned: what it grants at first is not in it
	debt int64 // bytes that the sender has not sent: less than 0 if it has sent more than has passed
}

const initialRoom = 1<<16 - 1 // of connections and of streams (RFC 9113, section 6.9.2)

func newWay() way {
	w := way{out: new(bytes.Buffer), initial: initialRoom, streams: map[uint32]*room{}}
	w.framer = http2.NewFramer(w.out, nil)
	return w
}

// free returns how much data of a stream the receiver takes now.
func (w *way) free(stream uint32) int64 {
	left := initialRoom - w.room.used
	if s := w.streams[stream]; s != nil {
		left = min(left, w.initial-s.used)
	}
	return left
}

// owes reports whether the sender may send more than the receiver takes.
func (w *way) owes(stream uint32) bool {
	s := w.streams[stream]
	return w.room.debt > 0 || s != nil && s.debt > 0
}

// send passes a frame on when there is room for it. Extra is how many bytes of data it has more than the sender has sent.
// While one waits, all wait, so that their order remains: a receiver that has no room has much to read.
func (w *way) send(f frame, extra int64) {
	if f.kind() == http2.FrameData {
		w.owe(f.stream(), extra)
	}
	w.stalled = append(w.stalled, f)
	w.flow()
}

// owe records bytes that the sender has not sent.
func (w *way) owe(stream uint32, bytes int64) {
	w.room.debt += bytes
	if s := w.streams[stream]; s != nil {
		s.debt += bytes
	}
}

// flow passes on what there is room for. Data of a sender that has no debt fits, or it is its own fault.
func (w *way) flow() {
	for len(w.stalled) > 0 {
		f := w.stalled[0]
		size, free := int64(len(f.payload())), w.free(f.stream())
		switch {
		case f.kind() != http2.FrameData || size <= free || !w.owes(f.stream()):
			w.stalled = w.stalled[1:]
			w.put(f)
		case free > 0 && !f.has(http2.FlagDataPadded):
			w.stalled[0] = dataFrame(f.stream(), f.payload()[free:], f.has(http2.FlagDataEndStream))
			w.put(dataFrame(f.stream(), f.payload()[:free], false))
		default:
			return
		}
	}
	w.stalled = nil
}

func (w *way) put(f frame) {
	if f.kind() == http2.FrameData {
		w.room.used += int64(len(f.payload()))
		if s := w.streams[f.stream()]; s != nil {
			s.used += int64(len(f.payload()))
		}
	}
	w.out.Write(f)
}

// dataFrame returns a frame with data.
func dataFrame(stream uint32, data []byte, ends bool) frame {
	var b bytes.Buffer
	http2.NewFramer(&b, nil).WriteData(stream, ends, data) // fails for no stream only, and a buffer takes everything
	return b.Bytes()
}

// returned takes the room that the receiver returns, and says how much of it the sender may have.
func (w *way) returned(stream uint32, bytes uint32) uint32 {
	r := &w.room
	if stream != 0 {
		if r = w.streams[stream]; r == nil {
			return bytes
		}
	}
	r.used -= int64(bytes)
	pass := min(max(0, int64(bytes)-r.debt), math.MaxInt32)
	r.debt -= int64(bytes) - pass
	w.flow()
	return uint32(pass)
}

// settings takes the settings of the receiver.
func (w *way) settings(f frame) {
	if f.has(http2.FlagSettingsAck) {
		return
	}
	for p := f.payload(); len(p) >= 6; p = p[6:] {
		if http2.SettingID(binary.BigEndian.Uint16(p)) == http2.SettingInitialWindowSize {
			w.initial = int64(binary.BigEndian.Uint32(p[2:]))
		}
	}
	w.flow()
}
