package etcd

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/keys"
)

// put returns the event of a put, which creates the key if first is set.
func put(key string, revision int64, first bool) *mvccpb.Event {
	kv := &mvccpb.KeyValue{Key: []byte(key), ModRevision: revision, CreateRevision: revision}
	if !first {
		kv.CreateRevision--
	}
	return &mvccpb.Event{Kv: kv}
}

// A persistent watch covers its node, its node's children or its tree, and no key that only
// has the same prefix.
func TestPersistentWatchesCover(t *testing.T) {
	k := keys.Space("/p")
	for _, c := range []struct {
		op              drivers.Op
		path, at        string
		created, change string // the event delivered, "" for none
	}{
		{drivers.OpWatchNode, "/a", "/a", "created /a", "data changed /a"},
		{drivers.OpWatchNode, "/a", "/a/b", "children changed /a", ""},
		{drivers.OpWatchNode, "/", "/a", "children changed /", ""},
		{drivers.OpWatchTree, "/a", "/a", "created /a", "data changed /a"},
		{drivers.OpWatchTree, "/a", "/a/b/c/d/e/f/g/h/i/j", "created /a/b/c/d/e/f/g/h/i/j", "data changed /a/b/c/d/e/f/g/h/i/j"},
		{drivers.OpWatchTree, "/a", "/ab", "", ""},
		{drivers.OpWatchTree, "/a/b", "/a", "", ""},
		{drivers.OpWatchTree, "/", "/a/b", "created /a/b", "data changed /a/b"},
	} {
		p := &persistent{op: c.op, path: c.path}
		for first, want := range map[bool]string{true: c.created, false: c.change} {
			got := ""
			if e, covered := p.event(k, put(k.Node(c.at), 7, first)); covered {
				got = fmt.Sprint(e.Type, " ", e.Path)
			}
			if got != want {
				t.Errorf("%v %s: told %q of a put of %s, want %q", c.op, c.path, got, c.at, want)
			}
		}
	}
}

// The range of all nodes' keys contains those of every depth, and none of sessions.
func TestNodesAreOneRange(t *testing.T) {
	k := keys.Space("/p")
	from, end := k.Nodes()
	for key, want := range map[string]bool{
		k.Node("/a"): true, k.Node("/a/b/c/d/e/f/g/h/i/j/k"): true, k.Session(17): false, "/q/1/a": false,
	} {
		if got := from <= key && key < end; got != want {
			t.Errorf("%s is in the range of the nodes' keys: %v, want %v", key, got, want)
		}
	}
}

// hearing returns a watch armed on /a with both parts confirmed, the second at revision 10.
func hearing(told *[]string) (*watcher, *persistent) {
	s := newWatcher(&tap{}, "/p")
	p := &persistent{op: drivers.OpWatchNode, path: "/a", ids: []int64{1, 2}, decided: make(chan struct{})}
	p.call = func(e drivers.Event) { *told = append(*told, fmt.Sprint(e.Type, " ", e.Pos)) }
	s.lasting[p] = true
	s.confirmed(p, 1, 9)
	s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{put("/p/1/a", 11, false)}}, 1)
	s.confirmed(p, 2, 10)
	return s, p
}

