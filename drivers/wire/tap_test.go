package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire/captured"
)

// script is the client's end of a connection: it reads from in and writes to out.
type script struct {
	net.Conn // nil: nothing else is called
	in       io.Reader
	out      bytes.Buffer
	closed   int
}

func (s *script) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *script) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s *script) Close() error                { s.closed++; return nil }

// seen is a message with a path that may be kept.
type seen struct {
	drivers.Message
	Path string
}

type witness struct{ messages []seen }

func (w *witness) Message(m drivers.Message) {
	s := seen{Message: m, Path: string(m.Path)}
	s.Message.Path, s.Parts = nil, slices.Clone(m.Parts)
	for i := range s.Parts {
		s.Parts[i].Path = bytes.Clone(s.Parts[i].Path)
	}
	w.messages = append(w.messages, s)
}

// exchange is one packet and the message that the probe must get for it.
type exchange struct {
	name    string
	packets string // hex; spaces are for readability
	want    seen
}

func bytesOf(tb testing.TB, packets []exchange) (all []byte) {
	tb.Helper()
	for _, e := range packets {
		b, err := hex.DecodeString(strings.Join(strings.Fields(e.packets), ""))
		if err != nil {
			tb.Fatalf("%s: %v", e.name, err)
		}
		all = append(all, b...)
	}
	return all
}

func wanted(packets []exchange) (all []seen) {
	for _, e := range packets {
		all = append(all, e.want)
	}
	return all
}

func request(op drivers.Op, size int, path string) seen {
	return seen{drivers.Message{Kind: drivers.Request, Op: op, Size: size}, path}
}

func watched(s seen) seen {
	s.Watch = true
	return s
}

func created(s seen, mode drivers.Mode) seen {
	s.Mode = mode
	return s
}

// requests are packets as go-zookeeper sends them.
var requests = []exchange{
	{"connect", "0000002c 00000000 0000000000000000 00002710 0000000000000000 00000010 00000000000000000000000000000000",
		request(drivers.OpOpen, 48, "")},
	{"create, sequential and ephemeral", "00000032 00000001 00000001 00000002 2f61 00000001 78" +
		"00000001 0000001f 00000005 776f726c64 00000006 616e796f6e65 00000003",
		created(request(drivers.OpCreate, 54, "/a"), drivers.Sequential|drivers.Ephemeral)},
	{"getData with a watch", "0000000f 00000002 00000004 00000002 2f61 01",
		watched(request(drivers.OpGet, 19, "/a"))},
	{"exists without", "0000000f 00000003 00000003 00000002 2f62 00",
		request(drivers.OpExists, 19, "/b")},
	{"ping", "00000008 fffffffe 0000000b", request(drivers.OpPing, 12, "")},
	{"getChildren2", "0000000e 00000004 0000000c 00000001 2f 01",
		watched(request(drivers.OpChildren, 18, "/"))},
	{"setData", "00000016 00000005 00000005 00000002 2f61 ffffffff ffffffff",
		request(drivers.OpSet, 26, "/a")},
	{"delete", "00000012 00000006 00000002 00000002 2f61 ffffffff",
		request(drivers.OpDelete, 22, "/a")},
	{"exists, the flush below a chroot", "0000001f 00000007 00000003 00000012 2f632f2e7374616d706564652d666c757368 01",
		request(drivers.OpFlush, 35, "/c/.stampede-flush")},
	{"setWatches", "0000001c 00000008 00000065 0000000000000005 00000000 00000000 00000000",
		request(drivers.OpRearm, 32, "")},
	{"addWatch, persistent", "00000012 0000000b 0000006a 00000002 2f61 00000000",
		watched(request(drivers.OpWatchNode, 22, "/a"))},
	{"addWatch, recursive", "00000012 0000000c 0000006a 00000002 2f61 00000001",
		watched(request(drivers.OpWatchTree, 22, "/a"))},
	{"auth of a Java client", "00000014 fffffffc 00000064 00000000 ffffffff ffffffff",
		request(drivers.OpOther, 24, "")},
	{"multi", "00000011 00000009 0000000e ffffffff 01 ffffffff", request(drivers.OpMulti, 21, "")},
	{"closeSession", "00000008 0000000a fffffff5", request(drivers.OpClose, 12, "")},
}

