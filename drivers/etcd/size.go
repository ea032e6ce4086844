package etcd

import (
	"context"

	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/proto"
)

// header is what gRPC puts before a message.
const header = 5

// size is that of a message on its way out.
func size(message any) int {
	m, ok := message.(proto.Message)
	if !ok {
		return header
	}
	return header + proto.Size(m)
}

// An arrival is how large the last message was that came in on a call or on a
// stream. gRPC knows, so that long answers need not be measured once more.
type arrival struct{ size int }

type arrivalKey struct{}

// on has it filled in by what comes in under the context.
func (a *arrival) on(ctx context.Context) context.Context {
	return context.WithValue(ctx, arrivalKey{}, a)
}

// arrivals is what gRPC tells of them, before it hands on the message.
type arrivals struct{}

// HandleRPC takes note of the size of a message that came in.
func (arrivals) HandleRPC(ctx context.Context, s stats.RPCStats) {
	in, ok := s.(*stats.InPayload)
	if !ok {
		return
	}
	if a, ok := ctx.Value(arrivalKey{}).(*arrival); ok {
		a.size = in.WireLength
	}
}

// TagRPC, TagConn and HandleConn have nothing to do.
func (arrivals) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (arrivals) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (arrivals) HandleConn(context.Context, stats.ConnStats)                       {}
