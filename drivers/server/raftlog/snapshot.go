package raftlog

import (
	"cmp"
	"fmt"

	"go.etcd.io/raft/v3"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// The kinds of a snapshot's batches behind the first, in their first byte.
const (
	contentBatch byte = iota + 1 // a section
	endBatch                     // the number of sections
)

// SaveSnapshot saves the state after the entry with the index, which must be committed. The function
// write passes the sections of the contents to add, which copies them. An error of write discards the
// snapshot and is returned. An error of the disk also ends the log; see Err. If a received snapshot was
// installed meanwhile, SaveSnapshot returns [raft.ErrSnapOutOfDate].
func (l *Log) SaveSnapshot(index uint64, write func(add func(section []byte) error) error) error {
	defer l.saved()
	at, err := l.snapshotAt(index)
	if err != nil {
		return err
	}
	path := logfile.PathOf(l.dir.Path, logfile.Snapshot, int64(index))
	h := logfile.NewHeading(snapshotFormat())
	f, err := l.dir.Begin(path, h.Bytes)
	if err != nil {
		return l.fail(fmt.Errorf("snapshot: %w", err))
	}
	w := &snapshotWriter{to: logfile.NewWriter(f, h.Frame)}
	w.begin(at, l.member.Voters)
	err = write(w.add)
	if err == nil || w.err != nil {
		err = w.end()
	}
	if err == nil {
		err, w.err = l.keep(f, path, at, w.to.Written())
	}
	w.err = cmp.Or(w.err, f.Close())
	if err != nil || w.err != nil {
		l.dir.Abandon(path) // otherwise the next Open removes it
	}
	if w.err != nil {
		return l.fail(fmt.Errorf("snapshot: %w", w.err))
	}
	return err
}

// snapshotAt returns the position of a new snapshot.
func (l *Log) snapshotAt(index uint64) (position, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.err != nil {
		return position{}, l.err
	}
	if index > l.current.commit {
		return position{}, fmt.Errorf("raft log: cannot save a snapshot of entry %d: the last committed one is %d", index, l.current.commit)
	}
	if index <= l.snapshot.index {
		return position{}, raft.ErrSnapOutOfDate
	}
	term, err := l.term(index)
	return position{index, term}, err
}

// keep makes the file, which has size bytes, the last snapshot. It returns ErrSnapOutOfDate if it is
// not newer than the last one, and errors of the disk separately.
func (l *Log) keep(f logfile.File, path string, at position, size int64) (outdated, failed error) {
	l.installing.Lock()
	defer l.installing.Unlock()
	l.mu.RLock()
	last := l.snapshot
	l.mu.RUnlock()
	if at.index <= last.index {
		return raft.ErrSnapOutOfDate, nil
	}
	if err := l.dir.Settle(f, path); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.snapshot, l.snapshotSize = at, size
	l.mu.Unlock()
	return nil, l.prune()
}

// saved ends an attempt to save a snapshot.
func (l *Log) saved() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.due = false
}

// prune removes all but the last two snapshots, and the logs that only older snapshots need.
func (l *Log) prune() error {
	snapshots, err := logfile.List(l.dir.Path, logfile.Snapshot)
	if err != nil || len(snapshots) < 2 {
		return err
	}
	oldest := len(snapshots) - 2
	needless := snapshots[:oldest:oldest]
	l.mu.Lock()
	for len(l.logs) > 1 && l.logs[1].base.index <= uint64(snapshots[oldest].Place) {
		needless = append(needless, l.logs[0].Name)
		l.logs = l.logs[1:]
	}
	l.mu.Unlock()
	return l.dir.Remove(needless)
}

// A snapshotWriter writes the batches of a snapshot. After an error it writes nothing more.
type snapshotWriter struct {
	to       *logfile.Writer
	body     []byte
	sections uint64
	err      error
}

func (c *snapshotWriter) begin(at position, voters []uint64) {
	c.err = c.to.Add(appendVoters(appendNumbers(nil, at.index, at.term), voters))
}

func (c *snapshotWriter) add(section []byte) error {
	if c.err == nil {
		c.body = append(append(c.body[:0], contentBatch), section...)
		c.sections++
		c.err = c.to.Add(c.body)
	}
	return c.err
}

func (c *snapshotWriter) end() error {
	if c.err == nil {
		c.err = c.to.Add(appendNumbers([]byte{endBatch}, c.sections))
	}
	return c.err
}
