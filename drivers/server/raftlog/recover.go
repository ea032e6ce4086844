package raftlog

import (
	"errors"
	"fmt"
	"io"
	"slices"

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
	if err := l.dir.Adopt(read.Copy, read.Frame, newest.Path, read.Size); err != nil {
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
		return fmt.Errorf("entry %d of term %d should be before it, and entry %d of term %d is: "+cure,
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
		return fmt.Errorf("entry %d cannot follow entry %d: "+cure, e.GetIndex(), r.end().index)
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
		return fmt.Errorf("entry %d should follow, which the snapshot shows: "+cure, r.end().index+1)
	case r.end().index < r.last.commit:
		return fmt.Errorf("entry %d should follow, which was committed: "+cure, r.end().index+1)
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

// received is the kind of file of a snapshot that is not installed yet.
const received = "received"

// A Received is a snapshot from another member that is not installed yet. The log can receive the next
// one when it is installed or discarded.
type Received struct {
	log  *Log
	at   position
	path string
	size int64
}

// Receive reads a snapshot that Snapshot.WriteTo of another member has written, checks it and stores
// it beside the log, which it does not change. Unless r is a bufio.Reader with a buffer of at least
// 64 KiB, it may read behind the snapshot's end. It fails while another snapshot is received and not yet
// installed or discarded.
func (l *Log) Receive(r io.Reader) (*Received, error) {
	if err := l.Err(); err != nil {
		return nil, err
	}
	if !l.receiving.TryLock() {
		return nil, errors.New("raft log: another snapshot is being received")
	}
	to, err := l.receive(r)
	if err != nil {
		l.receiving.Unlock()
		return nil, fmt.Errorf("raft log: %w", err)
	}
	return to, nil
}

func (l *Log) receive(from io.Reader) (*Received, error) {
	r, err := logfile.ReadStream(from, snapshotFormat())
	if err != nil {
		return nil, fmt.Errorf("received snapshot: %w", err)
	}
	p, err := readParts(r, "received snapshot")
	if err != nil {
		return nil, err
	}
	if !slices.Equal(p.voters, l.member.Voters) {
		return nil, fmt.Errorf("received snapshot: of the group %s: this is %s", Member{Voters: p.voters}.names(), l.member)
	}
	to := &Received{l, p.at, logfile.PathOf(l.dir.Path, received, int64(p.at.index)), 0}
	if err := to.store(&p); err != nil {
		return nil, err
	}
	return to, nil
}

func (r *Received) store(p *parts) (err error) {
	f, err := r.log.dir.Begin(r.path, nil)
	if err != nil {
		return err
	}
	w := logfile.NewWriter(f, p.r.Frame)
	if err = p.copy(w.AddWhole); err == nil {
		err = r.log.dir.Settle(f, r.path)
	}
	r.size = w.Written()
	if err = errors.Join(err, f.Close()); err != nil {
		r.log.dir.Abandon(r.path) // otherwise the next Open removes it
	}
	return err
}

// Metadata returns the index and the term of the last entry in the snapshot, and the voters.
func (r *Received) Metadata() *pb.SnapshotMetadata { return metadata(r.at, r.log.member.Voters) }

// Discard removes it.
func (r *Received) Discard() error {
	defer r.log.receiving.Unlock()
	return r.log.dir.Disk.Remove(r.path)
}

// Install replaces the log, in one step, by the received snapshot and the state. The log is then
// empty and begins after the snapshot's index. An error ends the log.
func (l *Log) Install(r *Received, hard *pb.HardState) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.installing.Lock()
	defer l.installing.Unlock()
	defer l.receiving.Unlock()
	now, err := l.checkInstall(r, hard)
	if err != nil {
		return errors.Join(err, l.dir.Disk.Remove(r.path))
	}
	if err := l.install(r, now); err != nil {
		return l.fail(fmt.Errorf("install snapshot: %w", err))
	}
	return nil
}

// checkInstall returns the state after the snapshot is installed.
func (l *Log) checkInstall(r *Received, hard *pb.HardState) (state, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.err != nil {
		return state{}, l.err
	}
	now := stateOf(hard)
	if now == (state{}) {
		now = l.current
	}
	if r.at.index <= l.snapshot.index || r.at.index < l.before.index {
		return now, fmt.Errorf("raft log: cannot install the snapshot of entry %d over that of entry %d", r.at.index, l.snapshot.index)
	}
	now.commit = r.at.index // the new log has no entry behind it
	return now, nil
}

func (l *Log) install(r *Received, now state) error {
	if err := l.dir.Log.Close(); err != nil {
		return err
	}
	if err := l.dir.BeginLog(l.next, logFormat()); err != nil {
		return err
	}
	if err := l.beginBatches(base{r.at, true}, now); err != nil {
		return err
	}
	l.mu.Lock()
	last := len(l.logs) - 1
	needless := make([]logfile.Name, last)
	for i := range needless {
		needless[i] = l.logs[i].Name
	}
	l.logs = l.logs[last:]
	l.before, l.entries, l.current = r.at, nil, now
	l.snapshot, l.snapshotSize, l.sinceSnapshot = r.at, r.size, 0
	l.mu.Unlock()
	return errors.Join(l.place(r.at), l.dir.Remove(needless))
}

// place gives the installed snapshot its name and removes the older ones.
func (l *Log) place(at position) error {
	path := logfile.PathOf(l.dir.Path, logfile.Snapshot, int64(at.index))
	if err := l.dir.Disk.Rename(logfile.PathOf(l.dir.Path, received, int64(at.index)), path); err != nil {
		return err
	}
	if err := l.dir.Disk.SyncDirectory(l.dir.Path); err != nil {
		return err
	}
	snapshots, err := logfile.List(l.dir.Path, logfile.Snapshot)
	if err != nil {
		return err
	}
	return l.dir.Remove(slices.DeleteFunc(snapshots, func(n logfile.Name) bool { return n.Place >= int64(at.index) }))
}
