package replica

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// newer is a program that also knows version 3, which exists only here: what follows the time of an entry is inverted, and
// each transaction comes a millisecond later. later does not know version 2 any more.
var (
	newer = &program{oldest: 2, formats: []format{current.formats[0], inverted}}
	later = &program{oldest: 3, formats: []format{inverted}}

	inverted = format{
		append: func(b []byte, e entry) []byte { return append(b, invert(appendFields(nil, e))...) },
		decode: func(b []byte) (entry, error) { return decodeFields(invert(b)) },
		amend: func(x tree.Txn) tree.Txn {
			x.Time++
			return x
		},
	}
)

func invert(b []byte) []byte {
	b = bytes.Clone(b)
	for i := range b {
		b[i] = ^b[i]
	}
	return b
}

// The refusals of programs that find a version which they do not know.
const (
	tooNew = "it has version 3, and this program reads up to version 2: start a newer program, which reads version 3"
	tooOld = "it has version 2, and this program reads from version 3 on: start an older program, which reads version 2"
)

func write(path string) tree.Txn {
	return tree.Txn{Session: 7, Time: 5, Op: tree.Op{Kind: tree.Create, Path: path, Data: []byte("data"), ACL: []wire.ACL{wire.OpenACL()}}}
}

func TestEntriesOfEachVersion(t *testing.T) {
	want := entry{Kind: Request, Time: 5, Origin: 1, Boot: 2, Seq: 3, Session: 7, Generation: 4, Txn: write("/a")}
	var encoded [2][]byte
	for i := range encoded {
		want.version = byte(2 + i)
		encoded[i] = newer.append(nil, &want)
		got, err := newer.decode(encoded[i])
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(entry{})); err != nil || diff != "" {
			t.Errorf("version %d: %v %s", want.version, err, diff)
		}
	}
	if bytes.Equal(encoded[0][fieldsAt:], encoded[1][fieldsAt:]) {
		t.Error("the versions do not differ")
	}
	if alone := current.append(nil, &entry{version: 2, Kind: Begin}); !bytes.Equal(alone, newer.append(nil, &entry{version: 2, Kind: Begin})) {
		t.Error("the newer program writes version 2 otherwise than the older one")
	}
	for _, c := range []struct {
		program *program
		data    []byte
		want    string
	}{
		{current, encoded[1], tooNew},
		{later, encoded[0], tooOld},
		{current, encoded[0][:5], errEntry.Error()},
		{current, encoded[0][:20], errEntry.Error()},
		{current, nil, errEntry.Error()},
	} {
		if _, err := c.program.decode(c.data); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// stateIn returns a state with a version in force and a node.
func stateIn(version byte) *State {
	s := NewState()
	s.program = newer
	s.apply(1, 1, &entry{version: 2, Kind: Begin, Digest: 9})
	s.apply(2, 1, &entry{version: version, Kind: Raise, Term: 1})
	s.apply(3, 1, &entry{version: 2, Kind: Register, Origin: 1, Boot: 2})
	s.apply(4, 1, &entry{version: 2, Kind: Open, Time: 5, Origin: 1, Boot: 2, Seq: 1, Session: 7, Txn: tree.Txn{Session: 7,
		Op: tree.Op{Kind: tree.OpenSession}, Opening: tree.Opening{Timeout: 1000}}})
	s.apply(5, 1, &entry{version: 2, Kind: Request, Time: 5, Origin: 1, Boot: 2, Seq: 2, Session: 7, Generation: 4, Txn: write("/a")})
	return s
}

func TestSnapshotsOfEachVersion(t *testing.T) {
	for _, c := range []struct {
		version byte
		program *program
		refusal string
	}{
		{2, current, ""}, {2, newer, ""}, {2, later, "snapshot: " + tooOld},
		{3, newer, ""}, {3, later, ""}, {3, current, "snapshot: " + tooNew},
	} {
		s := stateIn(c.version)
		var sections [][]byte
		shot := s.Snapshot()
		for b := shot.Next(); b != nil; b = shot.Next() {
			sections = append(sections, b)
		}
		if got := sections[0][1]; got != c.version {
			t.Errorf("the snapshot says version %d, want %d", got, c.version)
		}
		got, err := c.program.readState(sectionsOf(sections))
		switch {
		case c.refusal != "":
			if err == nil || err.Error() != c.refusal {
				t.Errorf("version %d: %v, want %s", c.version, err, c.refusal)
			}
		case err != nil:
			t.Errorf("version %d: %v", c.version, err)
		case got.version != c.version || got.Digest() != s.Digest():
			t.Errorf("version %d with digest %x, want version %d with digest %x", got.version, got.Digest(), c.version, s.Digest())
		}
	}
}

// The rules are those of the version in force, in whatever version an entry is written.
func TestRulesAreOfTheVersionInForce(t *testing.T) {
	for version, want := range map[byte]int64{2: 5, 3: 6} {
		if got := stateIn(version).tree.Find("/a").Stat().Mtime; got != want {
			t.Errorf("version %d: the node is of %d, want %d", version, got, want)
		}
	}
}

// A raise has an effect if its leader still leads, and if it is one.
func TestRaises(t *testing.T) {
	for _, c := range []struct {
		version    byte
		term, want uint64
	}{{3, 1, 3}, {3, 2, 2}, {2, 1, 2}} {
		s := stateIn(2)
		s.apply(6, 1, &entry{version: c.version, Kind: Raise, Term: c.term})
		if s.version != byte(c.want) {
			t.Errorf("a raise to version %d by the leader of term %d in term 1: version %d, want %d", c.version, c.term, s.version, c.want)
		}
	}
	s := stateIn(3)
	s.apply(6, 1, &entry{version: 2, Kind: Raise, Term: 1})
	if s.version != 3 {
		t.Errorf("version %d after a late raise to version 2, want 3", s.version)
	}
}

// TestProposalsAtARaise has proposals in flight while version 3 comes into force. The leader takes those in version 2 before
// and after it, and those in version 3 only when its log has the raise. What a member has not proposed yet is encoded anew.
func TestProposalsAtARaise(t *testing.T) {
	_, wrong := simulateWith(8, func(w *world) {
		w.run(2 * time.Second)
		last := w.leader().id%3 + 1
		for _, n := range w.nodes {
			if n.id != last {
				n.crash()
				n.program = newer
				n.start()
				w.run(3 * time.Second)
			}
		}
		w.nodes[last-1].hung = never // so that it does not lead
		w.run(4 * time.Second)
		leader := w.leader()
		if leader.id == last {
			w.fail("the member with the older program leads")
		}
		m := leader.m
		refusal := func(version byte) string {
			data := newer.append(nil, &entry{version: version, Kind: Register, Origin: last})
			return m.refusal(&pb.Message{Type: pb.MsgProp.Enum(), From: new(last), Entries: []*pb.Entry{{Data: data}}})
		}
		if got := refusal(2); got != "" {
			w.fail("version 2 is refused: %s", got)
		}
		if got, want := refusal(3), "it proposes an entry of version 3, and version 2 is in force"; got != want {
			w.fail("version 3 before the raise: %q, want %q", got, want)
		}
		m.versions.written = 3
		if got := refusal(3); got != "" {
			w.fail("version 3 is refused, and the log has the raise: %s", got)
		}
		m.versions.written = 2
		w.nodes[last-1].crash()
		w.nodes[last-1].program = newer
		w.nodes[last-1].start()
		w.run(5 * time.Second)
		if m.state.version != 3 {
			w.fail("version %d is in force, want 3", m.state.version)
		}
		for _, version := range []byte{2, 3} {
			if got := refusal(version); got != "" {
				w.fail("version %d is refused after the raise: %s", version, got)
			}
		}
		m.proposals.add(m, &entry{Kind: Request, Session: 7, Txn: write("/a")}, nil)
		data := &m.proposals.queue[len(m.proposals.queue)-1].data
		old, _ := newer.decode(*data)
		old.version = 2
		*data = newer.append(nil, &old)
		m.proposals.renew(m)
		if got, err := newer.decode(*data); err != nil || got.version != 3 || got.Seq != old.Seq || got.Txn.Path != "/a" {
			w.fail("%+v, %v, want the proposal in version 3", got, err)
		}
	})
	if wrong != nil {
		t.Error(wrong)
	}
}

// A program does not start with a log that it cannot read all of, also if it does not know what of it is committed.
func TestALogThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		program *program
		version byte
		want    string
	}{
		"newer": {current, 3, "entry 2 of the log: " + tooNew},
		"older": {later, 2, "entry 2 of the log: " + tooOld},
	} {
		t.Run(name, func(t *testing.T) {
			storage := raft.NewMemoryStorage()
			data := newer.append(nil, &entry{version: c.version, Kind: Register, Origin: 1})
			storage.Append([]*pb.Entry{{Index: new(uint64(1)), Term: new(uint64(1))}, {Index: new(uint64(2)), Term: new(uint64(1)), Data: data}})
			_, err := New(Config{ID: 1, Members: []uint64{1, 2, 3}, Storage: storage, State: NewState(), Boot: 1, program: c.program})
			var u *unreadable
			if !errors.As(err, &u) || err.Error() != c.want || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// A member to which the leader sends an entry that it cannot read ends, and writes nothing.
func TestNothingUnreadableIsWritten(t *testing.T) {
	m, err := New(Config{ID: 1, Members: []uint64{1, 2, 3}, Storage: raft.NewMemoryStorage(), State: NewState(), Boot: 1, Handler: &simNode{}})
	if err != nil {
		t.Fatal(err)
	}
	data := newer.append(nil, &entry{version: 3, Kind: Raise, Term: 1})
	m.Step(Message{From: 2, To: 1, Newest: 3, Raft: &pb.Message{Type: pb.MsgApp.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(1)),
		Index: new(uint64(0)), LogTerm: new(uint64(0)), Entries: []*pb.Entry{{Index: new(uint64(1)), Term: new(uint64(1)), Data: data}}}})
	if want := "entry 1 of the log: " + tooNew; m.Err() == nil || m.Err().Error() != want {
		t.Errorf("%v, want %s", m.Err(), want)
	}
	if out := m.Take(); len(out.Appends) > 0 {
		t.Errorf("it appends %+v", out.Appends)
	}
}

// TestALeaderHearsOfAllMembers asks a leader which version all members know. It does not know that while a member is away, and
// after a connection broke until it hears of the member again.
func TestALeaderHearsOfAllMembers(t *testing.T) {
	_, wrong := simulateWith(8, func(w *world) {
		w.run(3 * time.Second)
		m := w.leader().m
		other := w.nodes[m.config.ID%3]
		common := func(want byte) {
			if got := m.versions.common(m); got != want || !m.leads() {
				w.fail("all members know version %d, as it seems, want %d; member %d leads: %v", got, want, m.config.ID, m.leads())
			}
		}
		common(2)
		m.Lost(other.id)
		common(0)
		w.run(time.Second)
		common(2)
		other.frozen = w.now + 5*time.Second
		w.run(3 * time.Second)
		common(0)
		w.run(4 * time.Second)
		common(2)
	})
	if wrong != nil {
		t.Error(wrong)
	}
}