// Events that arrive before all parts of a watch are confirmed are not delivered, nor are
// earlier ones: a read shows them.
func TestPersistentWatchBeginsAtOneMoment(t *testing.T) {
	var told []string
	s, p := hearing(&told)
	for revision := int64(10); revision <= 12; revision++ {
		s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{put("/p/2/a/b", revision, true)}}, 1)
	}
	if want := []string{"children changed 12"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// If events of one part of a watch arrive late, out of the order of the changes, the watch
// reports Rearmed so that the caller reads again.
func TestLatePartOfAPersistentWatch(t *testing.T) {
	var told []string
	s, p := hearing(&told)
	s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{put("/p/1/a", 15, false)}}, 1)
	s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{put("/p/2/a/b", 13, true), put("/p/2/a/c", 14, true), put("/p/2/a/d", 16, true)}}, 1)
	s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{put("/p/1/a", 17, false)}}, 1)
	if want := []string{"data changed 15", "children changed 16", "rearmed 0", "data changed 17"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// A watch that the server refuses fails its call. One that the server cancels later ends the
// session, since no client may wait forever.
func TestRefusedPersistentWatch(t *testing.T) {
	var told []string
	s, armed := hearing(&told)
	lost := false
	s.lost = func() { lost = true }
	p := &persistent{op: drivers.OpWatchTree, path: "/a", ids: []int64{3}, decided: make(chan struct{})}
	s.lasting[p] = true
	s.deny(p, &pb.WatchResponse{CancelReason: "not for you"})
	<-p.decided
	if !errors.Is(failed(p.op.String(), p.path, p.err), drivers.ErrRefused) || s.lasting[p] || lost {
		t.Errorf("refused with %v, kept %v, session lost %v; want it refused and forgotten", p.err, s.lasting[p], lost)
	}
	s.deny(armed, &pb.WatchResponse{CancelReason: "not any more"})
	if !lost {
		t.Error("the session continues without a watch that it has armed")
	}
}

// A watch whose events the server has compacted starts again from now, and reports Rearmed
// when all its parts are confirmed.
func TestCompactedPersistentWatch(t *testing.T) {
	var told []string
	s, p := hearing(&told)
	s.stream, s.last = &stream{more: make(chan struct{}, 1)}, 2
	s.deny(p, &pb.WatchResponse{CompactRevision: 20})
	s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{put("/p/2/a/b", 21, true)}}, 1)
	s.confirmed(p, 3, 21)
	if len(told) > 0 {
		t.Errorf("told %q before it is armed again", told)
	}
	s.confirmed(p, 4, 22)
	s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{put("/p/1/a", 23, false)}}, 1)
	if want := []string{"rearmed 0", "data changed 23"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if s.lastingByID[1] != nil || s.lastingByID[4] != p || len(s.stream.queue) != 4 {
		t.Errorf("etcd's watches are %v after %d requests; want the first two cancelled and two new ones", s.lastingByID, len(s.stream.queue))
	}
}

// A watch that resumes asks on a new connection for the events after the last one, and reports what
// it has missed, and not Rearmed. If the server has compacted these events, it starts from now.
func TestResumedPersistentWatch(t *testing.T) {
	for _, compacted := range []int64{0, 15} {
		var told []string
		s := newWatcher(&tap{}, "/p")
		p := &persistent{op: drivers.OpWatchTree, path: "/a", resumes: true, ids: []int64{1}, decided: make(chan struct{})}
		p.call = func(e drivers.Event) { told = append(told, fmt.Sprint(e.Type, " ", e.Pos)) }
		s.lasting[p] = true
		s.confirmed(p, 1, 10)
		s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{put("/p/1/a", 12, false)}}, 1)
		s.stream, s.last = &stream{more: make(chan struct{}, 1)}, 1
		s.again(p)
		if from := s.stream.queue[0].request.GetCreateRequest().StartRevision; from != 12 {
			t.Errorf("requested from revision %d, want 12, the last that is known", from)
		}
		want := []string{"data changed 12", "data changed 14", "data changed 21"}
		s.confirmed(p, 2, 20) // the server's revision, not that of the watch
		if compacted > 0 {
			s.deny(p, &pb.WatchResponse{CompactRevision: compacted})
			s.confirmed(p, 3, 20)
			want[1] = "rearmed 0"
		}
		s.deliver(p, &pb.WatchResponse{Events: []*mvccpb.Event{
			put("/p/1/a", 12, false), put("/p/1/a", 14, false), put("/p/1/a", 21, false)}}, 1)
		if !slices.Equal(told, want) {
			t.Errorf("compacted up to %d: told %q, want %q", compacted, told, want)
		}
	}
}
