package raftlog

import (
	"errors"
	"fmt"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// recoverLogs reads the logs and makes what it recovered durable, by replacing the newest log with a
// copy: after a failed sync, data can be readable and not be on disk.
func (l *Log) recoverLogs(logs []segment) error {
	var names []logfile.Name
	for _, s := range logs {
		names = append(names, s.Name)
	}
	r := replay{log: l}
	read, err := l.dir.Replay(names, logFormat(), r.batch)
	if err != nil {
		return err
	}
	newest := logs[len(logs)-1]
	if err := r.check(); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", newest.Path, err), read.Drop())
	}
	l.before, l.entries, l.written = r.before, r.entries, r.last
	l.current = r.last
	l.current.commit = max(r.last.commit, l.snapshot.index)
	l.sinceSnapshot, l.next = read.Length, read.Next
	if err := l.adopt(read.Copy, read.Frame, newest.Path, read.Size); err != nil {
		return err
	}
	if newest.base.index != unknown {
		l.logs = logs
		return nil
	}
	l.logs = logs[:len(logs)-1]
	return l.beginBatches(base{position: l.lastPosition()}, l.written)
}

// A replay is a sink that takes the records of the logs.
type replay struct {
	log       *Log
	began     bool // the first base was read
	installed bool // that base was installed, so that what is before it was committed
	before    position
	entries   []*pb.Entry
	last      state
}

func (r *replay) batch(place int64, body []byte) (next int64, err error) {
	if err := records(body, r); err != nil {
		return place, fmt.Errorf("batch %d: %w", place, err)
	}
	return place + 1, nil
}

func (r *replay) member(m Member) error {
	if !m.equal(r.log.member) {
		return fmt.Errorf("it belongs to %s, not to %s", m, r.log.member)
	}
	return nil
}

func (r *replay) base(at base) error {
	switch {
	case !r.began || at.installed:
		r.began, r.installed, r.before, r.entries = true, at.installed, at.position, nil
	case at.position != r.end():
		return fmt.Errorf("entry %d of term %d should be before it, and entry %d of term %d is: restore the file from a copy",
			at.index, at.term, r.end().index, r.end().term)
	}
	return nil
}

func (r *replay) state(s state) { r.last = s }

func (r *replay) entry(e *pb.Entry) error {
	first := r.before.index + 1
	if e.GetIndex() < first && r.replaces(e.GetIndex()) {
		r.before, r.entries = position{e.GetIndex(), e.GetTerm()}, nil
		return nil
	}
	if !r.began || e.GetIndex() < first || e.GetIndex() > r.end().index+1 {
		return fmt.Errorf("entry %d cannot follow entry %d: restore the file from a copy", e.GetIndex(), r.end().index)
	}
	r.entries = append(r.entries[:e.GetIndex()-first], e)
	return nil
}

// replaces reports whether an entry with the index can replace one before the first log that is read.
// The snapshot includes it, so that its position is all that is needed.
func (r *replay) replaces(index uint64) bool {
	return r.began && !r.installed && index > 0 && index <= r.log.snapshot.index
}

func (r *replay) end() position {
	if n := len(r.entries); n > 0 {
		return position{r.entries[n-1].GetIndex(), r.entries[n-1].GetTerm()}
	}
	return r.before
}

// check compares what was read with the snapshot and with the state.
func (r *replay) check() error {
	shown := r.log.snapshot
	switch {
	case shown.index < r.before.index:
		return fmt.Errorf("a snapshot of entry %d should be there, which the log continues: restore it from a copy", r.before.index)
	case r.end().index < shown.index:
		return fmt.Errorf("entry %d should follow, which the snapshot shows: restore the file from a copy", r.end().index+1)
	case r.end().index < r.last.commit:
		return fmt.Errorf("entry %d should follow, which was committed: restore the file from a copy", r.end().index+1)
	}
	term := r.before.term
	if shown.index > r.before.index {
		term = r.entries[shown.index-r.before.index-1].GetTerm()
	}
	if shown.index >= r.before.index && term != shown.term {
		return fmt.Errorf("entry %d has term %d, and the snapshot of it term %d: restore the directory from a copy", shown.index, term, shown.term)
	}
	return nil
}
