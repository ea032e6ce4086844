package peers

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"slices"
	"time"
)

// The kinds of frames.
const (
	greeting byte = iota + 1
	greetingAnswer
	proof
	raftMessage
	touch
	nothing
	snapshotPart
	snapshotStored
	weakVote
)

const (
	sumLength = 16
	// longestGreeting limits the frames before the other side has proved who it is.
	longestGreeting = 256
	// longestFrame limits all others. A message holds at most one transaction beyond a mebibyte.
	longestFrame = 1<<30 + 64<<20
	// silence is the time after which a connection without a frame is broken.
	silence = 10 * time.Second
	// beat is the interval of frames on an idle connection.
	beat = time.Second
	// patience limits the greeting, and the write of what waits.
	patience = 5 * time.Second
)

// A link is one side of a connection between members.
type link struct {
	conn    net.Conn
	from    *bufio.Reader
	to      *bufio.Writer
	longest int
	// The checksums of both directions, nil without a secret, and the number of frames so far.
	sumIn, sumOut hash.Hash
	in, out       uint64
	buf           []byte
}

func newLink(c net.Conn) *link {
	return &link{conn: c, from: bufio.NewReaderSize(c, 64<<10), to: bufio.NewWriterSize(c, 64<<10), longest: longestGreeting}
}

var errFrame = errors.New("frame with a wrong checksum")

// read returns the next frame. The payload is valid until the next call.
func (l *link) read() (kind byte, payload []byte, err error) {
	var header [4]byte
	if _, err := io.ReadFull(l.from, header[:]); err != nil {
		return 0, nil, err
	}
	n, least := int(binary.BigEndian.Uint32(header[:])), 1
	if l.sumIn != nil {
		least += sumLength
	}
	if n < least || n > l.longest {
		return 0, nil, fmt.Errorf("frame of %d bytes", n)
	}
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	l.buf = slices.Grow(l.buf[:0], n)[:n]
	if _, err := io.ReadFull(l.from, l.buf); err != nil {
		return 0, nil, err
	}
	b := l.buf
	if l.sumIn != nil {
		b = b[:n-sumLength]
		if !hmac.Equal(sumOf(l.sumIn, l.in, b[0], b[1:]), l.buf[n-sumLength:]) {
			return 0, nil, errFrame
		}
		l.in++
	}
	return b[0], b[1:], nil
}

// write adds a frame to those that flush sends.
func (l *link) write(kind byte, payload []byte) error {
	n := 1 + len(payload)
	if l.sumOut != nil {
		n += sumLength
	}
	header := append(binary.BigEndian.AppendUint32(nil, uint32(n)), kind)
	l.to.Write(header)
	_, err := l.to.Write(payload)
	if l.sumOut != nil {
		_, err = l.to.Write(sumOf(l.sumOut, l.out, kind, payload))
		l.out++
	}
	return err
}

func (l *link) flush() error { return l.to.Flush() }

// expect returns the next frame, which must be of the kind.
func (l *link) expect(kind byte) ([]byte, error) {
	got, payload, err := l.read()
	if err == nil && got != kind {
		err = fmt.Errorf("frame of kind %d, want %d", got, kind)
	}
	return payload, err
}

func sumOf(h hash.Hash, number uint64, kind byte, payload []byte) []byte {
	h.Reset()
	h.Write(append(binary.BigEndian.AppendUint64(nil, number), kind))
	h.Write(payload)
	return h.Sum(nil)[:sumLength]
}

// keyed returns a checksum with a key that the secret, a purpose and values determine.
func keyed(secret []byte, purpose string, values ...[]byte) hash.Hash {
	return hmac.New(sha256.New, digest(secret, purpose, values...))
}

func digest(secret []byte, purpose string, values ...[]byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(purpose))
	for _, v := range values {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(v))))
		h.Write(v)
	}
	return h.Sum(nil)
}
