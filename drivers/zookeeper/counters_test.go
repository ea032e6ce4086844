package zookeeper

import (
	"errors"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestCounters(t *testing.T) {
	testenv.SkipIfShort(t)
	f := onOwn(t)
	a, b := f.dial(t, drivers.Options{}), f.dial(t, drivers.Options{})
	if err := f.Reset(f.ctx); err != nil {
		t.Fatal(err)
	}
	ra, rb := newRecorder(), newRecorder()
	_, _, err1 := a.Get(f.ctx, f.root, ra.watch)
	_, _, err2 := b.Get(f.ctx, f.root, rb.watch)
	_, err3 := a.Set(f.ctx, f.root, nil, drivers.AnyVersion)
	_, err4 := a.Set(f.ctx, f.root, nil, 77)
	if err := errors.Join(err1, err2, err3); err != nil || !errors.Is(err4, drivers.ErrBadVersion) {
		t.Fatal(err, err4)
	}
	all, err := f.Counters(f.ctx)
	got := all.Sum()
	want := drivers.Counters{Notifications: 2, LargestFanout: 2, Writes: 2, Reads: got.Reads, Fsyncs: got.Fsyncs, OurTerms: true}
	if err != nil || got != want || got.Reads < 2 || got.Fsyncs == nil || got.Fsyncs.Count < 1 {
		t.Errorf("counters %+v, %v; want %+v with 2 reads or, with pings, more", got, err, want)
	}
}

func TestInfo(t *testing.T) {
	f := onLocal(t)
	got := f.Info()
	if !strings.HasPrefix(got.Server, "ZooKeeper 3.") || strings.ContainsAny(got.Server, "-,") {
		t.Errorf("server %q, want product and version", got.Server)
	}
	got.Server = ""
	want := drivers.Info{Name: "zookeeper", URL: "zookeeper://" + f.address, Durability: "unknown", Client: "go-zookeeper", Reads: "local", Servers: 1}
	if got != want {
		t.Errorf("info %+v, want %+v", got, want)
	}
}
