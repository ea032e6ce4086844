package raftlog

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// Open creates the directory if it is missing and recovers the log from its files. It fails if
// another process uses the directory, if the directory belongs to another member, or if a file is
// missing or damaged, except for the end of the newest log. When it returns, everything that it
// recovered is on disk.
func Open(dir string, m Member) (*Log, error) { return OpenOn(logfile.System{}, dir, m) }

// OpenOn is Open with a disk for writing.
func OpenOn(d logfile.Disk, dir string, m Member) (*Log, error) {
	return openWith(d, dir, m, standard())
}

func openWith(d logfile.Disk, dir string, m Member, limits limits) (*Log, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	locked, err := logfile.OpenDirectory(d, dir)
	if err != nil {
		return nil, err
	}
	l := &Log{dir: locked, member: m, limits: limits, isDue: make(chan struct{}, 1)}
	if err := l.recover(); err != nil {
		return nil, errors.Join(err, locked.Close())
	}
	l.grew(0)
	return l, nil
}

func (l *Log) recover() error {
	names, err := l.dir.Logs(logFormat())
	if err != nil {
		return err
	}
	logs, err := firsts(names)
	if err != nil {
		return err
	}
	if err := l.completeInstall(logs); err != nil {
		return err
	}
	if err := l.recoverSnapshot(); err != nil {
		return err
	}
	if len(logs) == 0 {
		return l.create()
	}
	if logs, err = logsSince(l.snapshot.index, logs); err != nil {
		return err
	}
	return l.recoverLogs(logs)
}

// create begins the first log.
func (l *Log) create() error {
	if err := l.dir.SyncParent(); err != nil {
		return err
	}
	l.next = 1
	if err := l.dir.BeginLog(l.next, logFormat()); err != nil {
		return err
	}
	return l.beginBatches(base{}, state{})
}

// firsts reads the bases of the logs. The newest log has none if its first batch was not written.
func firsts(names []logfile.Name) (logs []segment, err error) {
	for i, n := range names {
		b, err := firstOf(n)
		if errors.Is(err, errNoBase) && i == len(names)-1 {
			// Reading the whole log decides whether it is damaged.
			b, err = base{position: position{index: unknown}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Path, err)
		}
		logs = append(logs, segment{n, b})
	}
	return logs, nil
}

// unknown is the index in the base of a log without a first batch. No snapshot has one as high.
const unknown = ^uint64(0)

var errNoBase = errors.New("damaged at its first batch: " + cure)

// firstOf returns the base in the first batch of a log.
func firstOf(n logfile.Name) (base, error) {
	f, err := os.Open(n.Path)
	if err != nil {
		return base{}, err
	}
	defer f.Close()
	r, err := logfile.ReadFile(f, logFormat())
	if err != nil {
		return base{}, err
	}
	body, err := r.Next(n.Place)
	if err != nil {
		return base{}, errNoBase
	}
	var first onlyBase
	if err := records(body, &first); err != nil || !first.ok {
		return base{}, errNoBase
	}
	return first.at, nil
}

// onlyBase is a sink that keeps the base.
type onlyBase struct {
	at base
	ok bool
}

func (o *onlyBase) member(Member) error   { return nil }
func (o *onlyBase) base(at base) error    { o.at, o.ok = at, true; return nil }
func (o *onlyBase) state(state)           {}
func (o *onlyBase) entry(*pb.Entry) error { return nil }

// completeInstall completes the last Install, or removes what an Install that did not happen left.
func (l *Log) completeInstall(logs []segment) error {
	for i := len(logs) - 1; i >= 0; i-- {
		if !logs[i].base.installed {
			continue
		}
		if err := l.completePlace(logs[i].base.position); err != nil {
			return err
		}
		for _, old := range logs[:i] {
			if err := l.dir.Disk.Remove(old.Path); err != nil {
				return err
			}
		}
		break
	}
	left, err := logfile.List(l.dir.Path, received)
	if err != nil {
		return err
	}
	return l.dir.Remove(left)
}

// completePlace places the snapshot with which a log was installed, unless it was placed before.
func (l *Log) completePlace(at position) error {
	snapshots, err := logfile.List(l.dir.Path, logfile.Snapshot)
	if err != nil {
		return err
	}
	if n := len(snapshots); n > 0 && uint64(snapshots[n-1].Place) >= at.index {
		return nil
	}
	arrived, err := logfile.List(l.dir.Path, received)
	if err != nil {
		return err
	}
	for _, n := range arrived {
		if uint64(n.Place) == at.index {
			return l.place(at)
		}
	}
	return fmt.Errorf("%s: missing, and the log continues it: "+cure,
		logfile.PathOf(l.dir.Path, logfile.Snapshot, int64(at.index)))
}

// recoverSnapshot checks the whole last snapshot.
func (l *Log) recoverSnapshot() error {
	snapshots, err := logfile.List(l.dir.Path, logfile.Snapshot)
	if err != nil || len(snapshots) == 0 {
		return err
	}
	last := snapshots[len(snapshots)-1]
	s, err := openSnapshot(last.Path)
	if err != nil {
		return err
	}
	defer s.Close()
	if m := (Member{l.member.ID, s.voters}); !m.equal(l.member) || s.at.index != uint64(last.Place) {
		return fmt.Errorf("%s: of entry %d of the group %s: want %s", last.Path, s.at.index, m.names(), l.member)
	}
	for err == nil {
		_, err = s.next()
	}
	if !s.ended {
		return err
	}
	l.snapshot, l.snapshotSize = s.at, s.r.Offset()
	return nil
}

// logsSince returns the logs from the last one that begins at or before the index, or was installed.
func logsSince(index uint64, logs []segment) ([]segment, error) {
	for i := len(logs) - 1; i >= 0; i-- {
		if logs[i].base.installed || logs[i].base.index <= index {
			return logs[i:], nil
		}
	}
	if len(logs) == 1 && logs[0].Place == 1 {
		return logs, nil // a new directory whose first batch was not written
	}
	if logs[0].base.index == unknown {
		return nil, fmt.Errorf("%s: %w", logs[0].Path, errNoBase)
	}
	return nil, fmt.Errorf("%s: the log from entry %d on should be before it, which is missing: "+cure,
		logs[0].Path, index+1)
}

// A Member is one member of a raft group.
type Member struct {
	ID     uint64
	Voters []uint64 // all members' IDs, in ascending order, including ID
}

// check returns an error if the member cannot be one.
func (m Member) check() error {
	for i, id := range m.Voters {
		if id == 0 || i > 0 && m.Voters[i-1] >= id {
			return fmt.Errorf("invalid members %v: IDs must be positive, different and in ascending order", m.Voters)
		}
	}
	if !slices.Contains(m.Voters, m.ID) {
		return fmt.Errorf("invalid member %d: must be one of %s", m.ID, m.names())
	}
	return nil
}

func (m Member) equal(o Member) bool { return m.ID == o.ID && slices.Equal(m.Voters, o.Voters) }

// names returns the IDs of the group, such as "1, 2, 3".
func (m Member) names() string {
	var names []string
	for _, id := range m.Voters {
		names = append(names, fmt.Sprint(id))
	}
	return strings.Join(names, ", ")
}

func (m Member) String() string { return fmt.Sprintf("member %d of %s", m.ID, m.names()) }
