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
	"strings"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/replica"
	"github.com/stampede-bench/stampede/internal/printable"
)

// The kinds of frames.
const (
	greeting byte = iota + 1
	greetingAnswer
	proof
	raftMessage
	refused
	nothing // also the answer to a member that is not refused
	snapshotPart
	snapshotStored
	weakVote
)

const (
	sumLength = 16
	// longestGreeting limits the frames before the other side has proved who it is.
	longestGreeting = 512
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
	if err := l.fill(n); err != nil {
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

// step is the most that memory is ahead of what has arrived.
const step = 1 << 20

// fill reads n bytes into buf. It takes memory as they arrive, not as they are announced.
func (l *link) fill(n int) error {
	if cap(l.buf) > step {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	for len(l.buf) < n {
		have := len(l.buf)
		more := min(n-have, max(step, have))
		l.buf = slices.Grow(l.buf, more)[:have+more]
		if _, err := io.ReadFull(l.from, l.buf[have:]); err != nil {
			return err
		}
	}
	return nil
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

const protocol = "stampede peer 3\n"

// What a connection is for.
const (
	messages byte = iota + 1
	snapshot
)

const nonceLength = 16

// A hello is what a greeting says.
type hello struct {
	from, to uint64
	versions replica.Versions
	ensemble uint64 // the identity of the sender's ensemble, 0 if it has none yet
	members  uint32 // checksum of the members' IDs
	purpose  byte
	process  uint64 // a number of the sender's process
	nonce    [nonceLength]byte
}

func (h *hello) append(b []byte) []byte {
	b = append(b, protocol...)
	b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, h.from), h.to)
	b = append(b, h.versions.Oldest, h.versions.Newest, h.versions.InForce)
	b = binary.BigEndian.AppendUint64(b, h.ensemble)
	b = append(binary.BigEndian.AppendUint32(b, h.members), h.purpose)
	b = binary.BigEndian.AppendUint64(b, h.process)
	return append(b, h.nonce[:]...)
}

func (h *hello) decode(b []byte) error {
	rest, ok := bytes.CutPrefix(b, []byte(protocol))
	if !ok || len(rest) != 8+8+3+8+4+1+8+nonceLength {
		return errors.New("the other side is no member of this version of the protocol")
	}
	h.from, h.to = binary.BigEndian.Uint64(rest), binary.BigEndian.Uint64(rest[8:])
	h.versions = replica.Versions{Oldest: rest[16], Newest: rest[17], InForce: rest[18]}
	h.ensemble, h.members, h.purpose = binary.BigEndian.Uint64(rest[19:]), binary.BigEndian.Uint32(rest[27:]), rest[31]
	h.process = binary.BigEndian.Uint64(rest[32:])
	copy(h.nonce[:], rest[40:])
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

var errSecret = errors.New("the other side does not know the secret of --peer-secret-file")

// greet opens a connection to a member.
func (l *link) greet(h *hello, secret []byte) error {
	l.conn.SetDeadline(time.Now().Add(patience))
	rand.Read(h.nonce[:])
	first := h.append(nil)
	if err := l.send(greeting, first); err != nil {
		return err
	}
	answer, err := l.answer(greetingAnswer)
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
	if _, err := l.answer(nothing); err != nil {
		return err
	}
	l.longest = longestFrame
	return l.conn.SetDeadline(time.Time{})
}

var errSilent = errors.New("it closes the connection without an answer: --peers must name the port for members, not that for clients")

// answer returns the next frame of the greeting, which is of the kind unless this member is refused.
func (l *link) answer(want byte) ([]byte, error) {
	kind, payload, err := l.read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errSilent
	case err != nil:
		return nil, err
	case kind == refused:
		return nil, fmt.Errorf("it refuses this member: %s", printable.Text(strings.Join(strings.Fields(string(payload)), " ")))
	case kind != want:
		return nil, fmt.Errorf("frame of kind %d, want %d", kind, want)
	}
	return payload, nil
}

// welcome takes a connection from a member that accepts does not refuse. It tells the other side why it is refused,
// once that has proved that it knows the secret. proved reports whether it has.
func (l *link) welcome(secret []byte, accepts func(h *hello) error) (h hello, proved bool, err error) {
	l.conn.SetDeadline(time.Now().Add(patience))
	first, err := l.expect(greeting)
	if err != nil {
		return h, false, err
	}
	first = bytes.Clone(first)
	if err = h.decode(first); err != nil {
		return h, false, l.refuse(err)
	}
	nonce := make([]byte, nonceLength)
	rand.Read(nonce)
	answer := nonce
	if secret != nil {
		answer = append(bytes.Clone(nonce), digest(secret, "receiver", first, nonce)...)
	}
	if err := l.send(greetingAnswer, answer); err != nil {
		return h, false, err
	}
	if secret != nil {
		sum, err := l.expect(proof)
		if err != nil {
			return h, false, err
		}
		if !hmac.Equal(sum, digest(secret, "sender", first, nonce)) {
			return h, false, errSecret
		}
		l.protect(secret, "receiver", "sender", first, nonce)
	}
	if err := accepts(&h); err != nil {
		return h, true, l.refuse(err)
	}
	if err := l.send(nothing, nil); err != nil {
		return h, true, err
	}
	l.longest = longestFrame
	return h, true, l.conn.SetDeadline(time.Time{})
}

// refuse tells the other side why, and returns it.
func (l *link) refuse(why error) error {
	text := why.Error()
	return errors.Join(why, l.send(refused, []byte(text[:min(len(text), longestGreeting-sumLength-1)])))
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
