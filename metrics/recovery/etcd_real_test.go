package recovery_test

import (
	"context"
	"net"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/recovery"
)

func newEtcdClient(t *testing.T, address string, o ...grpc.DialOption) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialOptions: o, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestRealClientOfEtcd breaks the connection of a client, which watches again by itself, and then ends its lease, whose
// key it does not put again.
func TestRealClientOfEtcd(t *testing.T) {
	testenv.SkipIfShort(t)
	ctx := context.Background()
	prefix := "/" + t.Name() + "/"
	s := behind(t, backendtest.SharedEtcd(t), etcd.Protocol(), recovery.New("etcd"))
	admin := newEtcdClient(t, s.direct)
	c := newEtcdClient(t, s.proxy.Addresses()[0], grpc.WithContextDialer(func(_ context.Context, address string) (net.Conn, error) {
		return s.dial("tcp", address, 0)
	}))
	lease, err := c.Grant(ctx, 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Put(ctx, prefix+"a", "", clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	events := c.Watch(ctx, prefix+"config", clientv3.WithCreatedNotify())
	<-events
	s.fault(recovery.Disconnected, false)
	if _, err := admin.Put(ctx, prefix+"config", "new"); err != nil {
		t.Fatal(err)
	}
	for r := range events {
		if len(r.Events) > 0 {
			break
		}
	}
	if _, err := c.Put(ctx, prefix+"a", "again", clientv3.WithLease(lease.ID)); err != nil { // by another connection
		t.Fatal(err)
	}
	s.proxy.Flush()
	s.a.Fault(recovery.Fault{At: time.Now(), What: "test", Kind: recovery.Expired})
	if _, err := admin.Revoke(ctx, lease.ID); err != nil {
		t.Fatal(err)
	}
	s.proxy.Flush()
	s.a.Advance(time.Now())
	r := s.a.Report()
	if len(r.Outcomes) != 2 {
		t.Fatalf("%d outcomes, want 2", len(r.Outcomes))
	}
	if o := r.Outcomes[0]; o.Verdict != recovery.Recovers || o.Sessions != 1 || o.Resumed != 1 || o.Nodes.Back != 1 || o.Watches.Back != 1 {
		t.Errorf("after the connection broke, got %+v", o)
	}
	if o := r.Outcomes[1]; o.Verdict != recovery.RecoversPartly || o.Kept != 1 || o.Nodes.Had != 1 || o.Nodes.Back != 0 || o.Watches.Back != 1 {
		t.Errorf("after the lease expired, got %+v", o)
	}
}

// TestRealClientOfEtcdEndsItsWatch has a client end its only watch, and so its stream: before the fault there is none then.
// One that stops after the fault ends its watch in the same way, just before its connection: the program, which has another
// client, has not recovered.
func TestRealClientOfEtcdEndsItsWatch(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, stops := range []bool{false, true} {
		t.Run(map[bool]string{false: "before the fault", true: "as it stops"}[stops], func(t *testing.T) {
			o := &endings{Analysis: recovery.New("etcd"), watch: make(chan struct{}, 1), connection: make(chan struct{}, 2)}
			p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: backendtest.SharedEtcd(t)}}, proxy.Options{Protocol: etcd.Protocol(), Observer: o})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			c, other := newEtcdClient(t, p.Addresses()[0]), newEtcdClient(t, p.Addresses()[0])
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			<-c.Watch(ctx, "/"+t.Name(), clientv3.WithCreatedNotify())
			if _, err := other.Get(ctx, "/other"); err != nil {
				t.Fatal(err)
			}
			p.Flush()
			if !stops {
				cancel()
				<-o.watch
			}
			o.Fault(recovery.Fault{At: time.Now(), What: "test", Kind: recovery.Disconnected})
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			<-o.connection
			o.Advance(time.Now().Add(time.Minute))
			got := o.Report().Outcomes[0]
			if want := map[bool]recovery.Verdict{false: recovery.NotApplicable, true: recovery.NotRecovered}[stops]; got.Verdict != want {
				t.Errorf("the client %s, with %d of %d watches back; want %s", got.Verdict, got.Watches.Back, got.Watches.Had, want)
			}
		})
	}
}

// An endings tells when a watch and when a connection has ended.
type endings struct {
	*recovery.Analysis
	watch, connection chan struct{}
}

func (e *endings) Open(c traffic.Connection) traffic.Tap {
	t := e.Analysis.Open(c)
	t.Owner(traffic.Process{ID: 1, Name: "program"})
	return endingTap{t, e}
}

type endingTap struct {
	traffic.Tap
	of *endings
}

func (t endingTap) Message(at time.Time, m drivers.Message) {
	t.Tap.Message(at, m)
	if m.Op == drivers.OpUnwatch {
		t.of.watch <- struct{}{}
	}
}

func (t endingTap) Close(at time.Time) {
	t.Tap.Close(at)
	t.of.connection <- struct{}{}
}
