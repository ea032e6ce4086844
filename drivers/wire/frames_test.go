package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// keep is the largest buffer that is kept.
const keep = 64 << 10

func framed(payload string) []byte {
	b := append(Begin(nil), payload...)
	End(b, 0)
	return b
}

// Packets of all sizes are returned whole, however they arrive.
func TestFramesAreCutWhereverTheyBreak(t *testing.T) {
	var stream []byte
	var want []string
	for _, size := range []int{0, 1, 8, firstBuffer - 5, firstBuffer, 3 * firstBuffer, 2 * keep, 7} {
		want = append(want, strings.Repeat("x", size))
		stream = append(stream, framed(want[len(want)-1])...)
	}
	for name, from := range map[string]io.Reader{
		"at once":      bytes.NewReader(stream),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
		"in halves":    iotest.HalfReader(bytes.NewReader(stream)),
	} {
		f := NewFrames(from, MaxPacket, keep)
		for i, w := range want {
			got, err := f.Next()
			if string(got) != w || err != nil {
				t.Fatalf("%s: packet %d has %d bytes, %v; want %d", name, i, len(got), err, len(w))
			}
		}
		if _, err := f.Next(); err != io.EOF {
			t.Errorf("%s: then %v, want the end", name, err)
		}
		if len(f.buf) > keep {
			t.Errorf("%s: kept a buffer of %d bytes", name, len(f.buf))
		}
	}
}

// A claimed length allocates no memory until the bytes arrive.
func TestFramesDoNotTrustTheLength(t *testing.T) {
	f := NewFrames(strings.NewReader("\x00\x0f\xff\xffabc"), MaxPacket, keep)
	if _, err := f.Next(); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
	if len(f.buf) != firstBuffer {
		t.Errorf("a buffer of %d bytes for a packet of 3", len(f.buf))
	}
}

// Impossible lengths end the connection.
func TestFramesRefuseImpossibleLengths(t *testing.T) {
	for _, length := range []string{"\xff\xff\xff\xff", "\x80\x00\x00\x00", "\x00\x00\x00\x05"} {
		f := NewFrames(strings.NewReader(length+"12345"), 4, keep)
		if _, err := f.Next(); err != errLength {
			t.Errorf("length %x: %v, want %v", length, err, errLength)
		}
	}
}
