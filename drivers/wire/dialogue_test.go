package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire/captured"
)

// TestDialogueSeesWhatATapSees gives the packets of real clients to a Tap and, cut into pieces at
// random, to a Dialogue. Both must report the same messages, but for paths of reads without a
// watch, which only the Dialogue keeps, digests and what replies show, which only the Dialogue makes, and the watches that
// are armed again, which only the Tap reports.
func TestDialogueSeesWhatATapSees(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3} {
		for client, packets := range byClient(t) {
			byTap, byDialogue := new(witness), new(witness)
			tap := NewTap(&script{in: new(bytes.Buffer)}, byTap, nil)
			d := NewDialogue(byDialogue, false)
			r := rand.New(rand.NewPCG(seed, 0))
			for _, p := range packets {
				through(t, tap, p)
				feed(d, r, p)
			}
			fillPaths(byTap.messages, byDialogue.messages)
			ignored := cmpopts.IgnoreFields(drivers.Message{}, "Digest", "Shown")
			if diff := cmp.Diff(byTap.messages, byDialogue.messages, ignored, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s, seed %d: a dialogue differs from a tap (-tap +dialogue):\n%s", client, seed, diff)
			}
		}
	}
}

func byClient(t *testing.T) map[string][]captured.Packet {
	t.Helper()
	all, err := captured.Packets()
	if err != nil {
		t.Fatal(err)
	}
	clients := make(map[string][]captured.Packet)
	for _, p := range all {
		clients[p.Client] = append(clients[p.Client], p)
	}
	return clients
}

// through passes a packet through the tap.
func through(t *testing.T, tap *Tap, p captured.Packet) {
	t.Helper()
	if p.Request {
		if _, err := tap.Write(p.Framed()); err != nil {
			t.Fatal(err)
		}
		return
	}
	tap.Conn.(*script).in.(*bytes.Buffer).Write(p.Framed())
	for left := len(p.Framed()); left > 0; {
		n, err := tap.Read(make([]byte, left))
		if err != nil {
			t.Fatal(err)
		}
		left -= n
	}
}

// feed gives a packet to the dialogue in random pieces.
func feed(d *Dialogue, r *rand.Rand, p captured.Packet) {
	for b := p.Framed(); len(b) > 0; {
		n := 1 + r.IntN(len(b))
		if p.Request {
			d.FromClient(b[:n])
		} else {
			d.FromServer(b[:n])
		}
		b = b[n:]
	}
}

// fillPaths gives the replies that have no path the path that the other side has.
func fillPaths(to, from []seen) {
	for i := range min(len(to), len(from)) {
		if to[i].Kind == drivers.Reply && to[i].Op.IsRead() && to[i].Path == "" {
			to[i].Path = from[i].Path
		}
	}
}

// TestDialogueDigests checks that equal replies to a read have equal digests and others not.
func TestDialogueDigests(t *testing.T) {
	w := new(witness)
	d := NewDialogue(w, true)
	for xid, data := range []string{"a", "a", "b"} {
		header := RequestHeader{Xid: int32(xid + 1), Op: OpGetData}
		d.FromClient(packet(PathWatch{Path: "/n"}.Append(header.Append(nil))))
		reply := ReplyHeader{Xid: int32(xid + 1), Zxid: int64(xid)}
		d.FromServer(packet(DataStat{Data: []byte(data)}.Append(reply.Append(nil))))
	}
	got := []bool{w.messages[1].Digest == w.messages[3].Digest, w.messages[3].Digest == w.messages[5].Digest}
	if !got[0] || got[1] {
		t.Errorf("digests of a, a, b: equal %v, want [true false]", got)
	}
	if w.messages[1].Path != "/n" {
		t.Errorf("the reply's path is %q, want /n", w.messages[1].Path)
	}
}

// TestDialogueSaysWhatRepliesShow has reads with and without data, of nodes that exist and that do not, and one that is
// refused.
func TestDialogueSaysWhatRepliesShow(t *testing.T) {
	path := func(path string) []byte { return PathWatch{Path: path}.Append(nil) }
	reads := append(MultiHeader{Type: OpGetData, Err: -1}.Append(nil), path("/a")...)
	reads = append(MultiHeader{Type: OpGetChildren, Err: -1}.Append(reads), path("/b")...)
	read := DataStat{Data: []byte("v")}.Append(MultiHeader{Type: OpGetData}.Append(nil))
	read = AppendInt(MultiHeader{Type: MultiError, Err: ErrNoAuth}.Append(read), int32(ErrNoAuth))
	for _, c := range []struct {
		name           string
		code           int32
		request, reply []byte
		err            Err
		want           string
	}{
		{"get", OpGetData, path("/n"), DataStat{Data: []byte("v")}.Append(nil), OK, "value of /n at 7"},
		{"get of no node", OpGetData, path("/n"), nil, ErrNoNode, "value of /n at 7"},
		{"get that is refused", OpGetData, path("/n"), nil, ErrNoAuth, ""},
		{"exists", OpExists, path("/n"), Stat{}.Append(nil), OK, "/n at 7"},
		{"exists of no node", OpExists, path("/n"), nil, ErrNoNode, "/n at 7"},
		{"list", OpGetChildren, path("/n"), AppendInt(nil, 0), OK, "below /n at 7"},
		{"its number of children", OpAllChildrenNum, path("/n"), AppendInt(nil, 3), OK, "/n at 7"},
		{"its permissions", OpGetACL, path("/n"), nil, OK, "/n at 7"},
		{"several reads, of which one is refused", OpMultiRead, MultiEnd().Append(reads), MultiEnd().Append(read), OK, "value of /a at 7"},
		{"a write", OpDelete, AppendInt(AppendString(nil, "/n"), -1), nil, OK, ""},
	} {
		var got []string
		d := NewDialogue(probe(func(m drivers.Message) {
			for _, s := range m.Shown {
				got = append(got, describe(s))
			}
		}), true)
		d.FromClient(packet(append(RequestHeader{Xid: 1, Op: c.code}.Append(nil), c.request...)))
		d.FromServer(packet(append(ReplyHeader{Xid: 1, Zxid: 7, Err: c.err}.Append(nil), c.reply...)))
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s shows %q, want %q", c.name, got, c.want)
		}
	}
}

