package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
)

// transaction returns a request with a sequential create, a set, a check and a delete.
func transaction(xid int32, name string) []byte {
	b := RequestHeader{Xid: xid, Op: OpMulti}.Append(nil)
	b = MultiHeader{Type: OpCreate2, Err: -1}.Append(b)
	b = CreateRequest{Path: "/q/" + name, Data: []byte("secret"), ACL: []ACL{{Perms: 31, Scheme: "world", ID: "anyone"}}, Flags: 2}.Append(b)
	b = MultiHeader{Type: OpSetData, Err: -1}.Append(b)
	b = AppendInt(AppendBytes(AppendString(b, "/value"), []byte("secret")), -1)
	b = MultiHeader{Type: OpCheck, Err: -1}.Append(b)
	b = PathVersion{Path: "/checked", Version: 3}.Append(b)
	b = MultiHeader{Type: OpDelete, Err: -1}.Append(b)
	b = PathVersion{Path: "/gone", Version: -1}.Append(b)
	return packet(MultiEnd().Append(b))
}

// parts are the operations of a transaction with their errors.
func parts(created string, errs ...error) []drivers.TxnOp {
	all := []drivers.TxnOp{
		{Op: drivers.OpCreate, Path: []byte(created), Mode: drivers.Sequential},
		{Op: drivers.OpSet, Path: []byte("/value")},
		{Op: drivers.OpOther, Path: []byte("/checked")},
		{Op: drivers.OpDelete, Path: []byte("/gone")},
	}
	for i, err := range errs {
		all[i].Err = err
	}
	return all
}

// TestTransactionsAreDecoded exchanges a transaction that succeeds and one of which the check
// fails, in pieces of every size.
func TestTransactionsAreDecoded(t *testing.T) {
	requests := append(transaction(1, "item-"), transaction(2, strings.Repeat("longer", 10))...)
	done := ReplyHeader{Xid: 1, Zxid: 7}.Append(nil)
	done = AppendString(MultiHeader{Type: OpCreate2}.Append(done), "/q/item-0000000001")
	done = Stat{}.Append(done)
	done = Stat{}.Append(MultiHeader{Type: OpSetData}.Append(done))
	done = MultiHeader{Type: OpCheck}.Append(done)
	done = MultiHeader{Type: OpDelete}.Append(done)
	failed := ReplyHeader{Xid: 2, Zxid: 7}.Append(nil)
	for _, err := range []Err{OK, OK, ErrBadVersion, ErrRuntimeInconsistency} {
		failed = AppendInt(MultiHeader{Type: MultiError, Err: err}.Append(failed), int32(err))
	}
	replies := append(packet(MultiEnd().Append(done)), packet(MultiEnd().Append(failed))...)
	undone := drivers.ErrUnsupported
	want := []struct {
		err   error
		parts []drivers.TxnOp
	}{
		{nil, parts("/q/item-")},
		{nil, parts("/q/" + strings.Repeat("longer", 10))},
		{nil, parts("/q/item-0000000001")},
		{drivers.ErrBadVersion, parts("/q/"+strings.Repeat("longer", 10), undone, undone, drivers.ErrBadVersion, undone)},
	}
	for size := 1; size <= len(requests); size++ {
		w := new(witness)
		d := NewDialogue(w, true)
		feedPieces(requests, size, d.FromClient)
		feedPieces(replies, size, d.FromServer)
		if len(w.messages) != len(want) {
			t.Fatalf("pieces of %d bytes: %d messages, want %d", size, len(w.messages), len(want))
		}
		for i, m := range w.messages {
			if m.Op != drivers.OpMulti || m.Err != want[i].err {
				t.Errorf("pieces of %d bytes: message %d is %v with %v, want multi with %v", size, i, m.Op, m.Err, want[i].err)
			}
			if diff := cmp.Diff(want[i].parts, m.Parts, cmp.Comparer(sameError)); diff != "" {
				t.Errorf("pieces of %d bytes: parts of message %d (-want +got)\n%s", size, i, diff)
			}
		}
	}
}

func feedPieces(b []byte, size int, feed func([]byte)) {
	for len(b) > 0 {
		n := min(size, len(b))
		feed(b[:n])
		b = b[n:]
	}
}

