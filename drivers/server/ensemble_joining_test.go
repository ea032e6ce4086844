package server

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/raftlog"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// replaceDirectory puts a copy of a directory in place of another.
func replaceDirectory(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) joins() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ensemble.member.Joining()
}

// TestACopiedDirectoryJoins restores a member's directory from a copy that lacks a write. The member joins, as one
// with an empty directory does, so that it and another that lacks the write cannot elect a leader. A member
// that starts with its own directory does not.
func TestACopiedDirectoryJoins(t *testing.T) {
	testenv.SkipIfShort(t)
	e := newTrio(t)
	leader := e.leader()
	a := (leader + 1) % 3
	e.await(a)
	until(t, "member a has joined", func() bool { return !e.servers[a].joins() })
	e.stop[a]()
	kept := filepath.Join(t.TempDir(), "copy")
	replaceDirectory(t, e.directory(a), kept)
	e.restart(a)
	if e.servers[a].joins() {
		t.Error("a member that starts with its own directory joins")
	}
	e.await(a)
	c := e.dial(e.clients[leader])
	create(t, c, "/acknowledged")
	e.stop[a]()
	replaceDirectory(t, kept, e.directory(a))
	e.restart(a)
	if !e.servers[a].joins() {
		t.Fatal("a member whose directory was restored from a copy does not join")
	}
	e.awaitReport(a, "its directory was copied or restored")
	e.await(a)
	if there, _, err := e.dial(e.clients[a]).Exists("/acknowledged"); err != nil || !there {
		t.Errorf("the write is there: %v, %v", there, err)
	}
	until(t, "it has joined", func() bool { return !e.servers[a].joins() })
}

// TestAForeignDirectoryIsRefused starts a member with the directory of a member of another ensemble. It serves
// nobody. Each member says why, and the others continue to serve.
func TestAForeignDirectoryIsRefused(t *testing.T) {
	testenv.SkipIfShort(t)
	other := newTrio(t)
	other.leader()
	other.await(2)
	for _, stop := range other.stop {
		stop()
	}
	e := newTrio(t)
	leader := e.leader()
	e.await(2)
	e.stop[2]()
	replaceDirectory(t, other.directory(2), e.directory(2))
	e.restart(2)
	e.awaitReport(0, "member 3 has a directory of ensemble ")
	e.awaitReport(1, "member 3 has a directory of ensemble ")
	e.awaitReport(2, "it refuses this member: member 3 has a directory of ensemble ")
	if e.servers[2].roleOf().Serving {
		t.Error("the member with the foreign directory serves")
	}
	if leader == 2 {
		leader = e.leader()
	}
	if _, err := e.dial(e.clients[leader]).Create("/goes-on", nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Error(err)
	}
}

// TestAnOlderProgramIsRefused starts a member whose log has an entry of a version that no program knows. It does not start,
// and says what it found and what to do. Its files stay as they are.
func TestAnOlderProgramIsRefused(t *testing.T) {
	testenv.SkipIfShort(t)
	e := newTrio(t)
	e.leader()
	e.await(2)
	e.stop[2]()
	member := raftlog.Member{ID: 3, Voters: slices.Sorted(maps.Keys(e.addresses))}
	open := func() *raftlog.Log {
		log, err := raftlog.Open(e.directory(2), member)
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	log := open()
	last, err := log.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	term, err := log.Term(last)
	if err != nil {
		t.Fatal(err)
	}
	newer := &pb.Entry{Index: new(last + 1), Term: new(term), Data: []byte{255, 1, 2}}
	if err := errors.Join(log.Append(nil, []*pb.Entry{newer}, true), log.Close()); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, e.directory(2))
	log = open()
	l := listen(t, "127.0.0.1:0")
	_, err = NewMember(Options{}, Ensemble{ID: 3, Addresses: e.addresses, Listener: l, Log: log})
	want := fmt.Sprintf("%s: entry %d of the log: it has version 255, and this program reads up to version 2: start a newer program, which reads version 255",
		e.directory(2), last+1)
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := errors.Join(log.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, filesOf(t, e.directory(2))); diff != "" {
		t.Errorf("the directory changed: %s", diff)
	}
}

// filesOf returns the contents of the files in a directory.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = string(b)
	}
	return all
}

// TestARestoredFileJoins restores what was kept of a member's directory in three ways while the member is down, after
// it has confirmed a write: each file over the existing one, with its inode; the log alone; and the place alone with
// it. The member joins. One that was only started again does not.
func TestARestoredFileJoins(t *testing.T) {
	testenv.SkipIfShort(t)
	over := func(from, to string) error { // keeps the inode of a file that exists
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		return errors.Join(err, f.Close())
	}
	all := func(string) bool { return true }
	e := newTrio(t)
	a := (e.leader() + 1) % 3
	for name, restored := range map[string]func(name string) bool{
		"everything":        all,
		"the log":           func(name string) bool { return name != placeName },
		"nothing":           nil,
		"the log and place": func(name string) bool { return name != "current" },
	} {
		until(t, "member a has joined", func() bool { return !e.servers[a].joins() })
		e.await(a)
		kept := filepath.Join(t.TempDir(), "copy")
		until(t, "the directory is copied", func() bool { // while the member writes
			return os.RemoveAll(kept) == nil && os.CopyFS(kept, os.DirFS(e.directory(a))) == nil
		})
		c := e.dial(e.clients[(a+1)%3])
		create(t, c, "/"+filepath.Base(filepath.Dir(kept)))
		e.await(a)
		e.stop[a]()
		files, err := os.ReadDir(kept)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if restored != nil && restored(f.Name()) {
				if err := over(filepath.Join(kept, f.Name()), filepath.Join(e.directory(a), f.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}
		e.restart(a)
		if joins := e.servers[a].joins(); joins != (restored != nil) {
			t.Errorf("%s restored: the member joins: %v", name, joins)
		}
	}
}

// TestAMemberSaysWhyItDoesNotServe starts one member of three: it needs a majority. It then starts another one with an
// empty directory: that needs all members, and the first one says that it hears of it.
func TestAMemberSaysWhyItDoesNotServe(t *testing.T) {
	testenv.SkipIfShort(t)
	e := newTrio(t)
	e.leader()
	for i := range e.servers {
		e.await(i)
	}
	for _, stop := range e.stop {
		stop()
	}
	e.restart(0)
	e.awaitReport(0, "serves no clients yet: it does not hear of members 2, 3, and a majority must agree on a leader")
	if err := os.RemoveAll(e.directory(1)); err != nil {
		t.Fatal(err)
	}
	e.restart(1)
	e.awaitReport(1, "serves no clients yet: it does not hear of member 3; until a member leads, one with an empty or restored directory needs all others")
	e.awaitReport(0, "serves no clients yet: it does not hear of member 3, and a majority must agree on a leader")
	e.restart(2)
	e.await(1)
}