// TestARemovalOfWatchesNamesTheirKinds has each type of a removeWatches. The answer has the kinds of its request.
func TestARemovalOfWatchesNamesTheirKinds(t *testing.T) {
	for kind, want := range map[int32]drivers.WatchKinds{
		WatcherChildren: drivers.ChildrenWatch, WatcherData: drivers.DataWatch, WatcherAny: drivers.AnyWatch,
		WatcherPersistent: drivers.NodeWatch, WatcherRecursive: drivers.TreeWatch, 9: 0,
	} {
		var got []drivers.WatchKinds
		d := NewDialogue(probe(func(m drivers.Message) {
			if m.Op == drivers.OpUnwatch && string(m.Path) == "/n" {
				got = append(got, m.Removes)
			}
		}), true)
		d.FromClient(packet(PathWatcher{Path: "/n", Type: kind}.Append(RequestHeader{Xid: 1, Op: OpRemoveWatches}.Append(nil))))
		d.FromServer(packet(ReplyHeader{Xid: 1, Zxid: 7}.Append(nil)))
		if !slices.Equal(got, []drivers.WatchKinds{want, want}) {
			t.Errorf("type %d removes %v, want %v in the request and in the answer", kind, got, want)
		}
	}
}

type probe func(drivers.Message)

func (p probe) Message(m drivers.Message) { p(m) }

func describe(s drivers.Sight) string {
	text := fmt.Sprintf("%s at %d", s.Path, s.Pos)
	if s.Below {
		text = "below " + text
	}
	if s.Values {
		text = "value of " + text
	}
	return text
}

func packet(payload []byte) []byte { return append(AppendInt(nil, int32(len(payload))), payload...) }

// TestDialogueResumesAtAPacket loses the end of a packet and checks that the next packet
// is reported.
func TestDialogueResumesAtAPacket(t *testing.T) {
	w := new(witness)
	d := NewDialogue(w, true)
	request := packet(PathWatch{Path: "/n"}.Append(RequestHeader{Xid: 1, Op: OpExists}.Append(nil)))
	d.FromClient(request[:9])
	d.Lost(true)
	d.FromClient(request)
	if len(w.messages) != 1 || w.messages[0].Op != drivers.OpExists || w.messages[0].Path != "/n" {
		t.Errorf("got %v, want one exists of /n", w.messages)
	}
}

// TestDialogueAfterLostReplies loses the replies to two requests; the third reply must have its
// path, and no request may be left waiting.
func TestDialogueAfterLostReplies(t *testing.T) {
	w := new(witness)
	d := NewDialogue(w, true)
	for xid, path := range []string{"/a", "/b", "/c"} {
		d.FromClient(packet(PathWatch{Path: path}.Append(RequestHeader{Xid: int32(xid), Op: OpExists}.Append(nil))))
	}
	d.Lost(false)
	d.FromServer(packet(Stat{}.Append(ReplyHeader{Xid: 2}.Append(nil))))
	if last := w.messages[len(w.messages)-1]; last.Kind != drivers.Reply || last.Path != "/c" {
		t.Errorf("got %v, want the reply for /c", last)
	}
	if waiting := d.tap.pending.tail - d.tap.pending.head; waiting != 0 {
		t.Errorf("%d requests wait for replies, want none", waiting)
	}
}

func TestFramerFindsPackets(t *testing.T) {
	stream := slices.Concat(packet([]byte("abc")), packet(nil), packet([]byte("defgh")))
	starts := []int{0, 7, 11}
	for size := 1; size <= len(stream); size++ {
		var f Framer
		for at := 0; at < len(stream); at += size {
			piece := stream[at:min(at+size, len(stream))]
			want := -1
			if i := slices.IndexFunc(starts, func(s int) bool { return s >= at && s < at+size }); i >= 0 {
				want = starts[i] - at
			}
			if got := f.Advance(piece); got != want {
				t.Errorf("pieces of %d bytes: the one at %d begins a packet at %d, want %d", size, at, got, want)
			}
		}
	}
	if got := new(Framer).Advance([]byte("\xff\xff\xff\xff")); got != -1 {
		t.Errorf("a negative length begins a packet at %d, want -1", got)
	}
}

// TestDialogueIgnoresWhatIsNoPacket gives bytes that are no packets; nothing may be reported.
func TestDialogueIgnoresWhatIsNoPacket(t *testing.T) {
	w := new(witness)
	d := NewDialogue(w, false)
	d.FromClient([]byte("\xff\xff\xff\xffGET / HTTP/1.1\r\n"))
	d.FromServer([]byte("\xff\xff\xff\xffHTTP/1.1 400\r\n"))
	if len(w.messages) > 0 {
		t.Errorf("got %v, want nothing", w.messages)
	}
}

func TestDialogueKeepsNoPassword(t *testing.T) {
	d := NewDialogue(new(witness), false)
	d.FromClient(packet(ConnectRequest{Password: make([]byte, PasswordSize)}.Append(nil)))
	d.FromServer(packet(ConnectResponse{Timeout: 4000, SessionID: 7, Password: []byte("0123456789abcdef")}.Append(nil)))
	if s := d.Session(); s.SessionID != 7 || s.Password != nil {
		t.Errorf("got session %+v, want id 7 and no password", s)
	}
}
