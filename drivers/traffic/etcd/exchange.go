package etcd

import (
	"errors"
	"hash/maphash"
	"maps"
	"regexp"
	"slices"
	"time"
	"unsafe"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// An exchange is a unary call, or a stream of watches or heartbeats, by whatever protocol it came.
type exchange struct {
	method  string     // "/etcdserverpb.KV/Range", or "" for one that is not decoded
	call    calls.Call // of a unary call, or the heartbeat
	parts   []drivers.TxnOp
	waiting bool // it has no answer yet
	watches watches
}

// size returns how many bytes are kept of what the exchange asked for.
func (e *exchange) size() int {
	n := len(e.call.Key) + e.watches.keys + len(e.parts)*int(unsafe.Sizeof(drivers.TxnOp{}))
	for _, p := range e.parts {
		n += len(p.Path)
	}
	return n
}

// watches are the watches of one stream.
type watches struct {
	creating []watch // requested and not confirmed; the server confirms in order
	keys     int     // bytes of their keys
}

// A watch covers one key, or all keys of a range.
type watch struct {
	op  drivers.Op
	key []byte
}

// maxCreating is how many unconfirmed watches of a stream are kept. At the first one beyond it the connection
// is given up: the replies could not be told apart.
const maxCreating = 1 << 16

// A text is one message as it came.
type text struct {
	size  int                               // bytes on the wire
	parse func(proto.Message) traffic.Cause // parses it into an empty message, or returns why not
}

// unread returns a parser of a text that cannot be parsed.
func unread(why traffic.Cause) func(proto.Message) traffic.Cause {
	return func(proto.Message) traffic.Cause { return why }
}

// parsed returns why a message could not be parsed.
func parsed(err error) traffic.Cause {
	if err != nil {
		return traffic.Malformed
	}
	return ""
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

// A reporter reports the exchanges of one connection to its tap.
type reporter struct {
	tap         traffic.Tap
	at          time.Time
	undecodable traffic.Cause           // why nothing more is decoded, "" while it is
	gaps        map[traffic.Cause]int64 // bytes that were not decoded, not reported yet
}

func (r *reporter) tell(m drivers.Message) { r.tap.Message(r.at, m) }

// gap adds bytes that were not decoded.
func (r *reporter) gap(bytes int64, cause traffic.Cause) {
	if bytes <= 0 {
		return
	}
	if r.gaps == nil {
		r.gaps = make(map[traffic.Cause]int64)
	}
	r.gaps[cause] += bytes
}

// report reports what was not decoded.
func (r *reporter) report() {
	for _, cause := range slices.Sorted(maps.Keys(r.gaps)) {
		r.tap.Gap(r.at, r.gaps[cause], cause)
	}
	clear(r.gaps)
}

// causeOf returns why nothing more is decoded after an error.
func causeOf(err error) traffic.Cause {
	switch {
	case errors.Is(err, errTooLarge), errors.Is(err, errTooMany):
		return traffic.BeyondLimit
	case errors.Is(err, errUpgraded):
		return traffic.Upgraded
	}
	return traffic.Malformed
}

// request reports a message of the client. It returns why the content is missing in the report, "" if it is
// not.
func (r *reporter) request(e *exchange, t text) (missing traffic.Cause) {
	m := drivers.Message{Kind: drivers.Request, Size: t.size}
	switch e.method {
	case watchMethod:
		return r.watchRequest(e, m, t)
	case keepAliveMethod:
		e.call.Op = drivers.OpPing
		if q := new(pb.LeaseKeepAliveRequest); t.parse(q) == "" { // else it is a heartbeat all the same
			r.uses(q)
		}
	}
	if k, decoded := kinds[e.method]; decoded {
		q := k.request()
		if missing = t.parse(q); missing == "" {
			e.call, e.parts = markSequential(calls.Classify(q)), partsOf(q)
			r.uses(q)
		}
	}
	e.waiting = true
	m.Op, m.Path, m.Mode, m.Parts = e.call.Op, e.call.Key, e.call.Mode, e.parts
	r.tell(m)
	return missing
}

// uses reports the leases that a request names as the client's own. One that asks for the time that a lease
// still has names that of any client.
func (r *reporter) uses(request proto.Message) {
	lease := func(id int64) {
		if id != 0 {
			r.tap.Lease(r.at, id)
		}
	}
	switch q := request.(type) {
	case *pb.LeaseKeepAliveRequest:
		lease(q.ID)
	case *pb.LeaseRevokeRequest:
		lease(q.ID)
	case *pb.PutRequest:
		lease(q.Lease)
	case *pb.TxnRequest:
		for _, op := range append(slices.Clone(q.Success), q.Failure...) {
			lease(op.GetRequestPut().GetLease())
		}
	}
}

// reply reports a message of the server. It returns why the content is missing in the report, "" if it is
// not.
func (r *reporter) reply(e *exchange, t text) (missing traffic.Cause) {
	m := drivers.Message{Kind: drivers.Reply, Size: t.size}
	if e.method == watchMethod {
		return r.watchReply(e, m, t)
	}
	e.waiting = false
	m.Op, m.Path, m.Mode = e.call.Op, e.call.Key, e.call.Mode
	if k, decoded := kinds[e.method]; decoded {
		a := k.response()
		if missing = t.parse(a); missing == "" {
			r.answer(e, &m, a)
		}
	}
	r.tell(m)
	return missing
}

// fail reports that the exchange has ended with an error: to its call, or to the watches that were not
// confirmed.
func (r *reporter) fail(e *exchange, err error, size int) {
	m := drivers.Message{Kind: drivers.Reply, Err: err, Size: size}
	if e.waiting {
		e.waiting = false
		m.Op, m.Path, m.Mode = e.call.Op, e.call.Key, e.call.Mode
		r.tell(m)
	}
	for _, w := range e.watches.creating {
		m.Op, m.Path, m.Watch = w.op, w.key, true
		r.tell(m)
		m.Size = 0 // one message for all
	}
	e.watches = watches{}
}

// watchRequest reports a message of the client on a stream of watches.
func (r *reporter) watchRequest(e *exchange, m drivers.Message, t text) (missing traffic.Cause) {
	q := new(pb.WatchRequest)
	missing = t.parse(q)
	if c := q.GetCreateRequest(); c != nil && missing == "" {
		w := watch{drivers.OpWatchNode, c.Key}
		if len(c.RangeEnd) > 0 {
			w.op = drivers.OpWatchTree
		}
		if len(e.watches.creating) >= maxCreating {
			r.undecodable = traffic.BeyondLimit
			return r.undecodable
		}
		e.watches.creating = append(e.watches.creating, w)
		e.watches.keys += len(w.key)
		m.Op, m.Path, m.Watch = w.op, w.key, true
	}
	r.tell(m)
	return missing
}

// watchReply reports a message of the server on a stream of watches: each event is a
// notification, anything else a reply.
func (r *reporter) watchReply(e *exchange, m drivers.Message, t text) (missing traffic.Cause) {
	a := new(pb.WatchResponse)
	if missing = t.parse(a); missing != "" {
		r.tell(m)
		return missing
	}
	m.Pos = a.GetHeader().GetRevision()
	if creating := e.watches.creating; a.Created && len(creating) > 0 {
		m.Op, m.Path, m.Watch = creating[0].op, creating[0].key, true
		e.watches.creating = creating[1:]
		e.watches.keys -= len(creating[0].key)
	}
	if len(a.Events) == 0 {
		r.tell(m)
		return ""
	}
	for _, event := range a.Events {
		r.tell(drivers.Message{
			Kind: drivers.Notification, Event: calls.Change(event), Path: event.GetKv().GetKey(),
			Pos: event.GetKv().GetModRevision(), Size: m.Size,
		})
		m.Size = 0 // all came in one message
	}
	return ""
}

// leaseName matches the last part of a key that stands in a line, ordered by the revision of its
// creation: etcd's concurrency package names it by the lease, in hexadecimal digits, and stampede's
// driver puts a tilde before a unique suffix.
var leaseName = regexp.MustCompile(`(^|/)([0-9a-f]{12,}|[^/]*~[^/]*)$`)

// markSequential marks the create of a key that stands in a line as sequential.
func markSequential(c calls.Call) calls.Call {
	if c.Mode == drivers.Ephemeral && leaseName.Match(c.Key) {
		c.Mode |= drivers.Sequential
	}
	return c
}

// partsOf returns the operations of a transaction with several.
func partsOf(request proto.Message) (parts []drivers.TxnOp) {
	r, ok := request.(*pb.TxnRequest)
	if !ok || len(r.Success) < 2 {
		return nil
	}
	for _, c := range calls.Parts(r) {
		c = markSequential(c)
		parts = append(parts, drivers.TxnOp{Op: c.Op, Path: c.Key, Mode: c.Mode})
	}
	return parts
}

// seed makes the digests of this process differ from those of others.
var seed = maphash.MakeSeed()

// answer adds what a response says.
func (r *reporter) answer(e *exchange, m *drivers.Message, response proto.Message) {
	if a, ok := response.(interface{ GetHeader() *pb.ResponseHeader }); ok {
		m.Pos = a.GetHeader().GetRevision()
	}
	m.Err = e.call.Err(response)
	switch a := response.(type) {
	case *pb.LeaseGrantResponse:
		r.tap.Session(r.at, traffic.Session{ID: a.ID, Timeout: time.Duration(a.TTL) * time.Second, Lease: true})
	case *pb.MemberListResponse:
		if all := memberAddresses(a); len(all) > 0 {
			r.tap.Members(r.at, all)
		}
	case *pb.RangeResponse:
		m.Digest = digest(a)
	case *pb.TxnResponse:
		m.Parts = e.answeredParts(a)
	}
}

// answeredParts returns the parts of an answered transaction. Which of its conditions failed is not
// known: all parts that write have failed then. Nothing is known of reads if it failed, because
// it executed others.
func (e *exchange) answeredParts(a *pb.TxnResponse) (parts []drivers.TxnOp) {
	for _, p := range e.parts {
		p.Err = calls.Call{Op: p.Op}.Err(a)
		if a.Succeeded || p.Op.IsWrite() {
			parts = append(parts, p)
		}
	}
	return parts
}

// digest is equal for two ranges that returned the same keys and values. The header, which has
// the revision of the whole store, is no part of it.
func digest(a *pb.RangeResponse) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, kv := range a.Kvs {
		h.Write(kv.Key)
		maphash.WriteComparable(&h, kv.ModRevision)
	}
	return h.Sum64()
}
