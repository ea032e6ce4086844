package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"github.com/stampede-bench/stampede/drivers/native/tree"
)

// Lengths in bytes that [Open] gives a journal.
const (
	logLength     = 64 << 20 // at which another file is begun
	snapshotAfter = 64 << 20 // of the log, at least, until another snapshot is due
)

// Open makes the directory if it is not there, and recovers the tree from what
// is in it. It fails where another server has the directory, and where a file is
// damaged, but for the end of the log.
func Open(dir string) (*Journal, error) { return openWith(dir, logLength, snapshotAfter) }

func openWith(dir string, logLength, snapshotAfter int64) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("%s: another server is running on it", dir)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, lock: lock.File, logLength: logLength, snapshotAfter: snapshotAfter}
	if err := j.recover(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	j.start()
	return j, nil
}

// recover makes the tree, and opens the log where it goes on.
func (j *Journal) recover() error {
	if err := removeUnfinished(j.dir); err != nil {
		return err
	}
	if err := j.recoverSnapshot(); err != nil {
		return err
	}
	logs, err := j.logsSince(j.tree.Zxid())
	if err != nil {
		return err
	}
	if len(logs) == 0 {
		return j.beginLog(j.tree.Zxid() + 1)
	}
	r := replay{tree: j.tree}
	j.file, err = r.all(logs)
	j.size, j.sinceSnapshot = r.end, r.length
	return err
}

func (j *Journal) recoverSnapshot() error {
	snapshots, err := filesOf(j.dir, snapshotKind)
	if err != nil {
		return err
	}
	if len(snapshots) == 0 {
		j.tree = tree.New()
		return nil
	}
	last := snapshots[len(snapshots)-1]
	if j.tree, err = readSnapshot(last); err != nil {
		return fmt.Errorf("%s: %w: restore the file from a copy, or remove it and let the one before and the log do", last.path, err)
	}
	info, err := os.Stat(last.path)
	if err == nil {
		j.snapshotSize = info.Size()
	}
	return err
}

// logsSince are the logs that hold the transactions behind the one with the zxid.
func (j *Journal) logsSince(zxid int64) ([]file, error) {
	logs, err := filesOf(j.dir, logKind)
	if err != nil || len(logs) == 0 {
		return nil, err
	}
	if first := logs[0]; first.zxid > zxid+1 {
		return nil, fmt.Errorf("%s: zxid %d should be before it, which is missing", first.path, zxid+1)
	}
	for len(logs) > 1 && logs[1].zxid <= zxid+1 {
		logs = logs[1:]
	}
	return logs, nil
}
