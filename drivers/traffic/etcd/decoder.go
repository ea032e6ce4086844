package etcd

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Protocol is etcd's protocol. All connections together keep at most maxUnfinished bytes of what is not
// complete: a connection that would keep more is given up.
func Protocol() traffic.Protocol {
	shared := new(budget)
	return traffic.Protocol{
		Name:   "etcd",
		Speaks: []traffic.Cause{traffic.HTTP2},
		Decode: func(t traffic.Tap, joined bool) traffic.Decoder { return newDecoder(t, joined, shared) },
	}
}

// A decoder decodes one connection.
type decoder struct {
	tap               traffic.Tap
	requests, replies half
	streams           map[uint32]*stream
	at                time.Time
	undecodable       traffic.Cause // why nothing more is decoded, "" while it is
	budget            *budget
	inStreams         int   // bytes that the streams keep
	taken             int64 // of the budget
}

func newDecoder(t traffic.Tap, joined bool, b *budget) *decoder {
	d := &decoder{
		budget: b,
		tap:    t, streams: make(map[uint32]*stream),
		requests: newHalf(len(preface)), replies: newHalf(0),
	}
	if joined { // the tables of its headers are not known
		d.undecodable = traffic.Joined
	}
	return d
}

// preface is what a client sends first (RFC 9113, section 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

func (d *decoder) FromClient(at time.Time, p []byte) {
	d.decode(at, &d.requests, p, d.handleClientFrame)
}

func (d *decoder) FromServer(at time.Time, p []byte) { d.decode(at, &d.replies, p, d.answered) }

// decode takes bytes of one direction. From the first error on, all bytes are a gap.
func (d *decoder) decode(at time.Time, h *half, p []byte, frame func(http2.Frame)) {
	d.at = at
	if d.undecodable == "" {
		switch err := h.take(p, frame); {
		case err != nil:
			d.undecodable = traffic.Malformed
		case !d.account():
			d.undecodable = traffic.BeyondLimit
		}
	}
	if d.undecodable != "" {
		d.giveUp(d.undecodable)
		d.tap.Gap(at, int64(len(p)), d.undecodable)
	}
}

// Lost gives the connection up: its headers cannot be decoded without all that came before.
func (d *decoder) Lost(at time.Time, _ bool, bytes int64, cause traffic.Cause) {
	d.giveUp(cause)
	d.tap.Gap(at, bytes, cause)
}

// giveUp decodes nothing more, and keeps nothing. The first cause remains.
func (d *decoder) giveUp(cause traffic.Cause) {
	d.undecodable = cmp.Or(d.undecodable, cause)
	d.requests.buf, d.replies.buf = new(bytes.Buffer), new(bytes.Buffer)
	clear(d.streams)
	d.inStreams = 0
	d.account()
}

// maxStreams is how many streams of a connection, and maxCreating how many unconfirmed watches of a
// stream, a decoder keeps. At the first one beyond it gives the connection up: the replies
// could not be told apart.
const (
	maxStreams  = 1 << 12
	maxCreating = 1 << 16
)

func (d *decoder) End(at time.Time) {
	if n := d.requests.buf.Len() + d.replies.buf.Len(); n > 0 {
		d.tap.Gap(at, int64(n), traffic.Unfinished)
	}
	d.giveUp(traffic.Unfinished)
	d.tap.Close(at)
}

func (d *decoder) tell(m drivers.Message) { d.tap.Message(d.at, m) }

// A budget counts the bytes that the decoders of all connections keep: of frames, headers and messages that are
// not complete, and of the keys of calls that have no answer.
type budget struct{ atomic.Int64 }

// maxUnfinished is far more than honest connections keep, whose messages are complete after some packets.
const maxUnfinished = 256 << 20

// account takes from the budget what the decoder keeps now, in place of what it kept before, and reports whether
// that is within the budget.
func (d *decoder) account() bool {
	now := int64(d.requests.buf.Len() + d.replies.buf.Len() + d.inStreams)
	left := maxUnfinished - d.budget.Add(now-d.taken)
	d.taken = now
	return left >= 0
}

// update takes into account what a stream keeps now.
func (d *decoder) update(s *stream) {
	now := len(s.up.buf) + len(s.down.buf) + s.keys + s.watches.keys
	d.inStreams += now - s.kept
	s.kept = now
	if n := s.up.opaque + s.down.opaque; n > 0 && s.decoded() {
		d.tap.Gap(d.at, n, traffic.Opaque)
	}
	s.up.opaque, s.down.opaque = 0, 0
}

// The methods that are streams.
const (
	watchMethod     = "/etcdserverpb.Watch/Watch"
	keepAliveMethod = "/etcdserverpb.Lease/LeaseKeepAlive"
)

