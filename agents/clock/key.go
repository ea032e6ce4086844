package clock

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
)

// A Key is the secret of one run, without which nobody can ask the coordinator for its time or answer in
// its place.
type Key [16]byte

// NewKey returns a random key.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) // it never fails
	return k
}

const (
	sealSize   = 16
	packetSize = frameSize + sealSize
)

// seal returns the packet of a frame: the frame and, after it, the first bytes of its HMAC-SHA256.
func (k Key) seal(f frame) []byte {
	b := f.encode()
	return append(b[:], k.mac(b[:])...)
}

// open returns the frame of a packet that has been sealed with the key.
func (k Key) open(packet []byte) (frame, error) {
	if len(packet) != packetSize || !hmac.Equal(packet[frameSize:], k.mac(packet[:frameSize])) {
		return frame{}, errFrame
	}
	return decode(packet[:frameSize])
}

func (k Key) mac(b []byte) []byte {
	h := hmac.New(sha256.New, k[:])
	h.Write(b)
	return h.Sum(nil)[:sealSize]
}
