package etcd

import (
	"cmp"
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
	method  string       // "/etcdserverpb.KV/Range", or "" for one that is not decoded
	call    calls.Call   // of a unary call, or the heartbeat
	parts   []calls.Call // of a transaction with several operations, or with reads; those of both branches
	waiting bool         // it has no answer yet
	alone   bool         // it takes the whole connection
	content uint64       // by which the gateway's own call is told, 0 if it is not expected
	begun   bool         // its first message has come
	own     bool         // it is the gateway's own
	watches watches
}

// size returns how many bytes are kept of what the exchange asked for.
func (e *exchange) size() int {
	n := len(e.call.Key) + e.watches.size() + len(e.parts)*int(unsafe.Sizeof(calls.Call{}))
	for _, p := range e.parts {
		n += len(p.Key)
	}
	return n
}

// watches are the watches of one stream.
type watches struct {
	creating []watch         // requested and not confirmed; the server confirms in order
	standing map[int64]watch // those that were confirmed, by the numbers that the server gave them
	keys     int             // bytes of the keys of all
}

// size returns how many bytes are kept.
func (w *watches) size() int {
	return w.keys + (len(w.creating)+len(w.standing))*int(unsafe.Sizeof(watch{}))
}

// A watch covers one key, or all keys of a range.
type watch struct {
	op     drivers.Op
	key    []byte
	number int // see drivers.Message; 0 until the server has confirmed it
}

// maxCreating is how many watches of a stream are kept. At the first one beyond it the connection is
// given up: the replies could not be told apart.
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
	watches     int                     // that were confirmed
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
			e.call = markSequential(ephemeral(calls.Classify(q), q))
			e.parts, missing = partsOf(q)
			r.uses(q)
		}
	}
	e.waiting = true
	m.Op, m.Path, m.Mode = e.call.Op, e.call.Key, e.call.Mode
	for _, c := range e.several() {
		m.Parts = append(m.Parts, operation(c))
	}
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
			if nested := op.GetRequestTxn(); nested != nil {
				r.uses(nested)
			}
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
			missing = r.answer(e, &m, a)
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
	e.watches.creating = nil
}

// ends reports the end of the watches of a stream that has ended.
func (r *reporter) ends(e *exchange) {
	for _, id := range slices.Sorted(maps.Keys(e.watches.standing)) {
		m := drivers.Message{Kind: drivers.Reply}
		e.watches.standing[id].ends(&m)
		r.tell(m)
	}
	e.watches = watches{}
}

// ends makes a message the one that ends the watch.
func (w watch) ends(m *drivers.Message) {
	m.Op, m.Path, m.Watch, m.Number, m.Removes = drivers.OpUnwatch, w.key, true, w.number, drivers.NodeWatch
	if w.op == drivers.OpWatchTree {
		m.Removes = drivers.TreeWatch
	}
}