// A kind is a unary method whose messages are decoded.
type kind struct{ request, response func() proto.Message }

var kinds = map[string]kind{
	"/etcdserverpb.KV/Range":       {message[pb.RangeRequest], message[pb.RangeResponse]},
	"/etcdserverpb.KV/Put":         {message[pb.PutRequest], message[pb.PutResponse]},
	"/etcdserverpb.KV/DeleteRange": {message[pb.DeleteRangeRequest], message[pb.DeleteRangeResponse]},
	"/etcdserverpb.KV/Txn":         {message[pb.TxnRequest], message[pb.TxnResponse]},
	"/etcdserverpb.Cluster/MemberList": {
		message[pb.MemberListRequest], message[pb.MemberListResponse],
	},
	"/etcdserverpb.Lease/LeaseGrant": {
		message[pb.LeaseGrantRequest], message[pb.LeaseGrantResponse],
	},
	"/etcdserverpb.Lease/LeaseRevoke": {
		message[pb.LeaseRevokeRequest], message[pb.LeaseRevokeResponse],
	},
}

// message makes an empty message.
func message[T any, M interface {
	*T
	proto.Message
}]() proto.Message {
	return M(new(T))
}

// seed makes the digests of this process differ from those of others.
var seed = maphash.MakeSeed()

// answer adds what a response says.
func (d *decoder) answer(s *stream, m *drivers.Message, response proto.Message) {
	if r, ok := response.(interface{ GetHeader() *pb.ResponseHeader }); ok {
		m.Pos = r.GetHeader().GetRevision()
	}
	m.Err = s.call.Err(response)
	switch r := response.(type) {
	case *pb.LeaseGrantResponse:
		d.tap.Session(d.at, traffic.Session{ID: r.ID, Timeout: time.Duration(r.TTL) * time.Second})
	case *pb.MemberListResponse:
		if all := memberAddresses(r); len(all) > 0 {
			d.tap.Members(d.at, all)
		}
	case *pb.RangeResponse:
		m.Digest = digest(r)
	case *pb.TxnResponse:
		m.Parts = s.answeredParts(r)
	}
}

// answeredParts returns the parts of an answered transaction. Which of its conditions failed is not
// known: all parts that write have failed then. Nothing is known of reads if it failed, because
// it executed others.
func (s *stream) answeredParts(r *pb.TxnResponse) (parts []drivers.TxnOp) {
	for _, p := range s.parts {
		p.Err = calls.Call{Op: p.Op}.Err(r)
		if r.Succeeded || p.Op.IsWrite() {
			parts = append(parts, p)
		}
	}
	return parts
}

// digest is equal for two ranges that returned the same keys and values. The header, which has
// the revision of the whole store, is no part of it.
func digest(r *pb.RangeResponse) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, kv := range r.Kvs {
		h.Write(kv.Key)
		maphash.WriteComparable(&h, kv.ModRevision)
	}
	return h.Sum64()
}

// messages puts the messages of one direction of a stream together.
type messages struct {
	buf    []byte
	skip   int   // bytes of a large message that are still to be skipped
	opaque int64 // bytes of messages that were not whole, since they were last reported
}

const (
	messageHeader = 5       // compressed or not, and a length of four bytes
	maxMessage    = 4 << 20 // larger messages are not decoded
)

// take calls message with every message that ends in p; whole is false for one that is
// compressed or too large, which has no bytes then.
func (b *messages) take(p []byte, message func(payload []byte, whole bool)) {
	for len(p) > 0 {
		if n := min(b.skip, len(p)); n > 0 {
			b.skip -= n
			p = p[n:]
			continue
		}
		want := messageHeader
		if len(b.buf) >= messageHeader {
			want += int(binary.BigEndian.Uint32(b.buf[1:]))
		}
		n := min(want-len(b.buf), len(p))
		b.buf = append(b.buf, p[:n]...)
		p = p[n:]
		b.finish(message)
	}
}

// finish passes on what has become complete.
func (b *messages) finish(message func([]byte, bool)) {
	if len(b.buf) < messageHeader {
		return
	}
	size := int(binary.BigEndian.Uint32(b.buf[1:]))
	switch {
	case size > maxMessage:
		b.skip, b.opaque = size, b.opaque+int64(messageHeader+size)
		message(nil, false)
	case len(b.buf) < messageHeader+size:
		return
	case b.buf[0] != 0:
		b.opaque += int64(messageHeader + size)
		message(nil, false)
	default:
		message(b.buf[messageHeader:], true)
	}
	b.buf = b.buf[:0]
	if cap(b.buf) > keptCapacity {
		b.buf = nil
	}
}
