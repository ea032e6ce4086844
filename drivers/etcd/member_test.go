package etcd

import (
	"os"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMemberLeavesNothingBehind(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	e, err := started(t.Context(), 1, NoFsync)
	if err != nil {
		t.Fatal(err)
	}
	if a := e.Addresses()[0]; !strings.HasPrefix(a, "127.0.0.1:") {
		t.Errorf("serves at %s, want the loopback interface only", a)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// The server counts an event for each notification, and reports its version.
func TestWitness(t *testing.T) {
	testenv.SkipIfShort(t)
	e, err := started(t.Context(), 1, NoFsync) // its counts are those of this test
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s := service(t, Config{Endpoints: e.Addresses(), Prefix: "/witness"})
	defer s.Close()
	if got := s.Info().Server; !strings.HasPrefix(got, "etcd 3.") {
		t.Errorf("the server is %q, want its version", got)
	}
	writer, watcher := dial(t, s, drivers.Options{}), dial(t, s, drivers.Options{})
	create(t, writer, "/a", 0)
	if err := s.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		var w drivers.Wait
		if _, _, err := watcher.Get(t.Context(), "/a", w.Fire); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Set(t.Context(), "/a", nil, drivers.AnyVersion); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Counters(t.Context())
	got := all.Sum()
	if err != nil || got.Notifications != 3 || got.Writes != 3 {
		t.Errorf("counted %+v (%v), want 3 notifications and 3 writes", got, err)
	}
}
