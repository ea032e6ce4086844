package raftlog

import (
	"errors"
	"io"

	pb "go.etcd.io/raft/v3/raftpb"
)

var errUnfinished = errors.New("not implemented yet")

// A Member is one member of a raft group.
type Member struct {
	ID     uint64
	Voters []uint64 // all members' IDs, in ascending order, including ID
}

// A Log is the durable state of one member, opened by one process.
type Log struct{}

// Open creates the directory if it is missing and recovers the log from its files. It fails if
// another process uses the directory, if the directory belongs to another member, or if a file is
// missing or damaged, except for the end of the newest log file. When it returns, everything that it
// recovered is on disk.
func Open(dir string, m Member) (*Log, error) { return nil, errUnfinished }

// InitialState returns the last HardState, with a commit index that is at least that of the last
// snapshot, and the group's voters.
func (l *Log) InitialState() (*pb.HardState, *pb.ConfState, error) { return nil, nil, errUnfinished }

// Entries implements raft.Storage.
func (l *Log) Entries(lo, hi, maxSize uint64) ([]*pb.Entry, error) { return nil, errUnfinished }

// Term implements raft.Storage.
func (l *Log) Term(i uint64) (uint64, error) { return 0, errUnfinished }

// FirstIndex implements raft.Storage.
func (l *Log) FirstIndex() (uint64, error) { return 0, errUnfinished }

// LastIndex implements raft.Storage.
func (l *Log) LastIndex() (uint64, error) { return 0, errUnfinished }

// Snapshot returns the metadata of the last snapshot, without data: OpenSnapshot reads the contents.
func (l *Log) Snapshot() (*pb.Snapshot, error) { return nil, errUnfinished }

// Append returns when the state and the entries are on disk. Either may be empty. Entries replace
// those with the same or a higher index. Without mustSync nothing is written: only the commit index
// has changed, and it is written with the next batch or by Close. After an error nothing more can
// be appended.
func (l *Log) Append(state *pb.HardState, entries []*pb.Entry, mustSync bool) error {
	return errUnfinished
}

// SaveSnapshot saves the state after the entry with the index, which must be committed. The function
// write passes the sections of the contents to add; add copies them. An error of write discards the
// snapshot and is returned. An error of the disk also ends the log; see Err.
func (l *Log) SaveSnapshot(index uint64, write func(add func(section []byte) error) error) error {
	return errUnfinished
}

// Compact forgets the entries up to the index, which must not be above that of the last snapshot.
func (l *Log) Compact(index uint64) error { return errUnfinished }

// OpenSnapshot opens the last snapshot for reading. It returns nil without an error if there is none.
func (l *Log) OpenSnapshot() (*Snapshot, error) { return nil, errUnfinished }

// A Snapshot is a saved snapshot that is being read. It stays readable when newer ones replace it.
type Snapshot struct{}

// Metadata returns the index and the term of the last entry in the snapshot, and the voters.
func (s *Snapshot) Metadata() *pb.SnapshotMetadata { return nil }

// Next returns the next section, which is valid until the next call, or io.EOF after the last.
func (s *Snapshot) Next() ([]byte, error) { return nil, errUnfinished }

// WriteTo writes the whole snapshot, in the form that Receive reads: it says itself where it ends.
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) { return 0, errUnfinished }

// Close closes the file.
func (s *Snapshot) Close() error { return errUnfinished }

// Receive reads a snapshot that Snapshot.WriteTo of another member has written, checks it and stores
// it beside the log, which it does not change. It reads no byte behind the snapshot's end.
func (l *Log) Receive(r io.Reader) (*Received, error) { return nil, errUnfinished }

// A Received is a snapshot from another member that is not installed yet.
type Received struct{}

// Metadata returns the index and the term of the last entry in the snapshot, and the voters.
func (r *Received) Metadata() *pb.SnapshotMetadata { return nil }

// Discard removes it.
func (r *Received) Discard() error { return errUnfinished }

// Install replaces the log, in one step, by the received snapshot and the state. The log is then
// empty and begins after the snapshot's index.
func (l *Log) Install(r *Received, state *pb.HardState) error { return errUnfinished }

// Due returns a channel that receives a value when a snapshot should be saved.
func (l *Log) Due() <-chan struct{} { return nil }

// Err returns the reason why the log cannot be written any more, or nil.
func (l *Log) Err() error { return errUnfinished }

// Close writes the commit index and unlocks the directory. No other call may be in progress.
func (l *Log) Close() error { return errUnfinished }
