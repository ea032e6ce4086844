package etcd

import (
	"context"
	"errors"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
)

// fill makes the store of the member full, as a member does that reaches its quota, until the test ends.
func fill(t *testing.T, s *Service) {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: s.config.Endpoints})
	if err != nil {
		t.Fatal(err)
	}
	alarms := pb.NewMaintenanceClient(c.ActiveConnection())
	alarm := func(ctx context.Context, action pb.AlarmRequest_AlarmAction) {
		if _, err := alarms.Alarm(ctx, &pb.AlarmRequest{Action: action, Alarm: pb.AlarmType_NOSPACE}); err != nil {
			t.Fatal(err)
		}
	}
	alarm(t.Context(), pb.AlarmRequest_ACTIVATE)
	t.Cleanup(func() {
		alarm(context.Background(), pb.AlarmRequest_DEACTIVATE)
		c.Close()
	})
}

// TestFullStoreIsCleaned removes nodes from a service whose store is full: by a session of before, and by one that needs no
// lease. Errors of others say how the store gets room.
func TestFullStoreIsCleaned(t *testing.T) {
	s := quick(t)
	earlier := dial(t, s, drivers.Options{})
	for _, path := range []string{"/a", "/a/b", "/a/c", "/e"} {
		create(t, earlier, path, 0)
	}
	fill(t, s)
	const cure = "etcdctl alarm disarm"
	if _, err := s.Dial(t.Context(), drivers.Options{}); err == nil || !strings.Contains(err.Error(), cure) {
		t.Errorf("a session with a lease: %v, want how to clear the alarm", err)
	}
	c := dial(t, s, drivers.Options{NoEphemerals: true})
	if children, err := c.Children(t.Context(), "/a", nil); err != nil || len(children) != 2 {
		t.Errorf("children of /a: %v, %v; want two", children, err)
	}
	for _, call := range []struct {
		on   *Conn
		path string
		want error
	}{
		{c, "/a", drivers.ErrNotEmpty}, {c, "/a/b", nil}, {c, "/a/b", drivers.ErrNoNode}, {earlier, "/a/c", nil}, {c, "/a", nil}, {earlier, "/e", nil},
	} {
		if err := call.on.Delete(t.Context(), call.path, drivers.AnyVersion); !errors.Is(err, call.want) {
			t.Errorf("remove %s: %v, want %v", call.path, err, call.want)
		}
	}
	if _, err := c.Create(t.Context(), "/f", nil, 0); err == nil || !strings.Contains(err.Error(), cure) {
		t.Errorf("create: %v, want how to clear the alarm", err)
	}
	for _, mode := range []drivers.Mode{drivers.Ephemeral, drivers.Sequential} {
		if _, err := c.Create(t.Context(), "/f", nil, mode); !errors.Is(err, drivers.ErrUnsupported) {
			t.Errorf("create in mode %d without a lease: %v, want %v", mode, err, drivers.ErrUnsupported)
		}
	}
	c.tap.cut(c.tap.broke())
	if err := drivers.Repeat(t.Context(), func() error { return c.Sync(t.Context(), "/") }); err != nil {
		t.Errorf("after a reconnect: %v", err)
	}
}
