package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/stampede-bench/stampede/drivers"
)

// A teller tells of which cluster it is and which lease it keeps. A mute one knows neither request.
type teller struct {
	pb.UnimplementedMaintenanceServer
	pb.UnimplementedLeaseServer
	cluster, member uint64
	lease           int64
	mute, secret    bool
}

func (m *teller) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	if m.mute {
		return nil, status.Error(codes.Unimplemented, "unknown service")
	}
	return &pb.StatusResponse{Header: &pb.ResponseHeader{ClusterId: m.cluster, MemberId: m.member}}, nil
}

func (m *teller) LeaseGrant(context.Context, *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error) {
	if m.lease == 0 {
		return nil, rpctypes.ErrGRPCNoSpace // as a full store answers
	}
	return &pb.LeaseGrantResponse{Header: &pb.ResponseHeader{}, ID: m.lease, TTL: 9}, nil
}

func (m *teller) LeaseRevoke(context.Context, *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error) {
	return &pb.LeaseRevokeResponse{Header: &pb.ResponseHeader{}}, nil
}

func (m *teller) LeaseTimeToLive(_ context.Context, r *pb.LeaseTimeToLiveRequest) (*pb.LeaseTimeToLiveResponse, error) {
	switch {
	case m.secret:
		return nil, rpctypes.ErrGRPCPermissionDenied
	case r.ID != m.lease:
		return &pb.LeaseTimeToLiveResponse{Header: &pb.ResponseHeader{}, ID: r.ID, TTL: -1}, nil // as a member answers
	}
	return &pb.LeaseTimeToLiveResponse{Header: &pb.ResponseHeader{}, ID: r.ID, TTL: 9}, nil
}

// TestTwoClustersAreNoService gives endpoints of one cluster and of two, which may have the same id, some of which tell
// nothing.
func TestTwoClustersAreNoService(t *testing.T) {
	const known = 7
	for name, c := range map[string]struct {
		of   []*teller
		want string
	}{
		"one":            {[]*teller{{cluster: 1, member: 1, lease: known}, {cluster: 1, member: 2, lease: known}}, ""},
		"one member":     {[]*teller{{cluster: 1, member: 1, lease: known}, {cluster: 1, member: 1, lease: known}}, ""},
		"two":            {[]*teller{{cluster: 1, lease: known}, {cluster: 0xab}}, "%s is of cluster 1, and %s of cluster ab"},
		"two defaults":   {[]*teller{{cluster: 1, lease: known}, {cluster: 1}}, "%[2]s does not know a lease that %[1]s has granted"},
		"one is mute":    {[]*teller{{cluster: 1, lease: known}, {mute: true}}, ""},
		"one may not":    {[]*teller{{cluster: 1, lease: known}, {cluster: 1, secret: true}}, ""},
		"two and secret": {[]*teller{{cluster: 1, secret: true}, {cluster: 2, secret: true}}, "%s is of cluster 1, and %s of cluster 2"},
	} {
		t.Run(name, func(t *testing.T) {
			var endpoints []string
			for _, m := range c.of {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				server := grpc.NewServer()
				pb.RegisterMaintenanceServer(server, m)
				pb.RegisterLeaseServer(server, m)
				go server.Serve(l)
				defer server.Stop()
				endpoints = append(endpoints, l.Addr().String())
			}
			for _, id := range []int64{known, 0} { // with a lease, and without one, as the session that cleans
				s := service(t, Config{Endpoints: endpoints})
				library, err := s.direct(t.Context(), endpoints[0])
				if err != nil {
					t.Fatal(err)
				}
				defer library.Close()
				session := &Conn{lease: lease{id: id}, library: library}
				err = s.together(t.Context(), session)
				switch {
				case c.want == "" && err != nil:
					t.Errorf("lease %d: %v", id, err)
				case c.want == "":
				case !errors.Is(err, drivers.ErrNotOneService) || !strings.Contains(err.Error(), fmt.Sprintf(c.want, endpoints[0], endpoints[1])):
					t.Errorf("lease %d: %v, want %q", id, err, c.want)
				}
				if again := s.together(t.Context(), session); again != nil {
					t.Errorf("lease %d: it asks again: %v", id, again)
				}
			}
		})
	}
}

// TestErrorsAreInWords goes over all codes of gRPC: no message has its words, and what an error is remains.
func TestErrorsAreInWords(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		raw := status.Error(code, "its reason")
		for _, err := range []error{raw, fmt.Errorf("status: %w", raw)} {
			for _, said := range []error{plain(err), failed("create", "/a", err), reason(err)} {
				if strings.Contains(said.Error(), "rpc error") || strings.Contains(said.Error(), "desc =") || said.Error() == "" {
					t.Errorf("%v: %v", code, said)
				}
				if !errors.Is(said, raw) || status.Code(errors.Unwrap(plain(raw))) != code {
					t.Errorf("%v is no longer what it was", said)
				}
			}
		}
	}
	if err := plain(rpctypes.ErrNoSpace); err != error(rpctypes.ErrNoSpace) {
		t.Errorf("the library's own words: %v", err)
	}
}
