package peers

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"time"
)

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
