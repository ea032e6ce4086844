package etcd

import (
	"context"
	"math"
	"path"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

// A query is one call of the contract: one read of a range, or one transaction.
type query struct {
	op   drivers.Op
	path string
	name []byte // the path, for the probe
	made string // the node that a Create makes; its name may be longer than in path
	mode drivers.Mode
	sets []drivers.TxnOp // of a transaction of several

	one         *pb.RangeRequest // the read; nil for a transaction
	when        []clientv3.Cmp
	then, other []clientv3.Op
	needed      bool // the read fails unless it shows a node
	// judge returns the contract's error for the answer; nil if the answer is always a
	// success.
	judge func(*pb.TxnResponse) error
	// watch is what the read arms, or nil.
	watch *watch
	below int // length of the part of a child's key before its name, if the query lists
	// upTo, if not 0, limits the first attempt at a list: see [Conn.list].
	upTo int64

	version  int64 // of the session's key when a write was sent
	repeated bool  // sent again, because the watch began after the read
	verdict  error // of the last answer
	seen     sight
	node     *mvccpb.KeyValue // from the read of one range, or nil
	children []drivers.Child
}

// A sight is what a read showed of a node.
type sight struct {
	revision int64
	found    bool
	children int // number of children listed
}

type queryKey struct{}

// attach attaches the query to the context, for the tap beneath the library.
func (q *query) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, queryKey{}, q)
}

func queryOf(ctx context.Context) *query {
	q, _ := ctx.Value(queryKey{}).(*query)
	return q
}

// message returns the request, as far as it is known before it is sent. A call is one request
// in the terms of the contract, however often it is repeated.
func (q *query) message() drivers.Message {
	q.name = append(q.name[:0], q.path...)
	m := drivers.Message{Op: q.op, Path: q.name, Watch: q.watch != nil, Mode: q.mode}
	if q.sets != nil {
		m.Path, m.Parts = nil, q.sets
	}
	if q.repeated {
		m.Op = drivers.OpOther
	}
	return m
}

// answer returns the reply. The reply to a read that has to be repeated does not count as the
// reply to the call.
func (q *query) answer(reply any) drivers.Message {
	m := drivers.Message{Op: q.op, Path: q.name, Watch: q.watch != nil, Mode: q.mode}
	if r, ok := reply.(interface{ GetHeader() *pb.ResponseHeader }); ok {
		m.Pos = r.GetHeader().GetRevision()
	}
	if q.see(reply) || q.watch != nil && q.watch.in.missed(q.watch, q.seen) {
		q.repeated = true
		m.Op = drivers.OpOther
		return m
	}
	q.repeated = false
	if q.sets != nil {
		m.Path, m.Parts = nil, q.sets
	}
	if q.verdict != nil {
		m.Err = wireError(sentinel(q.verdict))
	} else if q.made != "" {
		m.Path = []byte(q.made)
	}
	return m
}

// joined returns the list that was part of the transaction of a Join, if it was.
func (q *query) joined() (list drivers.Message, ok bool) {
	return drivers.Message{Op: drivers.OpChildren, Path: []byte(path.Dir(q.path)), Pos: q.seen.revision},
		q.op == drivers.OpCreate && q.children != nil
}

// see records what was read. It returns whether the read leaves something open: a plain list
// that shows no children, whether the node exists; a list of neighbors with a child that is
// not sequential, which sequential child is right before it.
func (q *query) see(reply any) (open bool) {
	switch r := reply.(type) {
	case *listing:
		q.children = r.children
		q.seen = sight{r.revision, true, len(r.children)}
		return len(r.children) == 0 || short(r.children, r.more)
	case *pb.RangeResponse:
		q.node, q.verdict = nil, nil
		if len(r.Kvs) > 0 {
			q.node = r.Kvs[0]
		} else if q.needed {
			q.verdict = drivers.ErrNoNode
		}
		q.seen = sight{r.Header.GetRevision(), q.verdict == nil, 0}
	case *pb.TxnResponse:
		if q.judge != nil {
			q.verdict = q.judge(r)
		}
		q.seen = sight{r.Header.GetRevision(), q.verdict == nil, 0}
		if q.below > 0 && r.Succeeded {
			q.children = children(r, q.below)
			q.seen.children = len(q.children)
			if q.op == drivers.OpCreate && short(q.children, r.Responses[1].GetResponseRange().GetMore()) {
				q.children = nil
			}
		}
	}
	return false
}

