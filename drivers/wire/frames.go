package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

// Frames splits the bytes of a connection into packets. Its buffer grows only with the bytes
// that have arrived, not with the length that the other side claims.
type Frames struct {
	from  io.Reader
	limit int
	keep  int
	buf   []byte
	data  []byte // the part of buf that was read and not yet returned
	busy  bool   // the last read filled buf: there was probably more
}

// firstBuffer is the size in bytes of a connection's initial buffer.
const firstBuffer = 1 << 10

var errLength = errors.New("impossible packet length")

// NewFrames returns the Frames of a connection. A payload of more than limit bytes is an
// error. keep is the size in bytes of the largest buffer that is kept after a packet that
// needed a larger one.
func NewFrames(from io.Reader, limit, keep int) Frames {
	return Frames{from: from, limit: limit, keep: keep}
}

// Next waits for the next packet and returns its payload, which is valid until the next call.
func (f *Frames) Next() ([]byte, error) {
	if len(f.data) == 0 && len(f.buf) > f.keep {
		f.buf = nil
	}
	for {
		payload, err := f.cut()
		if payload != nil || err != nil {
			return payload, err
		}
		if err := f.fill(); err != nil {
			return nil, err
		}
	}
}

// Ready reports whether Next would return immediately.
func (f *Frames) Ready() bool {
	return len(f.data) >= LengthSize && len(f.data)-LengthSize >= f.length()
}

// Head waits for the first bytes of a connection, which may be a four-letter word instead of a
// length, and does not consume them.
func (f *Frames) Head() (string, error) {
	for len(f.data) < LengthSize {
		if err := f.fill(); err != nil {
			return "", err
		}
	}
	return string(f.data[:LengthSize]), nil
}

func (f *Frames) length() int { return int(int32(binary.BigEndian.Uint32(f.data))) }

// cut returns the payload of a packet that has arrived completely, or nil.
func (f *Frames) cut() ([]byte, error) {
	if len(f.data) < LengthSize {
		return nil, nil
	}
	n := f.length()
	if n < 0 || n > f.limit {
		return nil, errLength
	}
	if !f.Ready() {
		return nil, nil
	}
	payload := f.data[LengthSize:][:n:n]
	f.data = f.data[LengthSize+n:]
	return payload, nil
}

// fill reads from the connection once.
func (f *Frames) fill() error {
	switch {
	case f.buf == nil:
		f.buf = make([]byte, firstBuffer)
	case len(f.data) == len(f.buf) || f.busy && len(f.buf) < f.keep:
		f.buf = make([]byte, 2*len(f.buf))
	}
	have := copy(f.buf, f.data)
	n, err := f.from.Read(f.buf[have:])
	f.data, f.busy = f.buf[:have+n], have+n == len(f.buf)
	if n > 0 {
		return nil
	}
	return err
}
