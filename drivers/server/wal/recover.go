package wal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// recover builds the tree, makes it durable, and opens the log for new transactions.
func (j *Journal) recover() error {
	if err := j.removeUnfinished(); err != nil {
		return err
	}
	logs, err := filesOf(j.dir, logKind)
	if err == nil {
		err = j.checkCurrent(logs)
	}
	if err == nil {
		err = j.recoverSnapshot()
	}
	if err == nil {
		logs, err = logsSince(j.tree.Zxid(), logs)
	}
	if err != nil {
		return err
	}
	return j.recoverLogs(logs)
}

// recoverLogs replays the logs and makes the recovered transactions durable. A readable batch is
// not necessarily on disk: after a failed sync of the last batch, the system may keep it in memory,
// never write it, and still confirm the next sync. So the newest log is copied as it is read. The
// older logs were confirmed when they were written.
func (j *Journal) recoverLogs(logs []file) error {
	if len(logs) == 0 {
		// The process that created the directory may have ended before it synced the name.
		if err := j.disk.SyncDirectory(filepath.Dir(j.dir)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		j.durable.Store(j.tree.Zxid())
		return j.beginLog(j.tree.Zxid() + 1)
	}
	r := replay{journal: j, tree: j.tree}
	if err := r.all(logs); err != nil {
		return err
	}
	j.durable.Store(j.tree.Zxid())
	j.sinceSnapshot = r.length
	if r.copy == nil { // the log has version 1
		return j.migrate()
	}
	return j.adopt(r.copy, r.frame, logs[len(logs)-1].path, r.end)
}

// migrate writes the tree of an old-version log as a snapshot and begins a new log.
func (j *Journal) migrate() (err error) {
	s := j.tree.Snapshot()
	j.snapshotSize, err = j.writeSnapshot(s, func(images []tree.Image) ([]tree.Image, bool, error) {
		images, more := s.Next(images, migratedAtOnce)
		return images, more, nil
	})
	if err != nil {
		return err
	}
	j.sinceSnapshot = 0
	return j.beginLog(j.tree.Zxid() + 1)
}

const migratedAtOnce = 1000 // nodes

func (j *Journal) recoverSnapshot() error {
	snapshots, err := filesOf(j.dir, snapshotKind)
	if err != nil {
		return err
	}
	if len(snapshots) == 0 {
		j.tree = tree.New()
		j.tree.KeepDigest()
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

// logsSince returns the logs with the transactions after the zxid.
func logsSince(zxid int64, logs []file) ([]file, error) {
	if len(logs) == 0 {
		return nil, nil
	}
	if first := logs[0]; first.zxid > zxid+1 {
		return nil, fmt.Errorf("%s: zxid %d should be before it, which is missing", first.path, zxid+1)
	}
	for len(logs) > 1 && logs[1].zxid <= zxid+1 {
		logs = logs[1:]
	}
	return logs, nil
}
