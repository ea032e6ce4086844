package tree

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// sorted returns a dump with the ephemeral nodes of each session sorted: a snapshot does not keep
// the order of those that one transaction created.
func sorted(dump []string) []string {
	for i, line := range dump {
		if words := strings.Fields(line); words[0] == "session" {
			slices.Sort(words[2:])
			dump[i] = strings.Join(words, " ")
		}
	}
	return dump
}

// restored returns the tree built from the images of a snapshot, in any order.
func restored(zxid int64, sessions []Session, images []Image) (*Tree, error) {
	r := Restore(zxid, sessions)
	for i := range images {
		if err := r.Add(&images[i]); err != nil {
			return nil, err
		}
	}
	return r.Tree()
}

// A snapshot that is read while the tree changes contains the tree as it was when the snapshot
// began, and the restored tree behaves as the original did.
func TestSnapshotWhileTheTreeChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	l := newLog(t)
	kept := 0
	for range 150 {
		for range r.IntN(50) {
			l.apply(randomTxn(r, l.Zxid()))
		}
		want := sorted(l.dump())
		s := l.Snapshot()
		var images []Image
		var since []Txn
		for more := true; more; {
			for range r.IntN(3) {
				since = append(since, randomTxn(r, l.Zxid()))
				l.apply(since[len(since)-1])
			}
			kept += len(s.kept)
			images, more = s.Next(images, 1+r.IntN(3))
		}
		r.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
		again, err := restored(s.Zxid(), s.Sessions(), images)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, sorted(again.dump())); diff != "" {
			t.Fatalf("when it began and in the snapshot (-want +got):\n%s", diff)
		}
		for _, x := range since {
			(&log{Tree: again, t: t}).apply(x)
		}
		if diff := cmp.Diff(sorted(l.dump()), sorted(again.dump())); diff != "" {
			t.Fatalf("later (-want +got):\n%s", diff)
		}
	}
	if kept < 150 {
		t.Errorf("%d nodes changed before their turn: the test tried too little", kept)
	}
}

// A tree that changes without a snapshot in progress keeps no images.
func TestSnapshotEnds(t *testing.T) {
	l := newLog(t)
	l.create("/a", 0)
	s := l.Snapshot()
	s.End()
	l.do(Op{Kind: SetData, Path: "/a", Version: 0}, wire.OK)
	if len(s.kept) > 1 {
		t.Errorf("kept %d images, want the root's only", len(s.kept))
	}
}

// Images that do not form a whole tree are refused with an error that names the fault.
func TestRestoreRefuses(t *testing.T) {
	root := Image{Path: "/"}
	for want, images := range map[string][]Image{
		"1 nodes are missing that others are below": {{Path: "/a"}},
		"2 nodes are missing that others are below": {root, {Path: "/a/b/c"}},
		"/a is there twice":                         {root, {Path: "/a"}, {Path: "/b"}, {Path: "/a"}},
		`"a/b" is no path`:                          {{Path: "a/b"}},
		"/e is of session 0x5, which is missing":    {root, {Path: "/e", Owner: 5}},
	} {
		if _, err := restored(9, nil, images); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
