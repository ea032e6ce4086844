package peers

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
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

const protocol = "stampede peer 1\n"

// What a connection is for.
const (
	messages byte = iota + 1
	snapshot
)

const nonceLength = 16

// A hello is what a greeting says.
type hello struct {
	from, to uint64
	members  uint32 // checksum of the members' IDs
	purpose  byte
	nonce    [nonceLength]byte
}

func (h *hello) append(b []byte) []byte {
	b = append(b, protocol...)
	b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, h.from), h.to)
	b = append(binary.BigEndian.AppendUint32(b, h.members), h.purpose)
	return append(b, h.nonce[:]...)
}

func (h *hello) decode(b []byte) error {
	rest, ok := bytes.CutPrefix(b, []byte(protocol))
	if !ok || len(rest) != 8+8+4+1+nonceLength {
		return errors.New("no member of this version")
	}
	h.from, h.to = binary.BigEndian.Uint64(rest), binary.BigEndian.Uint64(rest[8:])
	h.members, h.purpose = binary.BigEndian.Uint32(rest[16:]), rest[20]
	copy(h.nonce[:], rest[21:])
	return nil
}

func checksum(members []uint64) uint32 {
	members = slices.Sorted(slices.Values(members))
	var b []byte
	for _, id := range members {
		b = binary.BigEndian.AppendUint64(b, id)
	}
	return crc32.ChecksumIEEE(b)
}

var (
	errSecret  = errors.New("the other side does not know the secret of --peer-secret-file")
	errMembers = errors.New("the other side has other members in --peers")
)

// greet opens a connection to a member.
func (l *link) greet(h *hello, secret []byte) error {
	l.conn.SetDeadline(time.Now().Add(patience))
	rand.Read(h.nonce[:])
	first := h.append(nil)
	if err := l.send(greeting, first); err != nil {
		return err
	}
	answer, err := l.expect(greetingAnswer)
	if err != nil {
		return err
	}
	if len(answer) < nonceLength {
		return errors.New("short answer")
	}
	nonce := bytes.Clone(answer[:nonceLength])
	if (len(answer) > nonceLength) != (secret != nil) ||
		secret != nil && !hmac.Equal(answer[nonceLength:], digest(secret, "receiver", first, nonce)) {
		return errSecret
	}
	if secret != nil {
		if err := l.send(proof, digest(secret, "sender", first, nonce)); err != nil {
			return err
		}
		l.protect(secret, "sender", "receiver", first, nonce)
	}
	l.longest = longestFrame
	return l.conn.SetDeadline(time.Time{})
}

// welcome takes a connection from a member.
func (l *link) welcome(own uint64, members []uint64, secret []byte) (h hello, err error) {
	l.conn.SetDeadline(time.Now().Add(patience))
	first, err := l.expect(greeting)
	if err != nil {
		return h, err
	}
	first = bytes.Clone(first)
	if err := h.decode(first); err != nil {
		return h, err
	}
	switch {
	case h.members != checksum(members):
		return h, errMembers
	case h.to != own || h.from == own || !slices.Contains(members, h.from):
		return h, fmt.Errorf("the other side is member %d and looks for member %d, and this is member %d", h.from, h.to, own)
	}
	nonce := make([]byte, nonceLength)
	rand.Read(nonce)
	answer := nonce
	if secret != nil {
		answer = append(bytes.Clone(nonce), digest(secret, "receiver", first, nonce)...)
	}
	if err := l.send(greetingAnswer, answer); err != nil {
		return h, err
	}
	if secret != nil {
		proved, err := l.expect(proof)
		if err != nil {
			return h, err
		}
		if !hmac.Equal(proved, digest(secret, "sender", first, nonce)) {
			return h, errSecret
		}
		l.protect(secret, "receiver", "sender", first, nonce)
	}
	l.longest = longestFrame
	return h, l.conn.SetDeadline(time.Time{})
}

// protect gives frames checksums. Each direction has its own key.
func (l *link) protect(secret []byte, own, other string, first, nonce []byte) {
	l.sumOut = keyed(secret, "frames of the "+own, first, nonce)
	l.sumIn = keyed(secret, "frames of the "+other, first, nonce)
}

func (l *link) send(kind byte, payload []byte) error {
	if err := l.write(kind, payload); err != nil {
		return err
	}
	return l.flush()
}
