package backendtest

import (
	"errors"
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
)

// Member returns a native server in this process that is the only member of its ensemble, for this test alone. It
// leads soon.
func Member(t testing.TB) *server.Server {
	t.Helper()
	log, err := raftlog.Open(t.TempDir(), raftlog.Member{ID: 1, Voters: []uint64{1}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(errors.Join(err, log.Close()))
	}
	s, err := server.NewMember(server.Options{}, server.Ensemble{
		ID: 1, Addresses: map[uint64]string{1: l.Addr().String()}, Listener: l, Secret: []byte("sixteen bytes or more"), Log: log})
	if err != nil {
		t.Fatal(errors.Join(err, l.Close(), log.Close()))
	}
	t.Cleanup(func() {
		s.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
