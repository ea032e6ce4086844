package raftlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
)

// A view is what a log holds, without the entries that its snapshot includes.
type view struct {
	state
	snapshot position
	contents string
	entries  string // "index/term/data" of each
	last     position
}

// same reports whether the views differ in no more than the commit index, which may be lower.
func (v view) same(o view) bool {
	v.commit, o.commit = 0, 0
	return v == o
}

func (v view) withEntries(entries []*pb.Entry) view {
	for _, e := range entries {
		v.entries += fmt.Sprintf("%d/%d/%s ", e.GetIndex(), e.GetTerm(), e.GetData())
		v.last = position{e.GetIndex(), e.GetTerm()}
	}
	return v
}

func viewOf(t *testing.T, l *Log) view {
	t.Helper()
	state, _, _ := l.InitialState()
	v := view{state: stateOf(state), snapshot: l.snapshot, contents: string(contentsOf(t, l)), last: l.snapshot}
	if v.last.index > l.last() {
		t.Fatalf("the log ends with %d, before the snapshot of %d", l.last(), v.last.index)
	}
	if v.last.index < l.last() {
		entries, err := l.Entries(v.last.index+1, l.last()+1, 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		v = v.withEntries(entries)
	}
	return v
}

// A user of a log knows what the log has confirmed, and what it may have instead because it was
// attempted and not confirmed.
type user struct {
	t         *testing.T
	r         *rand.Rand
	log       *Log
	confirmed view
	attempted []view
	committed uint64 // the highest commit index that was confirmed with a sync
}

// do makes one random call and reports whether it was confirmed.
func (u *user) do() bool {
	switch v := u.confirmed; u.r.IntN(8) {
	case 0:
		return u.save(v)
	case 1:
		return u.install(v)
	case 2:
		if v.last.index > v.commit {
			v.commit++
		}
		return u.attempt(v, func() error { return u.log.Append(v.hardState(), nil, false) })
	default:
		return u.append(v)
	}
}

func (u *user) append(v view) bool {
	v.vote = 1 + u.r.Uint64N(3)
	if u.r.IntN(3) == 0 {
		v.term++
	}
	first := v.last.index + 1
	if v.last.index > v.commit && u.r.IntN(3) == 0 { // a conflict behind the committed entries
		v.term++
		first = v.commit + 1
	}
	v.commit = first - 1
	var entries []*pb.Entry
	for i := range uint64(u.r.IntN(4)) {
		entries = append(entries, entry(first+i, v.term, fmt.Append(nil, u.r.IntN(1000))))
	}
	if len(entries) > 0 && first <= v.last.index {
		v.last = v.snapshot
		kept, err := u.log.Entries(v.last.index+1, first, 1<<40)
		if err != nil {
			u.t.Fatal(err)
		}
		v.entries = ""
		v = v.withEntries(kept)
	}
	v = v.withEntries(entries)
	sync := u.attempt(v, func() error { return u.log.Append(v.hardState(), entries, true) })
	if sync {
		u.committed = v.commit
	}
	return sync
}

func (u *user) save(v view) bool {
	if v.commit <= v.snapshot.index {
		return true
	}
	term, err := u.log.Term(v.commit)
	if err != nil {
		u.t.Fatal(err)
	}
	v.snapshot, v.contents = position{v.commit, term}, fmt.Sprint("saved at ", v.commit)
	v.entries, v.last = "", v.snapshot
	if after, err := u.log.Entries(v.commit+1, u.log.last()+1, 1<<40); err == nil {
		v = v.withEntries(after)
	}
	return u.attempt(v, func() error { return u.log.SaveSnapshot(v.commit, sectionsOf([]byte(v.contents))) })
}

func (u *user) install(v view) bool {
	v.term++
	v.last = position{v.last.index + 2, v.term}
	v.commit, v.entries, v.snapshot, v.contents = v.last.index, "", v.last, fmt.Sprint("installed at ", v.last.index)
	got, err := u.log.Receive(bytes.NewReader(streamOf(u.t, v.last, []byte(v.contents))))
	if err != nil {
		return u.log.Err() == nil // the log does not change
	}
	return u.attempt(v, func() error { return u.log.Install(got, v.hardState()) })
}

func (u *user) attempt(v view, do func() error) bool {
	if err := do(); err != nil {
		u.attempted = append(u.attempted, v)
		return false
	}
	u.confirmed, u.attempted = v, nil
	return true
}

// reopened checks what the log recovered, which is shown from then on.
func (u *user) reopened(l *Log) {
	u.t.Helper()
	u.log = l
	got := viewOf(u.t, l)
	for _, v := range append(u.attempted, u.confirmed) {
		if got.same(v) && got.commit >= min(u.committed, v.commit) {
			u.confirmed, u.attempted = got, nil
			return
		}
	}
	u.t.Fatalf("recovered\n%+v\nand confirmed is\n%+v\nand attempted\n%+v", got, u.confirmed, u.attempted)
}

// use makes calls and reopens the log. It returns true if nothing failed.
func use(t *testing.T, d *disktest.Disk, u *user) bool {
	completed := true
	for range 3 {
		l, err := openWith(d, d.Dir, one(), short())
		if err != nil {
			if !errors.Is(err, disktest.ErrPower) && !errors.Is(err, disktest.ErrSync) {
				t.Fatal(err)
			}
			completed = false
			continue
		}
		u.reopened(l)
		for range 12 {
			if !u.do() {
				completed = false
				break
			}
		}
		if err := l.Close(); err != nil {
			completed = false
		}
	}
	return completed
}

// After a loss of power at any step, a log recovers what was confirmed, or what was attempted last.
func TestPowerFailsAnywhere(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 7
	}
	for seed := range uint64(3) {
		completed := false
		for steps := 0; !completed; steps += stride {
			d := disktest.New(t, t.TempDir())
			d.Steps = steps
			u := &user{t: t, r: rand.New(rand.NewPCG(seed, 3))}
			completed = use(t, d, u)
			afterPower(t, d, u, seed)
		}
	}
}