// watchRequest reports a message of the client on a stream of watches.
func (r *reporter) watchRequest(e *exchange, m drivers.Message, t text) (missing traffic.Cause) {
	q := new(pb.WatchRequest)
	missing = t.parse(q)
	if c := q.GetCreateRequest(); c != nil && missing == "" {
		w := watch{op: drivers.OpWatchNode, key: calls.Covering(c.Key, c.RangeEnd)}
		switch {
		case len(c.RangeEnd) > 0:
			w.op = drivers.OpWatchTree
		case len(w.key) == 0:
			w.key = []byte{0} // as the server takes it
		}
		if len(e.watches.creating)+len(e.watches.standing) >= maxCreating {
			r.undecodable = traffic.BeyondLimit
			return r.undecodable
		}
		e.watches.creating = append(e.watches.creating, w)
		e.watches.keys += len(w.key)
		m.Op, m.Path, m.Watch, m.Alone, m.Pos = w.op, w.key, true, e.alone, c.StartRevision
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
	w, standing := e.watches.standing[a.WatchId]
	of := w.number
	switch {
	case a.Created && len(e.watches.creating) > 0:
		w, e.watches.creating = e.watches.creating[0], e.watches.creating[1:]
		r.watches++
		w.number = r.watches
		if m.Op, m.Path, m.Watch, m.Number = w.op, w.key, true, w.number; a.Canceled {
			m.Err = drivers.ErrUnsupported // it was refused
			e.watches.keys -= len(w.key)
			break
		}
		if e.watches.standing == nil {
			e.watches.standing = map[int64]watch{}
		}
		e.watches.standing[a.WatchId] = w
	case a.Canceled && standing:
		delete(e.watches.standing, a.WatchId)
		e.watches.keys -= len(w.key)
		if w.ends(&m); a.CompactRevision > 0 {
			m.Err = drivers.ErrUnsupported
		}
	}
	if len(a.Events) == 0 {
		r.tell(m)
		return ""
	}
	for _, event := range a.Events {
		r.tell(drivers.Message{
			Kind: drivers.Notification, Event: calls.Change(event), Path: event.GetKv().GetKey(),
			Pos: event.GetKv().GetModRevision(), Size: m.Size, Number: of,
		})
		m.Size = 0 // all came in one message
	}
	return ""
}

// leaseName matches the last part of a key that stands in a line, ordered by the revision of its
// creation: etcd's concurrency package names it by the lease, in hexadecimal digits, and stampede's
// driver puts a tilde before a unique suffix.
var leaseName = regexp.MustCompile(`(^|/)([0-9a-f]{12,}|[^/]*~[^/]*)$`)

// ephemeral gives a put with a lease the mode of the key that it creates if there is none.
func ephemeral(c calls.Call, request proto.Message) calls.Call {
	if put, ok := request.(*pb.PutRequest); ok && put.Lease != 0 {
		c.Mode = drivers.Ephemeral
	}
	return c
}

// markSequential marks the create of a key that stands in a line as sequential.
func markSequential(c calls.Call) calls.Call {
	if c.Mode == drivers.Ephemeral && leaseName.Match(c.Key) {
		c.Mode |= drivers.Sequential
	}
	return c
}

// partsOf returns the operations of a transaction that has several or reads. It returns why they are not known, "" if
// they are.
func partsOf(request proto.Message) (parts []calls.Call, missing traffic.Cause) {
	r, ok := request.(*pb.TxnRequest)
	if !ok {
		return nil, ""
	}
	parts, ok = calls.Operations(r)
	if !ok {
		return nil, traffic.BeyondLimit
	}
	parts = slices.DeleteFunc(parts, func(c calls.Call) bool { return c.Otherwise() && !c.Op.IsRead() })
	if len(parts) == 1 && parts[0].Op.IsWrite() {
		return nil, ""
	}
	for i, c := range parts {
		parts[i] = markSequential(c)
	}
	return parts, ""
}

// several returns the operations that a transaction executes if its conditions hold, none if it is a single one.
func (e *exchange) several() []calls.Call {
	all := slices.DeleteFunc(slices.Clone(e.parts), calls.Call.Otherwise)
	if len(all) < 2 {
		return nil
	}
	return all
}

// operation returns an operation of a transaction as it is reported.
func operation(c calls.Call) drivers.TxnOp { return drivers.TxnOp{Op: c.Op, Path: c.Key, Mode: c.Mode} }

// seed makes the digests of this process differ from those of others.
var seed = maphash.MakeSeed()

// answer adds what a response says. It returns why the report does not have all of it, "" if it does.
func (r *reporter) answer(e *exchange, m *drivers.Message, response proto.Message) (missing traffic.Cause) {
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
		if m.Digest = digest(a); e.call.At > 0 {
			m.Pos = e.call.At
		}
		m.Shown = sights(m.Pos, a, e.call)
	case *pb.TxnResponse:
		m.Parts, m.Shown = e.answeredParts(a), sights(m.Pos, a, e.parts...)
		if slices.ContainsFunc(m.Parts, func(p drivers.TxnOp) bool { return p.Op.IsWrite() && p.Err == nil }) {
			m.Err = nil // it has written, though a transaction nested in it has not
		}
		if calls.WroteOtherwise(a) {
			return traffic.Otherwise
		}
	}
	return ""
}

// answeredParts returns the parts of an answered transaction. Which of its conditions failed is not
// known: all parts that write have failed then. Nothing is known of reads if it failed, because
// it executed others.
func (e *exchange) answeredParts(a *pb.TxnResponse) (parts []drivers.TxnOp) {
	for _, c := range e.several() {
		if c.Op.IsWrite() || c.Executed(a) {
			p := operation(c)
			p.Err = c.Err(a)
			parts = append(parts, p)
		}
	}
	return parts
}

// sights returns what an answer at a position shows by the reads that were executed.
func sights(pos int64, answer proto.Message, reads ...calls.Call) (all []drivers.Sight) {
	for _, c := range reads {
		if s, shows := c.Sight(answer); shows {
			s.Pos = cmp.Or(s.Pos, pos)
			all = append(all, s)
		}
	}
	return all
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