func reply(op drivers.Op, pos int64, size int, path string, err error) seen {
	return seen{drivers.Message{Kind: drivers.Reply, Op: op, Pos: pos, Size: size, Err: err}, path}
}

const stat68 = "0000000000000003 0000000000000004 0000000000000000 0000000000000000 00000001" +
	"00000000 00000000 0000000000000000 00000001 00000000 0000000000000003"

// replies answer the requests, with two notifications in between.
var replies = []exchange{
	{"connect", "00000025 00000000 00001770 0000000000000007 00000010 000102030405060708090a0b0c0d0e0f 00",
		reply(drivers.OpOpen, 0, 41, "", nil)},
	{"create", "00000020 00000001 0000000000000003 00000000 0000000c 2f6130303030303030303031",
		created(reply(drivers.OpCreate, 3, 36, "/a0000000001", nil), drivers.Sequential|drivers.Ephemeral)},
	{"getData", "00000059 00000002 0000000000000004 00000000 00000001 78" + stat68,
		watched(reply(drivers.OpGet, 4, 93, "/a", nil))},
	{"exists, missing", "00000010 00000003 0000000000000004 ffffff9b",
		reply(drivers.OpExists, 4, 20, "", drivers.ErrNoNode)},
	{"notification of 3.8", "0000001e ffffffff ffffffffffffffff 00000000 00000003 00000003 00000002 2f61",
		seen{drivers.Message{Kind: drivers.Notification, Event: drivers.DataChanged, Size: 34}, "/a"}},
	{"ping", "00000010 fffffffe 0000000000000004 00000000", reply(drivers.OpPing, 4, 20, "", nil)},
	{"getChildren2", "0000005d 00000004 0000000000000004 00000000 00000001 00000001 61" + stat68,
		watched(reply(drivers.OpChildren, 4, 97, "/", nil))},
	{"setData", "00000010 00000005 0000000000000005 ffffff99",
		reply(drivers.OpSet, 5, 20, "/a", drivers.ErrBadVersion)},
	{"notification of 3.9", "0000001d ffffffff 0000000000000006 00000000 00000004 00000003 00000001 2f",
		seen{drivers.Message{Kind: drivers.Notification, Event: drivers.ChildrenChanged, Pos: 6, Size: 33}, "/"}},
	{"delete", "00000010 00000006 0000000000000006 00000000", reply(drivers.OpDelete, 6, 20, "/a", nil)},
	{"flush", "00000010 00000007 0000000000000006 ffffff9b",
		reply(drivers.OpFlush, 6, 20, "/c/.stampede-flush", drivers.ErrNoNode)},
	{"auth, before its turn", "00000010 fffffffc 0000000000000006 ffffff8d",
		reply(drivers.OpOther, 6, 20, "", drivers.ErrRefused)},
	{"setWatches", "00000010 00000008 0000000000000006 00000000", reply(drivers.OpRearm, 6, 20, "", nil)},
	{"addWatch, persistent", "00000010 0000000b 0000000000000006 00000000",
		watched(reply(drivers.OpWatchNode, 6, 20, "/a", nil))},
	{"addWatch, recursive", "00000010 0000000c 0000000000000006 00000000",
		watched(reply(drivers.OpWatchTree, 6, 20, "/a", nil))},
	{"unrequested reply", "00000010 00000063 0000000000000006 00000000", reply(drivers.OpOther, 6, 20, "", nil)},
	{"multi", "00000010 00000009 0000000000000007 fffffffa", reply(drivers.OpMulti, 7, 20, "", drivers.ErrUnsupported)},
	{"closeSession", "00000010 0000000a 0000000000000008 00000000", reply(drivers.OpClose, 8, 20, "", nil)},
}

