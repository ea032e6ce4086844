package misdelivery

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
)

// Etcd returns the address at which clients reach the server through the relay.
func (r *Relay) Etcd(t testing.TB, server string) (address string) {
	t.Helper()
	to, err := grpc.NewClient(server, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{}), grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatal(err)
	}
	l := r.listen(t, server)
	s := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}), grpc.UnknownServiceHandler(
		func(_ any, client grpc.ServerStream) error { return r.call(to, client) }))
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		to.Close()
	})
	return l.Addr().String()
}

// bytesCodec leaves messages encoded.
type bytesCodec struct{}

func (bytesCodec) Name() string                        { return "proto" }
func (bytesCodec) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, message any) error {
	*message.(*[]byte) = slices.Clone(data)
	return nil
}

// call passes on a call, or a stream, until either side ends it.
func (r *Relay) call(to *grpc.ClientConn, client grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(client)
	headers, _ := metadata.FromIncomingContext(client.Context())
	ctx, cancel := context.WithCancel(metadata.NewOutgoingContext(client.Context(), headers))
	defer cancel()
	server, err := to.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		return err
	}
	asked, answered := unchanged, unchanged
	if method == pb.Watch_Watch_FullMethodName {
		line := r.line()
		asked, answered = line.request, line.response
	}
	go func() {
		_ = stream(client, server, asked)
		_ = server.CloseSend()
	}()
	return stream(server, client, answered)
}

func unchanged(message []byte) ([][]byte, error) { return [][]byte{message}, nil }

// stream sends what it receives, as changed returns it.
func stream(from interface{ RecvMsg(any) error }, to interface{ SendMsg(any) error }, changed func([]byte) ([][]byte, error)) error {
	for {
		var message []byte
		err := from.RecvMsg(&message)
		if errors.Is(err, io.EOF) {
			return nil
		}
		var all [][]byte
		if err == nil {
			all, err = changed(message)
		}
		for i := range all {
			err = errors.Join(err, to.SendMsg(&all[i]))
		}
		if err != nil {
			return err
		}
	}
}

// request returns the request that the server gets in place of a client's.
func (l *line) request(message []byte) ([][]byte, error) {
	var r pb.WatchRequest
	if err := proto.Unmarshal(message, &r); err != nil {
		return nil, err
	}
	if c := r.GetCreateRequest(); c != nil && l.relay.forget && l.moved {
		c.StartRevision = 0
	}
	return marshal(&r)
}

// response returns the responses that the client gets in place of the server's: one for each event, as a server may
// send them too.
func (l *line) response(message []byte) ([][]byte, error) {
	var r pb.WatchResponse
	if err := proto.Unmarshal(message, &r); err != nil {
		return nil, err
	}
	if len(r.Events) == 0 {
		all := []proto.Message{&r}
		if r.WatchId == clientv3.InvalidWatchID && !r.Created && !r.Canceled { // progress of all watches
			all = append(all, responses(l.answered())...)
		}
		return marshal(all...)
	}
	var all []proto.Message
	for _, e := range r.Events {
		alone := proto.CloneOf(&r)
		alone.Events = []*mvccpb.Event{e}
		n := Notification{Path: string(e.Kv.Key), Watch: r.WatchId, Event: calls.Change(e), Pos: e.Kv.ModRevision, response: alone}
		all = append(all, responses(l.notified(n))...)
	}
	return marshal(all...)
}

// responses returns the responses with the events of notifications.
func responses(all []Notification) (responses []proto.Message) {
	for _, n := range all {
		r := proto.CloneOf(n.response)
		e := r.Events[0]
		e.Kv.Key, e.Kv.ModRevision = []byte(n.Path), n.Pos
		if n.Event == drivers.Deleted {
			e.Type = mvccpb.Event_DELETE
		}
		responses = append(responses, r)
	}
	return responses
}

func marshal(messages ...proto.Message) (all [][]byte, err error) {
	for _, m := range messages {
		encoded, err := proto.Marshal(m)
		if err != nil {
			return nil, err
		}
		all = append(all, encoded)
	}
	return all, nil
}
