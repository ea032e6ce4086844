package raftlog

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// InitialState returns the last HardState, with a commit index that is at least that of the last
// snapshot, and the group's voters.
func (l *Log) InitialState() (*pb.HardState, *pb.ConfState, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.current.hardState(), confState(l.member.Voters), nil
}

func confState(voters []uint64) *pb.ConfState {
	return pb.EnsureConfState(&pb.ConfState{Voters: slices.Clone(voters)})
}

// Entries implements [raft.Storage].
func (l *Log) Entries(lo, hi, maxSize uint64) ([]*pb.Entry, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	switch {
	case lo <= l.before.index:
		return nil, raft.ErrCompacted
	case lo > hi || hi > l.last()+1:
		return nil, fmt.Errorf("raft log: entries %d to %d: the last one is %d: %w", lo, hi, l.last(), raft.ErrUnavailable)
	case lo == hi:
		return nil, nil
	}
	entries := l.entries[lo-l.before.index-1 : hi-l.before.index-1]
	return limited(entries, maxSize), nil
}

// limited returns the first of the entries, at least one and otherwise not more than have the size.
func limited(entries []*pb.Entry, maxSize uint64) []*pb.Entry {
	size := uint64(0)
	for i, e := range entries {
		if size += uint64(proto.Size(e)); size > maxSize && i > 0 {
			entries = entries[:i]
			break
		}
	}
	return entries[:len(entries):len(entries)]
}

// Term implements [raft.Storage].
func (l *Log) Term(i uint64) (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.term(i)
}

// term is Term. The caller must hold the lock.
func (l *Log) term(i uint64) (uint64, error) {
	switch {
	case i < l.before.index:
		return 0, raft.ErrCompacted
	case i == l.before.index:
		return l.before.term, nil
	case i > l.last():
		return 0, raft.ErrUnavailable
	}
	return l.entries[i-l.before.index-1].GetTerm(), nil
}

// last returns the index of the last entry. The caller must hold the lock.
func (l *Log) last() uint64 { return l.before.index + uint64(len(l.entries)) }

// lastPosition returns the position of the last entry. The caller must hold the lock.
func (l *Log) lastPosition() position {
	if n := len(l.entries); n > 0 {
		return position{l.entries[n-1].GetIndex(), l.entries[n-1].GetTerm()}
	}
	return l.before
}

// FirstIndex implements [raft.Storage].
func (l *Log) FirstIndex() (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.before.index + 1, nil
}

// LastIndex implements [raft.Storage].
func (l *Log) LastIndex() (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.last(), nil
}

// Snapshot returns the metadata of the last snapshot, without data: OpenSnapshot reads the contents.
func (l *Log) Snapshot() (*pb.Snapshot, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return &pb.Snapshot{Metadata: metadata(l.snapshot, l.member.Voters)}, nil
}

func metadata(p position, voters []uint64) *pb.SnapshotMetadata {
	return &pb.SnapshotMetadata{ConfState: confState(voters), Index: &p.index, Term: &p.term}
}

// Compact forgets the entries up to the index, which must not be above that of the last snapshot. Open
// may find some of them again.
func (l *Log) Compact(index uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if index > l.snapshot.index {
		return fmt.Errorf("raft log: cannot compact entry %d: the last snapshot has index %d", index, l.snapshot.index)
	}
	term, err := l.term(index)
	if err != nil || index == l.before.index {
		return raft.ErrCompacted
	}
	// A new slice, because raft may still use the old one.
	l.entries = append([]*pb.Entry(nil), l.entries[index-l.before.index:]...)
	l.before = position{index, term}
	return nil
}

// A Log is the durable state of one member, opened by one process.
type Log struct {
	dir    *logfile.Directory
	member Member
	limits limits
	isDue  chan struct{} // receives a value when a snapshot is due

	writing sync.Mutex // held to write the directory's log; guards the next three
	next    int64      // the number of the next batch
	written state      // the last one in the log
	spare   []byte     // buffer for the next batch

	installing sync.Mutex // held to change which snapshots there are
	receiving  sync.Mutex // held to receive a snapshot

	mu            sync.RWMutex // guards all below
	logs          []segment    // the files of the log
	before        position     // of the entry before the first one
	entries       []*pb.Entry  // never changed in place
	current       state
	snapshot      position // the last one, or zero
	snapshotSize  int64    // length of the last snapshot in bytes
	sinceSnapshot int64    // bytes of log since the last snapshot became due
	due           bool     // a snapshot is due and not saved yet
	err           error    // the reason why writing has ended
}

// A segment is one file of the log.
type segment struct {
	logfile.Name
	base base
}

// limits are lengths in bytes.
type limits struct {
	log      int64 // length at which a new log begins
	snapshot int64 // minimum length of log between two snapshots
	batch    int   // length of entries at which a new batch begins
}

// standard returns the limits of a log from Open.
func standard() limits { return limits{log: 64 << 20, snapshot: 64 << 20, batch: 64 << 20} }

// The formats of the files. The sections and the entries' data have versions of their own.
// cure tells an operator what to do about a damaged or missing file. An older copy of the file lacks what the member has
// confirmed since. If another member lacks that too, the two are a majority, and acknowledged writes are lost.
const cure = "remove this directory, and the other members fill it again"

func logFormat() logfile.Format {
	return logfile.Format{Kind: "raft-log", Version: 1, Rules: 1, Place: "batch", SnapshotPlace: "index", Cure: cure}
}
func snapshotFormat() logfile.Format {
	return logfile.Format{Kind: "raft-snapshot", Version: 1, Rules: 1, Place: "section", SnapshotPlace: "index", Cure: cure}
}

// ErrClosed is the error of a log that is closed.
var ErrClosed = errors.New("raft log: closed")

// Dir returns the directory.
func (l *Log) Dir() *logfile.Directory { return l.dir }

// Due returns a channel that receives a value when a snapshot should be saved.
func (l *Log) Due() <-chan struct{} { return l.isDue }

// Err returns the reason why the log cannot be written any more, or nil.
func (l *Log) Err() error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.err
}

// fail ends the log and returns the reason.
func (l *Log) fail(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = fmt.Errorf("raft log: %w", err)
	}
	return l.err
}

// Close writes the commit index if the disk still works (see Err), and unlocks the directory. No other
// call may be in progress.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	err := l.Err()
	if err == nil {
		l.mu.RLock()
		now := l.current
		l.mu.RUnlock()
		if now != l.written {
			err = l.writeBatch(appendState(l.begin(), now), now)
		}
		l.fail(ErrClosed)
	}
	return errors.Join(err, l.dir.Log.Close(), l.dir.Close())
}
