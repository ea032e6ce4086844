package raftlog

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// A Log is the durable state of one member, opened by one process.
type Log struct {
	dir    *logfile.Directory
	member Member
	limits limits
	isDue  chan struct{} // receives a value when a snapshot is due

	writing sync.Mutex    // held to write the log; guards the next six
	file    logfile.File  // the current log
	frame   logfile.Frame // of its batches
	size    int64         // its length in bytes
	next    int64         // the number of the next batch
	written state         // the last one in the log
	spare   []byte        // buffer for the next batch

	installing sync.Mutex // held to change which snapshots there are
	receiving  sync.Mutex // held to receive a snapshot

	syncs    atomic.Int64 // how often the log was synced
	syncTime atomic.Int64 // how long that took, in nanoseconds

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
func logFormat() logfile.Format {
	return logfile.Format{Kind: "raft-log", Version: 1, Rules: 1, Place: "batch", SnapshotPlace: "index"}
}
func snapshotFormat() logfile.Format {
	return logfile.Format{Kind: "raft-snapshot", Version: 1, Rules: 1, Place: "section", SnapshotPlace: "index"}
}

// ErrClosed is the error of a log that is closed.
var ErrClosed = errors.New("raft log: closed")

// Syncs returns how often the log was synced to disk since it was opened, and how long that took.
// Snapshots are not included.
func (l *Log) Syncs() (count int64, took time.Duration) {
	return l.syncs.Load(), time.Duration(l.syncTime.Load())
}

// Dir returns the directory.
func (l *Log) Dir() string { return l.dir.Path }

// Size returns the total size of the snapshots and of the logs in bytes.
func (l *Log) Size() (snapshots, logs int64, err error) {
	snapshots, err = logfile.SizeOf(l.dir.Path, logfile.Snapshot)
	if err == nil {
		logs, err = logfile.SizeOf(l.dir.Path, logfile.Log)
	}
	return snapshots, logs, err
}

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
	return errors.Join(err, l.file.Close(), l.dir.Close())
}
