package etcd

import (
	"context"
	"errors"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
)

// A password is that of the service's user. The library asks the service to check it for each session and again for each
// stream, which takes the service as long as some hundred writes. A token that the service has given for it is valid for
// all sessions, so that one check is enough for all of them for a while.
type password struct {
	checks chan struct{} // holds a value while the service is asked

	mu     sync.Mutex
	answer *pb.AuthenticateResponse // nil: ask the service
	at     time.Time                // when it was asked
}

func newPassword() *password { return &password{checks: make(chan struct{}, 1)} }

// tokenTime is how long a token is used for further streams. The service keeps it for five minutes by default.
const tokenTime = 30 * time.Second

// unary is an interceptor that answers the library's requests for a check, and learns from other calls when a token is no
// longer valid.
func (p *password) unary(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	checked, ok := reply.(*pb.AuthenticateResponse)
	if !ok {
		began := time.Now()
		err := invoke(ctx, method, request, reply, cc, opts...)
		if refusesToken(err) {
			p.forget(began)
		}
		return err
	}
	select {
	case p.checks <- struct{}{}:
		defer func() { <-p.checks }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if known := p.known(); known != nil {
		checked.Header, checked.Token = known.Header, known.Token
		return nil
	}
	asked := time.Now()
	err := invoke(ctx, method, request, reply, cc, opts...)
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.answer, p.at = &pb.AuthenticateResponse{Header: checked.Header, Token: checked.Token}, asked
	}
	return err
}

// known returns what the service has answered, nil if it is to be asked.
func (p *password) known() *pb.AuthenticateResponse {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.at) > tokenTime {
		return nil
	}
	return p.answer
}

// forget takes note that a call that began at that time had a token that is not valid. A token that is newer may be.
func (p *password) forget(began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.Before(began) {
		p.answer = nil
	}
}

// refusesToken reports whether the service asks for another token: it has restarted, or its users have changed.
func refusesToken(err error) bool {
	if err == nil {
		return false
	}
	err = rpctypes.Error(err)
	return errors.Is(err, rpctypes.ErrInvalidAuthToken) || errors.Is(err, rpctypes.ErrAuthOldRevision) || errors.Is(err, rpctypes.ErrUserEmpty)
}
