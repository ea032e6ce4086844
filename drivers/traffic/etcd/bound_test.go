package etcd

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// gaps adds up what a decoder could not decode.
type gaps struct{ bytes int64 }

func (*gaps) Session(time.Time, traffic.Session) {}
func (*gaps) Message(time.Time, drivers.Message) {}
func (g *gaps) Gap(_ time.Time, bytes int64)     { g.bytes += bytes }
func (*gaps) Close(time.Time)                    {}

// unended returns the beginnings of calls that never end.
func unended(t *testing.T, n int) []byte {
	t.Helper()
	var out, block bytes.Buffer
	f, e := http2.NewFramer(&out, nil), hpack.NewEncoder(&block)
	for i := range n {
		block.Reset()
		for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", watchMethod}} {
			if err := e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(), EndHeaders: true}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestStreamsAreBounded opens streams that never end: at the first one beyond the limit the decoder gives the
// connection up and keeps nothing.
func TestStreamsAreBounded(t *testing.T) {
	var g gaps
	d := newDecoder(&g, new(budget))
	d.FromClient(time.Unix(1, 0), append([]byte(preface), unended(t, maxStreams)...))
	if len(d.streams) != maxStreams || g.bytes != 0 {
		t.Fatalf("%d streams are kept and %d bytes not decoded, want %d and 0", len(d.streams), g.bytes, maxStreams)
	}
	d = newDecoder(&g, new(budget))
	all := append([]byte(preface), unended(t, maxStreams+1)...)
	d.FromClient(time.Unix(1, 0), all)
	d.FromServer(time.Unix(1, 0), make([]byte, 7))
	if want := int64(len(all) + 7); len(d.streams) != 0 || g.bytes != want {
		t.Errorf("%d streams are kept and %d bytes not decoded, want none and %d", len(d.streams), g.bytes, want)
	}
}

// TestHeadersAreBounded sends headers that never end.
func TestHeadersAreBounded(t *testing.T) {
	var g gaps
	d := newDecoder(&g, new(budget))
	d.FromClient(time.Unix(1, 0), []byte(preface))
	frame := make([]byte, frameHeader+1<<20) // a HEADERS frame whose end of headers does not come
	frame[0], frame[3], frame[8] = 1<<4, byte(http2.FrameHeaders), 1
	for range 2*maxFrame/len(frame) + 2 {
		d.FromClient(time.Unix(1, 0), frame)
		if n := d.requests.buf.Len(); n > maxHeld {
			t.Fatalf("%d bytes are kept, want at most %d", n, maxHeld)
		}
		frame[3] = byte(http2.FrameContinuation)
	}
	if g.bytes == 0 || d.requests.buf.Len() != 0 {
		t.Errorf("%d bytes not decoded, %d kept; want some and none", g.bytes, d.requests.buf.Len())
	}
}

// halves returns the beginnings of calls, each with a message of which all but one byte has come.
func halves(t *testing.T, n, size int) []byte {
	t.Helper()
	out := bytes.NewBuffer(unended(t, n))
	f := http2.NewFramer(out, nil)
	text := make([]byte, messageHeader+size-1)
	binary.BigEndian.PutUint32(text[1:], uint32(size))
	for i := range n {
		if err := f.WriteData(uint32(2*i+1), false, text); err != nil {
			t.Fatal(err)
		}
	}
	return append([]byte(preface), out.Bytes()...)
}

// TestUnfinishedMessagesAreBounded has several connections with messages that do not end. They keep no more
// together than the budget, and nothing when they have ended.
func TestUnfinishedMessagesAreBounded(t *testing.T) {
	var g gaps
	shared := new(budget)
	const size = 1 << 20
	half := halves(t, 20, size)
	var all []*decoder
	for range maxUnfinished/(20*size) + 3 {
		d := newDecoder(&g, shared)
		d.FromClient(time.Unix(1, 0), half)
		if n := shared.Load(); n > maxUnfinished {
			t.Fatalf("%d bytes are kept, want at most %d", n, maxUnfinished)
		}
		all = append(all, d)
	}
	if g.bytes != 3*int64(len(half)) {
		t.Errorf("%d bytes were not decoded, want those of 3 connections, %d", g.bytes, 3*len(half))
	}
	honest := newDecoder(&g, shared)
	before := g.bytes
	honest.FromClient(time.Unix(1, 0), append([]byte(preface), unended(t, 1)...))
	if g.bytes != before || len(honest.streams) != 1 {
		t.Error("a connection that keeps little is given up")
	}
	for _, d := range append(all, honest) {
		d.End(time.Unix(2, 0))
	}
	if n := shared.Load(); n != 0 {
		t.Errorf("%d bytes of the budget are taken by connections that have ended", n)
	}
}
