package raftlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
)

// one is the member of the tests.
func one() Member { return Member{1, []uint64{1, 2, 3}} }

// short returns limits at which logs and snapshots begin often.
func short() limits { return limits{log: 400, snapshot: 800, batch: 200} }

func open(t *testing.T, d logfile.Disk, dir string, lim limits) *Log {
	t.Helper()
	l, err := openWith(d, dir, one(), lim)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func entry(index, term uint64, data []byte) *pb.Entry {
	kind := pb.EntryNormal
	return &pb.Entry{Index: &index, Term: &term, Type: &kind, Data: data}
}

func hard(term, vote, commit uint64) *pb.HardState { return state{term, vote, commit}.hardState() }

// A member drives a log and a model, raft's own storage in memory, with the same random calls.
type member struct {
	t     *testing.T
	r     *rand.Rand
	log   *Log
	model *raft.MemoryStorage
	now   state
	// entries are all that the log may have again after a reopening, also compacted ones, by index.
	entries map[uint64]*pb.Entry
	// contents are what the last snapshot has.
	contents []byte
}

func newMember(t *testing.T, seed uint64, l *Log) *member {
	m := &member{t: t, r: rand.New(rand.NewPCG(seed, 1)), log: l, model: raft.NewMemoryStorage(), entries: map[uint64]*pb.Entry{}}
	m.must(m.model.ApplySnapshot(&pb.Snapshot{Metadata: metadata(position{}, one().Voters)}))
	return m
}

func (m *member) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) last() uint64 { last, _ := m.model.LastIndex(); return last }

// append appends up to 9 entries, behind the last one or in the place of some that are not committed.
func (m *member) append() {
	n := uint64(m.r.IntN(10))
	first := m.last() + 1
	if m.r.IntN(4) == 0 && n > 0 {
		first = m.now.commit + 1 + m.r.Uint64N(m.last()-m.now.commit+1)
	}
	if n == 0 || m.r.IntN(5) == 0 || first <= m.last() {
		m.now.term, m.now.vote = m.now.term+1, 1+m.r.Uint64N(3)
	}
	var entries []*pb.Entry
	for i := range n {
		data := bytes.Repeat([]byte{byte(first + i)}, m.r.IntN(60))
		if len(data) == 0 {
			data = nil
		}
		entries = append(entries, entry(first+i, m.now.term, data))
	}
	last := m.last()
	if n > 0 {
		last = first + n - 1
	}
	m.now.commit += m.r.Uint64N(last - m.now.commit + 1)
	m.must(m.log.Append(m.now.hardState(), entries, true))
	m.must(m.model.Append(entries))
	m.must(m.model.SetHardState(m.now.hardState()))
	for i := range m.entries {
		if n > 0 && i >= first {
			delete(m.entries, i)
		}
	}
	for _, e := range entries {
		m.entries[e.GetIndex()] = e
	}
}

// commit changes only the commit index.
func (m *member) commit() {
	m.now.commit += m.r.Uint64N(m.last() - m.now.commit + 1)
	m.must(m.log.Append(m.now.hardState(), nil, false))
	m.must(m.model.SetHardState(m.now.hardState()))
}

func (m *member) save() {
	snap, _ := m.model.Snapshot()
	if m.now.commit <= snap.GetMetadata().GetIndex() {
		return
	}
	m.contents = fmt.Appendf(nil, "state after %d", m.now.commit)
	m.must(m.log.SaveSnapshot(m.now.commit, sectionsOf(m.contents)))
	_, err := m.model.CreateSnapshot(m.now.commit, confState(one().Voters), nil)
	m.must(err)
}

// sectionsOf writes the contents in sections of 7 bytes.
func sectionsOf(contents []byte) func(func([]byte) error) error {
	return func(add func([]byte) error) error {
		for len(contents) > 0 {
			n := min(7, len(contents))
			if err := add(contents[:n]); err != nil {
				return err
			}
			contents = contents[n:]
		}
		return nil
	}
}

func (m *member) compact() {
	snap, _ := m.model.Snapshot()
	first, _ := m.model.FirstIndex()
	if index := snap.GetMetadata().GetIndex(); index >= first {
		to := first + m.r.Uint64N(index-first+1)
		m.must(m.log.Compact(to))
		m.must(m.model.Compact(to))
	}
}

// install installs the snapshot of another member that is ahead.
func (m *member) install() {
	m.now.term++
	m.now.commit = m.last() + 1 + m.r.Uint64N(5)
	m.contents = fmt.Appendf(nil, "state of another after %d", m.now.commit)
	at := position{m.now.commit, m.now.term}
	got, err := m.log.Receive(bytes.NewReader(streamOf(m.t, at, m.contents)))
	m.must(err)
	m.must(m.log.Install(got, m.now.hardState()))
	m.must(m.model.ApplySnapshot(&pb.Snapshot{Metadata: metadata(at, one().Voters)}))
	m.must(m.model.SetHardState(m.now.hardState()))
	clear(m.entries)
}