// exchangeAll sends the requests in two pieces, split at cut, and reads the replies, which are
// split at the same offset. Like the library it reads the length first and then the rest.
func exchangeAll(t *testing.T, out, in []byte, cut int) (told []seen, sent, read []byte) {
	t.Helper()
	w := new(witness)
	at := min(cut, len(in))
	s := &script{in: io.MultiReader(bytes.NewReader(in[:at]), bytes.NewReader(in[at:]))}
	tap := NewTap(s, w, nil)
	at = min(cut, len(out))
	for _, piece := range [][]byte{out[:at], out[at:]} {
		if n, err := tap.Write(piece); n != len(piece) || err != nil {
			t.Fatalf("write: %d of %d, %v", n, len(piece), err)
		}
	}
	for {
		packet := make([]byte, 4)
		if _, err := io.ReadFull(tap, packet); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packet = append(packet, make([]byte, packet[3])...)
		if _, err := io.ReadFull(tap, packet[4:]); err != nil {
			t.Fatal(err)
		}
		read = append(read, packet...)
	}
	return w.messages, s.out.Bytes(), read
}

var cutOff = seen{Message: drivers.Message{Kind: drivers.Cut}}

func TestTapTellsOfEveryPacket(t *testing.T) {
	out, in := bytesOf(t, requests), bytesOf(t, replies)
	want := append(append(wanted(requests), wanted(replies)...), cutOff)
	for cut := range max(len(out), len(in)) + 1 {
		told, sent, read := exchangeAll(t, out, in, cut)
		if diff := cmp.Diff(want, told, cmp.Comparer(sameError)); diff != "" {
			t.Fatalf("cut at byte %d: messages (-want +got)\n%s", cut, diff)
		}
		if !bytes.Equal(sent, out) || !bytes.Equal(read, in) {
			t.Fatalf("cut at byte %d: bytes were changed", cut)
		}
	}
}

func sameError(a, b error) bool { return a == b }

func TestTapReadsByteByByte(t *testing.T) {
	in := bytesOf(t, replies)
	w := new(witness)
	tap := NewTap(&script{in: iotest.OneByteReader(bytes.NewReader(in))}, w, nil)
	tap.Write(bytesOf(t, requests))
	got, err := io.ReadAll(iotest.OneByteReader(tap))
	if err != nil || !bytes.Equal(got, in) {
		t.Errorf("read %d bytes (%v), want the %d sent", len(got), err, len(in))
	}
	if n, want := len(w.messages), len(requests)+len(replies)+1; n != want {
		t.Errorf("%d messages, want %d", n, want)
	}
}