// TestDecodedTransactionsAllocateNothing checks that the slots of the ring are used again.
func TestDecodedTransactionsAllocateNothing(t *testing.T) {
	d := NewDialogue(silent{}, true)
	request := transaction(1, "item-")
	reply := ReplyHeader{Xid: 1, Zxid: 7}.Append(nil)
	reply = AppendString(MultiHeader{Type: OpCreate}.Append(reply), "/q/item-0000000001")
	answer := packet(MultiEnd().Append(reply))
	exchange := func() {
		d.FromClient(request)
		d.FromServer(answer)
	}
	for range 20 {
		exchange()
	}
	if n := testing.AllocsPerRun(100, exchange); n > 0 {
		t.Errorf("%v allocations for each transaction, want none", n)
	}
}

// TestEachRequestWithAPathHasIt sends one request of each kind that names nodes, and answers it: the
// request and the reply name them, too, and say what failed. A change of rights is a write that changes
// nothing watched.
func TestEachRequestWithAPathHasIt(t *testing.T) {
	reads := MultiEnd().Append(PathWatch{Path: "/b"}.Append(MultiHeader{Type: OpGetChildren, Err: -1}.Append(
		PathWatch{Path: "/a"}.Append(MultiHeader{Type: OpGetData, Err: -1}.Append(nil)))))
	oneFailed := MultiEnd().Append(AppendInt(MultiHeader{Type: MultiError, Err: ErrNoNode}.Append(
		DataStat{Data: []byte("x")}.Append(MultiHeader{Type: OpGetData}.Append(nil))), int32(ErrNoNode)))
	path := AppendString(nil, "/a")
	for _, c := range []struct {
		code      int32
		request   []byte
		reply     []byte
		err       Err
		op        drivers.Op
		path      string
		parts     []error
		unwritten bool
	}{
		{code: OpGetData, request: PathWatch{Path: "/a"}.Append(nil), op: drivers.OpGet, path: "/a"},
		{code: OpGetACL, request: path, op: drivers.OpGet, path: "/a"},
		{code: OpAllChildrenNum, request: path, reply: AppendInt(nil, 3), op: drivers.OpGet, path: "/a"},
		{code: OpGetEphemerals, request: path, op: drivers.OpOther, path: "/a"},
		{code: OpCheckWatches, request: PathWatcher{Path: "/a"}.Append(nil), op: drivers.OpOther, path: "/a"},
		{code: OpSetACL, request: path, op: drivers.OpMulti, path: "/a", unwritten: true},
		{code: OpSetACL, request: path, err: ErrBadVersion, op: drivers.OpMulti, path: "/a", unwritten: true},
		{code: OpMultiRead, request: reads, reply: oneFailed, op: drivers.OpGet,
			parts: []error{nil, drivers.ErrNoNode}},
		{code: OpMultiRead, request: reads, err: ErrBadVersion, op: drivers.OpGet,
			parts: []error{drivers.ErrBadVersion, drivers.ErrBadVersion}},
	} {
		w := new(witness)
		d := NewDialogue(w, true)
		d.FromClient(packet(append(RequestHeader{Xid: 1, Op: c.code}.Append(nil), c.request...)))
		d.FromServer(packet(append(ReplyHeader{Xid: 1, Zxid: 7, Err: c.err}.Append(nil), c.reply...)))
		if len(w.messages) != 2 {
			t.Fatalf("request %d: %d messages, want 2", c.code, len(w.messages))
		}
		for _, m := range w.messages {
			if m.Op != c.op || string(m.Path) != c.path || len(m.Parts) != len(c.parts) {
				t.Errorf("request %d: %+v, want %v of %q with %d parts", c.code, m, c.op, c.path, len(c.parts))
			}
		}
		reply := w.messages[1]
		if reply.Err != c.err.Sentinel() || (reply.Pos == 0) != c.unwritten {
			t.Errorf("request %d: the reply is %+v, want %v", c.code, reply, c.err.Sentinel())
		}
		for i, want := range c.parts {
			if p := reply.Parts[i]; p.Err != want || string(p.Path) != []string{"/a", "/b"}[i] {
				t.Errorf("request %d: part %d is %+v, want %v", c.code, i, p, want)
			}
		}
	}
}

// silent is a probe that keeps nothing.
type silent struct{}

func (silent) Message(drivers.Message) {}
