package native

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// Packets of all sizes come out whole, however they arrive.
func TestFramesAreCutWhereverTheyBreak(t *testing.T) {
	var stream []byte
	var want []string
	for _, size := range []int{0, 1, 8, firstBuffer - 5, firstBuffer, 3 * firstBuffer, 2 * idleBuffer, 7} {
		want = append(want, strings.Repeat("x", size))
		stream = append(stream, framed([]byte(want[len(want)-1]))...)
	}
	for name, from := range map[string]io.Reader{
		"at once":      bytes.NewReader(stream),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
		"in halves":    iotest.HalfReader(bytes.NewReader(stream)),
	} {
		f := frames{from: from}
		for i, w := range want {
			got, err := f.next()
			if string(got) != w || err != nil {
				t.Fatalf("%s: packet %d has %d bytes, %v; want %d", name, i, len(got), err, len(w))
			}
		}
		if _, err := f.next(); err != io.EOF {
			t.Errorf("%s: then %v, want the end", name, err)
		}
		if len(f.buf) > idleBuffer {
			t.Errorf("%s: kept a buffer of %d bytes", name, len(f.buf))
		}
	}
}

// What a client only claims to send takes no memory.
func TestFramesDoNotTrustTheLength(t *testing.T) {
	f := frames{from: strings.NewReader("\x00\x0f\xff\xffabc")}
	if _, err := f.next(); err != io.EOF {
		t.Errorf("got %v, want the end", err)
	}
	if len(f.buf) != firstBuffer {
		t.Errorf("a buffer of %d bytes for a packet of 3", len(f.buf))
	}
}

// FuzzSession sends a session whatever packets it likes: the server survives,
// and another session is served as before.
func FuzzSession(f *testing.F) {
	for _, body := range []record{
		wire.PathWatch{Path: "/a", Watch: true}, open("/a", 3), wire.PathVersion{Path: "/a", Version: -1},
		wire.SetWatchesRequest{Data: []string{"/a"}}, wire.MultiEnd(),
	} {
		for _, op := range []int32{wire.OpExists, wire.OpCreate, wire.OpDelete, wire.OpSetWatches, wire.OpMulti} {
			f.Add(request(1, op, body))
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t)
			bystander, fuzzed := openRaw(t, s), openRaw(t, s)
			go io.Copy(io.Discard, fuzzed)
			fuzzed.Write(stream)
			synctest.Wait()
			bystander.wantReply(bystander.ask(1, wire.OpExists, wire.PathWatch{Path: "/"}), 1, wire.OK)
			fuzzed.Close()
		})
	})
}
