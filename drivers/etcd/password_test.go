package etcd

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"

	"github.com/stampede-bench/stampede/internal/bubble"
)

// TestThePasswordIsCheckedOnceForAllSessions asks for many checks, as many sessions do for themselves and for their
// streams. The service makes one, and another when the token is old or no longer valid.
func TestThePasswordIsCheckedOnceForAllSessions(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, checks := newPassword(), 0
		check := func() (token string, err error) {
			var reply pb.AuthenticateResponse
			err = p.unary(t.Context(), "", &pb.AuthenticateRequest{}, &reply, nil,
				func(_ context.Context, _ string, _, reply any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
					time.Sleep(70 * time.Millisecond)
					checks++
					reply.(*pb.AuthenticateResponse).Token = strconv.Itoa(checks)
					return nil
				})
			return reply.Token, err
		}
		call := func(took time.Duration, fails error) {
			err := p.unary(t.Context(), "", &pb.TxnRequest{}, &pb.TxnResponse{}, nil,
				func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
					time.Sleep(took)
					return fails
				})
			if !errors.Is(err, fails) {
				t.Errorf("a call returns %v, want %v", err, fails)
			}
		}
		want := func(when, token string) {
			t.Helper()
			var all sync.WaitGroup
			for range 200 {
				all.Go(func() {
					if got, err := check(); got != token || err != nil {
						t.Errorf("%s: token %s, %v; want %s", when, got, err, token)
					}
				})
			}
			all.Wait()
		}
		want("at first", "1")
		call(0, nil)
		call(0, rpctypes.ErrGRPCNoSpace)
		want("after calls", "1")
		time.Sleep(tokenTime + time.Second)
		want("later", "2")
		time.Sleep(time.Second)
		var late sync.WaitGroup
		late.Go(func() { call(2*time.Second, rpctypes.ErrGRPCInvalidAuthToken) }) // of before the next check
		synctest.Wait()
		time.Sleep(time.Second)
		call(0, rpctypes.ErrGRPCInvalidAuthToken)
		want("after the service has refused the token", "3")
		late.Wait()
		want("after it has refused an older one", "3")
	})
}
