package native

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// frames cuts what arrives on a connection into packets. Its buffer grows only
// with what has arrived, not with what a client claims will.
type frames struct {
	from io.Reader
	buf  []byte
	data []byte // the part of buf that was read and not yet taken
	busy bool   // the last read filled buf: there was probably more
}

const (
	firstBuffer = 1 << 10  // of a connection, in bytes
	idleBuffer  = 64 << 10 // the largest that is kept after a packet that needed more
)

var errLength = errors.New("impossible packet length")

// next waits for the next packet and returns its payload, which is valid until
// the next call.
func (f *frames) next() ([]byte, error) {
	if len(f.data) == 0 && len(f.buf) > idleBuffer {
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

// ready tells whether next would return at once.
func (f *frames) ready() bool {
	return len(f.data) >= wire.LengthSize && len(f.data)-wire.LengthSize >= f.length()
}

// head waits for the first bytes of a connection, where a word may stand
// instead of a length, and leaves them in place.
func (f *frames) head() (string, error) {
	for len(f.data) < wire.LengthSize {
		if err := f.fill(); err != nil {
			return "", err
		}
	}
	return string(f.data[:wire.LengthSize]), nil
}

func (f *frames) length() int { return int(int32(binary.BigEndian.Uint32(f.data))) }

// cut returns the payload of the packet that has arrived, or nil.
func (f *frames) cut() ([]byte, error) {
	if len(f.data) < wire.LengthSize {
		return nil, nil
	}
	n := f.length()
	if n < 0 || n > wire.MaxPacket {
		return nil, errLength
	}
	if !f.ready() {
		return nil, nil
	}
	payload := f.data[wire.LengthSize:][:n:n]
	f.data = f.data[wire.LengthSize+n:]
	return payload, nil
}

// fill reads once.
func (f *frames) fill() error {
	switch {
	case f.buf == nil:
		f.buf = make([]byte, firstBuffer)
	case len(f.data) == len(f.buf) || f.busy && len(f.buf) < idleBuffer:
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
