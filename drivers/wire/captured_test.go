package wire

import (
	"bytes"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire/captured"
)

// bodies maps opcodes to the records after the headers, for packets that have one.
var bodies = struct{ requests, replies map[int32]record }{
	requests: map[int32]record{
		OpCreate: &CreateRequest{}, OpCreate2: &CreateRequest{}, OpCreateContainer: &CreateRequest{},
		OpCreateTTL: &CreateTTLRequest{}, OpDelete: &PathVersion{}, OpCheck: &PathVersion{},
		OpExists: &PathWatch{}, OpGetData: &PathWatch{}, OpGetChildren: &PathWatch{}, OpGetChildren2: &PathWatch{},
		OpSetData: &SetDataRequest{}, OpGetACL: &Path{}, OpSetACL: &SetACLRequest{}, OpSync: &Path{},
		OpReconfig: &ReconfigRequest{}, OpCheckWatches: &PathWatcher{}, OpRemoveWatches: &PathWatcher{},
		OpAuth: &AuthRequest{}, OpSetWatches: &SetWatchesRequest{}, OpSetWatches2: &SetWatches2Request{},
		OpGetEphemerals: &Path{}, OpAllChildrenNum: &Path{}, OpAddWatch: &AddWatchRequest{},
	},
	replies: map[int32]record{
		OpCreate: &Path{}, OpCreate2: &PathStat{}, OpCreateContainer: &PathStat{}, OpCreateTTL: &PathStat{},
		OpExists: &Stat{}, OpGetData: &DataStat{}, OpGetChildren: &Children{}, OpGetChildren2: &ChildrenStat{},
		OpSetData: &Stat{}, OpGetACL: &ACLStat{}, OpSetACL: &Stat{}, OpSync: &Path{}, OpGetEphemerals: &Children{},
		OpAllChildrenNum: &Int{}, OpAddWatch: &Int{}, OpWhoAmI: &WhoAmI{}, OpNotify: &WatcherEvent{}, MultiError: &Int{},
	},
}

// A dissection splits a packet into records.
type dissection struct {
	d      Decoder
	bodies map[int32]record
	pieces []piece
}

// A piece is a record and the bytes it was read from.
type piece struct {
	record
	bytes []byte
}

func dissect(p captured.Packet) (pieces []piece, rest []byte, err error) {
	x := dissection{d: NewDecoder(p.Payload), bodies: bodies.replies}
	switch {
	case p.Op == OpCreateSession && p.Request:
		x.read(&ConnectRequest{})
	case p.Op == OpCreateSession:
		x.read(&ConnectResponse{})
	case p.Request:
		x.bodies = bodies.requests
		x.read(&RequestHeader{})
		x.body(p.Op)
	default:
		var h ReplyHeader
		if x.read(&h); h.Err == OK {
			x.body(p.Op)
		}
	}
	return x.pieces, x.d.Rest(), x.d.Err()
}

func (x *dissection) read(r record) {
	before := x.d.Rest()
	r.Decode(&x.d)
	x.pieces = append(x.pieces, piece{r, before[:len(before)-len(x.d.Rest())]})
}

func (x *dissection) body(op int32) {
	if op == OpMulti || op == OpMultiRead {
		for h := (MultiHeader{}); !h.Done && x.d.Err() == nil; {
			if x.read(&h); !h.Done {
				x.body(h.Type)
			}
		}
	} else if r := x.bodies[op]; r != nil {
		x.read(blank(r))
	}
}

// Captured packets are decoded completely, and encoded to the same bytes.
func TestCapturedPackets(t *testing.T) {
	packets, err := captured.Packets()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packets {
		pieces, rest, err := dissect(p)
		if err != nil || len(rest) > 0 {
			t.Errorf("%s, opcode %d, request %t: %v, %d bytes left over of %x", p.Client, p.Op, p.Request, err, len(rest), p.Payload)
		}
		for _, piece := range pieces {
			if _, nulls := piece.record.(*ReconfigRequest); nulls {
				continue // its nulls are written as empty strings
			}
			if got := encode(piece.record); !bytes.Equal(got, piece.bytes) {
				t.Errorf("%s, opcode %d: %+v became %x, was %x", p.Client, p.Op, piece.record, got, piece.bytes)
			}
		}
	}
	if len(packets) < 300 {
		t.Errorf("%d packets, want hundreds", len(packets))
	}
}
