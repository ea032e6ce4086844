package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

func (j *Journal) start() {
	j.gathers, j.written = sync.NewCond(&j.mu), make(chan struct{})
	j.isDue, j.done = make(chan struct{}, 1), make(chan struct{})
	j.grew(0)
	go j.write()
}

// write writes batches until the journal is closed or an error occurs.
func (j *Journal) write() {
	defer close(j.done)
	for {
		b, ok := j.take()
		if !ok {
			return
		}
		j.wrote(b, j.writeBatch(b.bytes))
	}
}

// take waits for a batch. It returns false when there will be none.
func (j *Journal) take() (b batch, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.queue) == 0 && !j.closed && j.err == nil {
		j.gathers.Wait()
	}
	if j.err != nil || len(j.queue) == 0 {
		j.fail(ErrClosed)
		return batch{}, false
	}
	b = j.queue[0]
	n := copy(j.queue, j.queue[1:])
	j.queue[n] = batch{}
	j.queue = j.queue[:n]
	return b, true
}

// writeBatch writes and syncs one batch, in a new log if the current one is full.
func (j *Journal) writeBatch(b []byte) error {
	if j.dir.Length >= j.limits.log {
		if err := j.dir.Log.Close(); err != nil {
			return err
		}
		if err := j.dir.BeginLog(logfile.PlaceOf(b), formatOf(logfile.Log)); err != nil {
			return err
		}
	}
	return j.dir.Append(b)
}

// wrote records the result of writing a batch, wakes the waiting callers, and keeps the buffer for
// reuse.
func (j *Journal) wrote(b batch, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.fail(fmt.Errorf("journal: %w", err))
		return
	}
	j.durable.Store(b.last)
	j.pending.remove(b.load)
	if cap(b.bytes) <= keptBuffer {
		j.spare = b.bytes[:0]
	}
	j.tell()
	j.grew(int64(len(b.bytes)))
}

// grew requests a snapshot when replaying the log would take longer than reading a snapshot.
func (j *Journal) grew(length int64) {
	j.sinceSnapshot += length
	if j.due || j.sinceSnapshot < max(j.limits.snapshot, j.snapshotSize) {
		return
	}
	j.due, j.sinceSnapshot = true, 0
	j.isDue <- struct{}{}
}

// keptBuffer is the size in bytes of the largest buffer that is reused.
const keptBuffer = 1 << 20

// A batch holds transactions that are written together. Its body is the digest of the tree after
// the last of them, followed by their records.
type batch struct {
	bytes []byte // including space for the header
	last  int64  // zxid of the last transaction
	load  load
}

const digestLength = 8

// newBatch returns an empty batch that uses the buffer.
func newBatch(buf []byte, zxid int64) batch {
	return batch{bytes: append(logfile.BeginBatch(buf, zxid), make([]byte, digestLength)...)}
}

func (b *batch) add(x *tree.Txn, r *tree.Result, digest uint64, scratch *[]byte) {
	b.last = r.Zxid
	b.bytes = appendRecord(b.bytes, x, r, scratch)
	binary.BigEndian.PutUint64(b.bytes[logfile.HeaderLength:], digest)
}

// ErrAbandoned is the error with which next cancels a snapshot.
var ErrAbandoned = errors.New("snapshot abandoned")

// SaveSnapshot writes the snapshot and removes files that are no longer needed. The function next
// appends images in pieces until there are no more. If next returns ErrAbandoned, the snapshot is
// discarded. If the write fails, the journal stops writing; see Err.
func (j *Journal) SaveSnapshot(s *tree.Snapshot, next func([]tree.Image) (_ []tree.Image, more bool, err error)) {
	size, err := j.writeSnapshot(s, next)
	if err == nil {
		err = j.prune()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.due = false
	switch {
	case err == nil:
		j.snapshotSize = size
	case !errors.Is(err, ErrAbandoned):
		j.fail(fmt.Errorf("journal: snapshot: %w", err))
	}
}

// writeSnapshot writes the snapshot and returns its length in bytes.
func (j *Journal) writeSnapshot(s *tree.Snapshot, next func([]tree.Image) ([]tree.Image, bool, error)) (size int64, err error) {
	path := logfile.PathOf(j.dir.Path, logfile.Snapshot, s.Zxid())
	h := logfile.NewHeading(formatOf(logfile.Snapshot))
	f, err := j.dir.Begin(path, h.Bytes)
	if err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			j.dir.Abandon(path) // otherwise the next Open removes it
		}
	}()
	w := logfile.NewWriter(f, h.Frame)
	if err := codec.WriteTree(s, next, w.Add); err != nil {
		return 0, err
	}
	// The log must reach at least as far as any snapshot.
	if err := j.Await(s.Zxid()); err != nil {
		return 0, err
	}
	return w.Written(), j.dir.Settle(f, path)
}

// readSnapshot returns the tree of a snapshot. The tree maintains its digest.
func readSnapshot(from logfile.Name) (*tree.Tree, error) {
	f, err := os.Open(from.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := logfile.ReadFile(f, formatOf(logfile.Snapshot))
	if err != nil {
		return nil, err
	}
	number := int64(-1)
	t, err := codec.ReadTree(from.Place, func() ([]byte, error) {
		number++
		return r.Next(number)
	})
	if errors.Is(err, logfile.ErrBroken) || errors.Is(err, codec.ErrDamaged) || errors.Is(err, io.EOF) {
		err = fmt.Errorf("damaged at byte %d", r.Offset())
	}
	return t, err
}

// prune removes all but the last two snapshots, and the logs that only older snapshots need.
func (j *Journal) prune() error {
	snapshots, err := logfile.List(j.dir.Path, logfile.Snapshot)
	if err != nil || len(snapshots) < 2 {
		return err
	}
	logs, err := logfile.List(j.dir.Path, logfile.Log)
	if err != nil {
		return err
	}
	oldest := len(snapshots) - 2
	needless := snapshots[:oldest:oldest]
	for i := 1; i < len(logs) && logs[i].Place <= snapshots[oldest].Place+1; i++ {
		needless = append(needless, logs[i-1])
	}
	return j.dir.Remove(needless)
}
