package etcd

import (
	"context"
	"math"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

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
	below := c.keys.Below(q.path)
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
