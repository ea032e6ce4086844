package raftlog

import (
	"fmt"
	"slices"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
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