// streamOf returns what another member sends for a snapshot.
func streamOf(t *testing.T, at position, contents []byte) []byte {
	t.Helper()
	h := logfile.NewHeading(snapshotFormat())
	f := &memoryFile{}
	f.Write(h.Bytes)
	c := &snapshotWriter{to: logfile.NewWriter(f, h.Frame)}
	c.begin(at, one().Voters)
	if err := errors.Join(sectionsOf(contents)(c.add), c.end()); err != nil {
		t.Fatal(err)
	}
	return f.Bytes()
}

// A memoryFile is a file in memory.
type memoryFile struct{ bytes.Buffer }

func (*memoryFile) Sync() error  { return nil }
func (*memoryFile) Close() error { return nil }

// sent returns what the log sends of its last snapshot.
func sent(t *testing.T, l *Log) []byte {
	t.Helper()
	s, err := l.OpenSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b bytes.Buffer
	if n, err := s.WriteTo(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, b.Len(), err)
	}
	return b.Bytes()
}

// contentsOf returns the contents of the log's last snapshot.
func contentsOf(t *testing.T, l *Log) (contents []byte) {
	t.Helper()
	s, err := l.OpenSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return nil
	}
	defer s.Close()
	for {
		section, err := s.Next()
		if err != nil {
			if !s.ended {
				t.Fatal(err)
			}
			return contents
		}
		contents = append(contents, section...)
	}
}

func (m *member) reopen() {
	m.must(m.log.Close())
	var err error
	if m.log, err = openWith(disktest.Unsynced{}, m.log.Dir().Path, one(), m.log.limits); err != nil {
		m.t.Fatal(err)
	}
	// Entries that the snapshot includes may be gone.
	first, _ := m.log.FirstIndex()
	snap, _ := m.model.Snapshot()
	if was, _ := m.model.FirstIndex(); first > was && first <= snap.GetMetadata().GetIndex()+1 {
		m.must(m.model.Compact(first - 1))
	}
}

// compare compares all that raft can ask the log with the model.
func (m *member) compare() {
	m.t.Helper()
	state, conf, err := m.log.InitialState()
	m.must(err)
	wantState, wantConf, _ := m.model.InitialState()
	if wantState == nil {
		wantState = hard(0, 0, 0)
	}
	m.same(wantState, state)
	m.same(wantConf, conf)
	snap, err := m.log.Snapshot()
	m.must(err)
	wantSnap, _ := m.model.Snapshot()
	m.same(wantSnap.GetMetadata(), snap.GetMetadata())
	if got := contentsOf(m.t, m.log); !bytes.Equal(got, m.contents) {
		m.t.Fatalf("the snapshot has %q, want %q", got, m.contents)
	}
	m.compareEntries()
}

func (m *member) compareEntries() {
	m.t.Helper()
	last, _ := m.log.LastIndex()
	if last != m.last() {
		m.t.Fatalf("last index %d, want %d", last, m.last())
	}
	first, _ := m.log.FirstIndex()
	if want, _ := m.model.FirstIndex(); first > want {
		m.t.Fatalf("first index %d, want at most %d", first, want)
	}
	for i := first; i <= last; i++ {
		size := m.r.Uint64N(300)
		got, err := m.log.Entries(i, last+1, size)
		m.must(err)
		m.same(m.entries[i], got[0])
		if want, err := m.model.Entries(i, last+1, size); err == nil {
			if len(got) != len(want) {
				m.t.Fatalf("%d entries from %d on, want %d", len(got), i, len(want))
			}
			for k := range want {
				m.same(want[k], got[k])
			}
		}
	}
	for i := range last + 3 {
		got, err := m.log.Term(i)
		if want, wantErr := m.model.Term(i); wantErr != raft.ErrCompacted && (got != want || err != wantErr) {
			m.t.Fatalf("term of %d: %d, %v; want %d, %v", i, got, err, want, wantErr)
		}
	}
}

func (m *member) same(want, got proto.Message) {
	m.t.Helper()
	if proto.Equal(want, got) {
		return
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		m.t.Fatalf("want and got:\n%s", diff)
	}
}

// Whatever is done to a log, and whenever it is reopened, it answers like raft's own storage in memory.
func TestLikeMemoryStorage(t *testing.T) {
	seeds := uint64(200)
	if testing.Short() {
		seeds = 40
	}
	for seed := range seeds {
		lim := short()
		if seed%2 == 0 {
			lim = standard()
		}
		m := newMember(t, seed, open(t, disktest.Unsynced{}, t.TempDir(), lim))
		for range 60 {
			switch m.r.IntN(12) {
			case 0:
				m.save()
			case 1:
				m.compact()
			case 2:
				m.reopen()
			case 3:
				m.commit()
			case 4:
				if m.r.IntN(5) == 0 {
					m.install()
				}
			default:
				m.append()
			}
			m.compare()
		}
		m.must(m.log.Close())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
