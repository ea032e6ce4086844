package wal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/stampede-bench/stampede/drivers/server/codec"
	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

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
		err = fmt.Errorf("damaged at byte %d", r.At())
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
	for _, f := range needless {
		err = errors.Join(err, j.dir.Disk.Remove(f.Path))
	}
	return err
}