func TestTapSession(t *testing.T) {
	for _, tc := range []struct {
		granted string
		want    int32
		err     error
	}{
		{"00001770", 6000, nil},
		{"00000000", 0, drivers.ErrSessionLost},
	} {
		packet := []exchange{{packets: "00000024 00000000" + tc.granted + "0000000000000000 00000010" + strings.Repeat("00", 16)}}
		w := new(witness)
		tap := NewTap(&script{in: bytes.NewReader(bytesOf(t, packet))}, w, nil)
		if _, err := io.ReadFull(tap, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		if got := tap.Session().Timeout; got != tc.want || w.messages[0].Err != tc.err {
			t.Errorf("granted %d, told %v; want %d and %v", got, w.messages[0].Err, tc.want, tc.err)
		}
	}
}

// large returns a reply to the getData of requests that does not fit into the buffer.
func large(tb testing.TB, size int) []byte {
	b := bytesOf(tb, replies[:2])
	start := len(b)
	b = ReplyHeader{Xid: 2, Zxid: 4}.Append(Begin(b))
	b = append(b, make([]byte, size)...)
	End(b, start)
	return b
}

func TestTapPassesLargePackets(t *testing.T) {
	in := append(large(t, 3*inboundSize), bytesOf(t, replies[3:4])...)
	w := new(witness)
	tap := NewTap(&script{in: bytes.NewReader(in)}, w, nil)
	tap.Write(bytesOf(t, requests))
	got, err := io.ReadAll(tap)
	if err != nil || !bytes.Equal(got, in) {
		t.Fatalf("read %d bytes (%v), want the %d sent", len(got), err, len(in))
	}
	told := w.messages[len(requests):]
	if len(told) != 5 || told[2].Size != 3*inboundSize+20 || told[3].Op != drivers.OpExists {
		t.Errorf("told of %+v", told)
	}
	if n := len(tap.in.buf); n != inboundSize {
		t.Errorf("the buffer grew to %d bytes", n)
	}
}

// A request that no server accepts is not kept, but the packet after it is reported.
func TestTapLetsHugeRequestsBy(t *testing.T) {
	b := bytesOf(t, requests[:1])
	start := len(b)
	b = RequestHeader{Xid: 1, Op: OpSetData}.Append(Begin(b))
	b = AppendInt(AppendBytes(AppendString(b, "/a"), make([]byte, 2*MaxPacket)), -1)
	End(b, start)
	size := len(b) - start
	b = append(b, bytesOf(t, requests[4:5])...)
	want := append(wanted(requests[:1]), request(drivers.OpSet, size, "/a"), wanted(requests[4:5])[0])
	for _, cut := range []int{0, start + 2, start + 20, start + MaxPacket + 4, start + size - 1, start + size} {
		w := new(witness)
		tap := NewTap(new(script), w, nil)
		tap.Write(b[:cut])
		tap.Write(b[cut:])
		if diff := cmp.Diff(want, w.messages); diff != "" {
			t.Fatalf("cut at byte %d: messages (-want +got)\n%s", cut, diff)
		}
	}
}

func TestTapReadsLongPaths(t *testing.T) {
	path := "/" + strings.Repeat("p", 2*inboundSize)
	in := bytesOf(t, replies[:1])
	start := len(in)
	in = ReplyHeader{Xid: XidNotification, Zxid: -1}.Append(Begin(in))
	in = AppendString(AppendInt(AppendInt(in, EventDeleted), 3), path)
	End(in, start)
	w := new(witness)
	if _, err := io.Copy(io.Discard, NewTap(&script{in: bytes.NewReader(in)}, w, nil)); err != nil {
		t.Fatal(err)
	}
	if got := w.messages[1]; got.Path != path || got.Event != drivers.Deleted {
		t.Errorf("%v of a path of %d bytes, want deleted and %d", got.Event, len(got.Path), len(path))
	}
}

func TestTapLosesAReply(t *testing.T) {
	in := bytesOf(t, replies)
	w := new(witness)
	s := &script{in: bytes.NewReader(in)}
	tap := NewTap(s, w, func(m drivers.Message) bool { return m.Op == drivers.OpGet })
	tap.Write(bytesOf(t, requests))
	got, err := io.ReadAll(tap)
	if want := bytesOf(t, replies[:2]); !errors.Is(err, ErrReplyLost) || !bytes.Equal(got, want) {
		t.Errorf("read %d bytes and %v, want %d and %v", len(got), err, len(want), ErrReplyLost)
	}
	if s.closed != 1 {
		t.Errorf("closed %d times, want once", s.closed)
	}
	want := append(append(wanted(requests), wanted(replies[:2])...), cutOff)
	if diff := cmp.Diff(want, w.messages, cmp.Comparer(sameError)); diff != "" {
		t.Errorf("messages (-want +got)\n%s", diff)
	}
	tap.Close()
	if len(w.messages) != len(want) {
		t.Error("told of the cut again")
	}
}

// impatient times out once, in the middle of a packet.
type impatient struct {
	rest  io.Reader
	first []byte
	timed bool
}

func (r *impatient) Read(p []byte) (int, error) {
	switch {
	case len(r.first) > 0:
		n := copy(p, r.first)
		r.first = r.first[n:]
		return n, nil
	case !r.timed:
		r.timed = true
		return 0, os.ErrDeadlineExceeded
	}
	return r.rest.Read(p)
}

func TestTapSurvivesATimeout(t *testing.T) {
	in := bytesOf(t, replies[:1])
	w := new(witness)
	tap := NewTap(&script{in: &impatient{first: in[:9], rest: bytes.NewReader(in[9:])}}, w, nil)
	first, err := io.ReadAll(tap)
	if !errors.Is(err, os.ErrDeadlineExceeded) || len(w.messages) != 0 {
		t.Fatalf("%v and %d messages, want the time-out and none", err, len(w.messages))
	}
	rest, err := io.ReadAll(tap)
	if got := append(first, rest...); err != nil || !bytes.Equal(got, in) {
		t.Errorf("read %x (%v), want %x", got, err, in)
	}
	if len(w.messages) != 2 {
		t.Errorf("%d messages, want the reply and the cut", len(w.messages))
	}
}

// forever repeats one packet.
type forever struct{ packet, rest []byte }

func (f *forever) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		f.rest = f.packet
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

type forgetful struct{ told int }

func (f *forgetful) Message(drivers.Message) { f.told++ }

func TestTapAllocatesNothing(t *testing.T) {
	opening := bytesOf(t, replies[:1])
	f := &forever{packet: bytesOf(t, replies[2:3]), rest: opening}
	probe := new(forgetful)
	s := &script{in: f}
	tap := NewTap(s, probe, func(drivers.Message) bool { return false })
	tap.Write(bytesOf(t, requests[:1]))
	if _, err := io.ReadFull(tap, opening); err != nil {
		t.Fatal(err)
	}
	get, answer := bytesOf(t, requests[2:3]), make([]byte, len(f.packet))
	allocs := testing.AllocsPerRun(1000, func() {
		s.out.Reset()
		tap.Write(get)
		io.ReadFull(tap, answer)
	})
	if allocs != 0 {
		t.Errorf("%v allocations per round trip, want none", allocs)
	}
	if want := 2 + 2*1001; probe.told != want {
		t.Errorf("%d messages, want %d", probe.told, want)
	}
}

// FuzzTap sends arbitrary bytes in pieces of arbitrary size in both directions.
func FuzzTap(f *testing.F) {
	f.Add(bytesOf(f, requests), bytesOf(f, replies), uint16(7))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1}, []byte{0x80, 0, 0, 0, 1}, uint16(1))
	f.Add([]byte{0, 0, 0}, large(f, 2*inboundSize), uint16(4096))
	for _, said := range conversations(f) {
		f.Add(said[0], said[1], uint16(17))
	}
	f.Fuzz(func(t *testing.T, out, in []byte, piece uint16) {
		size := int(piece)%5000 + 1
		s := &script{in: &pieces{in, size}}
		w := new(witness)
		tap := NewTap(s, w, nil)
		for rest := out; len(rest) > 0; {
			n := min(size, len(rest))
			tap.Write(rest[:n])
			rest = rest[n:]
		}
		read, err := io.ReadAll(tap)
		if err != nil || !bytes.Equal(read, in) || !bytes.Equal(s.out.Bytes(), out) {
			t.Errorf("%v: bytes were changed", err)
		}
		if last := w.messages[len(w.messages)-1]; last.Kind != drivers.Cut {
			t.Errorf("the last message is %+v, want the cut", last)
		}
	})
}

// conversations returns the captured bytes of both directions for every client.
func conversations(tb testing.TB) map[string]*[2][]byte {
	tb.Helper()
	packets, err := captured.Packets()
	if err != nil {
		tb.Fatal(err)
	}
	said := map[string]*[2][]byte{}
	for _, p := range packets {
		if said[p.Client] == nil {
			said[p.Client] = new([2][]byte)
		}
		side := &said[p.Client][0]
		if !p.Request {
			side = &said[p.Client][1]
		}
		*side = append(*side, p.Framed()...)
	}
	return said
}

// pieces returns at most size bytes per read.
type pieces struct {
	rest []byte
	size int
}

func (r *pieces) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(r.size, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}
