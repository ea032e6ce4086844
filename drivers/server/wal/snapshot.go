package wal

import (
	"errors"
	"fmt"

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
	path := pathOf(j.dir, snapshotKind, s.Zxid())
	f, h, err := j.begin(path, snapshotKind)
	if err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			j.disk.Remove(path + unfinished) // otherwise the next Open removes it
		}
	}()
	w := sections{file: f, frame: h.frame}
	if err := w.write(s, next); err != nil {
		return 0, err
	}
	// The log must reach at least as far as any snapshot.
	if err := j.Await(s.Zxid()); err != nil {
		return 0, err
	}
	return w.written, j.settle(f, path)
}

// prune removes all but the last two snapshots, and the logs that only older snapshots need.
func (j *Journal) prune() error {
	snapshots, err := filesOf(j.dir, snapshotKind)
	if err != nil || len(snapshots) < 2 {
		return err
	}
	logs, err := filesOf(j.dir, logKind)
	if err != nil {
		return err
	}
	oldest := len(snapshots) - 2
	needless := snapshots[:oldest:oldest]
	for i := 1; i < len(logs) && logs[i].zxid <= snapshots[oldest].zxid+1; i++ {
		needless = append(needless, logs[i-1])
	}
	for _, f := range needless {
		err = errors.Join(err, j.disk.Remove(f.path))
	}
	return err
}