// short reports whether a list of neighbors may lack one, because it has a child that is not
// sequential, and there are more.
func short(neighbors []drivers.Child, more bool) bool {
	return more && slices.ContainsFunc(neighbors, func(c drivers.Child) bool { return c.Seq == drivers.NoSeq })
}

// header is the number of bytes that gRPC puts before a message.
const header = 5

// size returns the size of a message on the wire.
func size(message any) int {
	switch m := message.(type) {
	case proto.Message:
		return header + proto.Size(m)
	case *listing:
		return header + m.size
	}
	return header
}

// A listing is the answer to a read of a range of keys: the children of a node. Recipes list
// often, and a queue of clients is long, so a listing is parsed directly from the wire,
// without a message for every key and its metadata.
type listing struct {
	below    int // length of the part of a key before the name
	size     int // of the answer, in bytes
	revision int64
	more     bool // there are more children than the request asked for
	children []drivers.Child
}

// GetHeader returns the header as the library's answers do, with the revision only.
func (l *listing) GetHeader() *pb.ResponseHeader { return &pb.ResponseHeader{Revision: l.revision} }

// list reads the keys of a node's children: of all, or of the last two that were created up to
// a revision.
func (c *Conn) list(ctx context.Context, q *query) error {
	below := c.keys.ChildPrefix(q.path)
	request := &pb.RangeRequest{Key: []byte(below), RangeEnd: []byte(clientv3.GetPrefixRangeEnd(below)),
		KeysOnly: true, Serializable: c.atHand(q)}
	if q.upTo > 0 {
		request.MaxCreateRevision, request.Limit = q.upTo, 2
		request.SortTarget, request.SortOrder = pb.RangeRequest_CREATE, pb.RangeRequest_DESCEND
	}
	return c.library.ActiveConnection().Invoke(ctx, pb.KV_Range_FullMethodName, request, &listing{below: len(below)},
		grpc.ForceCodecV2(listingCodec{}), grpc.MaxCallRecvMsgSize(math.MaxInt32))
}

// A listingCodec reads listings.
type listingCodec struct{}

func (listingCodec) Name() string { return "proto" }

func (listingCodec) Marshal(request any) (mem.BufferSlice, error) {
	b, err := proto.Marshal(request.(proto.Message))
	return mem.BufferSlice{mem.SliceBuffer(b)}, err
}

func (listingCodec) Unmarshal(data mem.BufferSlice, reply any) error {
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	l := reply.(*listing)
	l.size = whole.Len()
	return l.parse(whole.ReadOnlyData())
}

// Fields of a RangeResponse, its ResponseHeader and its KeyValues that parse reads.
const (
	fieldHeader   = 1
	fieldRevision = 3

	fieldKVs     = 2
	fieldKey     = 1
	fieldCreated = 2

	fieldMore = 3
)

// parse reads a RangeResponse. The names share one string, which is separate from the whole
// answer: a caller that keeps one name keeps all names in memory, but not the answer.
func (l *listing) parse(response []byte) error {
	var names strings.Builder
	var ends []int
	err := fields(response, func(field protowire.Number, n uint64, message []byte) error {
		switch field {
		case fieldMore:
			l.more = n != 0
		case fieldHeader:
			return fields(message, func(field protowire.Number, n uint64, _ []byte) error {
				if field == fieldRevision {
					l.revision = int64(n)
				}
				return nil
			})
		case fieldKVs:
			created, err := l.parseKey(message, &names)
			ends = append(ends, names.Len())
			l.children = append(l.children, drivers.Child{Seq: created})
			return err
		}
		return nil
	})
	l.name(names.String(), ends)
	return err
}

func (l *listing) parseKey(kv []byte, names *strings.Builder) (created int64, err error) {
	err = fields(kv, func(field protowire.Number, n uint64, b []byte) error {
		switch field {
		case fieldKey:
			names.Write(b[min(l.below, len(b)):])
		case fieldCreated:
			created = int64(n)
		}
		return nil
	})
	return created, err
}

// name sets the children's names, given their ends in the string of all names.
func (l *listing) name(names string, ends []int) {
	begin := 0
	for i, end := range ends {
		l.children[i] = keys.Child(names[begin:end], l.children[i].Seq)
		begin = end
	}
}

// fields calls each for a message's fields: with the number, or with the bytes.
func fields(message []byte, each func(field protowire.Number, n uint64, b []byte) error) error {
	for len(message) > 0 {
		field, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		var n uint64
		var b []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			b, size = protowire.ConsumeBytes(message)
		default:
			size = protowire.ConsumeFieldValue(field, kind, message)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		message = message[size:]
		if err := each(field, n, b); err != nil {
			return err
		}
	}
	return nil
}