// The same holds if a sync fails and the log is reopened before the power fails.
func TestSyncFailsAnywhere(t *testing.T) {
	for seed := range uint64(3) {
		completed := false
		for syncs := 0; !completed; syncs++ {
			d := disktest.New(t, t.TempDir())
			d.Syncs = syncs
			u := &user{t: t, r: rand.New(rand.NewPCG(seed, 4))}
			completed = use(t, d, u)
			afterPower(t, d, u, seed)
		}
	}
}

// afterPower cuts the power and checks what is left.
func afterPower(t *testing.T, d *disktest.Disk, u *user, seed uint64) {
	t.Helper()
	d = d.LosePower(rand.New(rand.NewPCG(5, seed)))
	l, err := openWith(d, d.Dir, one(), short())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u.reopened(l)
}

// After a failed sync the log confirms nothing more, not even what needs no sync.
func TestNothingAfterAFailedSync(t *testing.T) {
	d := disktest.New(t, t.TempDir())
	l := open(t, d, d.Dir, standard())
	if err := l.Append(hard(1, 1, 0), []*pb.Entry{entry(1, 1, nil)}, true); err != nil {
		t.Fatal(err)
	}
	d.Syncs = 0
	if err := l.Append(hard(1, 1, 1), []*pb.Entry{entry(2, 1, nil)}, true); !errors.Is(err, disktest.ErrSync) {
		t.Fatalf("%v, want %v", err, disktest.ErrSync)
	}
	for name, err := range map[string]error{
		"an entry":   l.Append(nil, []*pb.Entry{entry(2, 1, nil)}, true),
		"a commit":   l.Append(hard(1, 1, 1), nil, false),
		"a snapshot": l.SaveSnapshot(1, sectionsOf(nil)),
		"its reason": l.Err(),
	} {
		if !errors.Is(err, disktest.ErrSync) {
			t.Errorf("%s: %v, want %v", name, err, disktest.ErrSync)
		}
	}
	if last, _ := l.LastIndex(); last != 1 {
		t.Errorf("the log shows entry %d, which is not on disk", last)
	}
}
