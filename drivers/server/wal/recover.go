package wal

import (
	"errors"
	"fmt"
	"os"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// recover builds the tree, makes it durable, and opens the log for new transactions.
func (j *Journal) recover() error {
	logs, err := j.dir.Logs(formatOf(logfile.Log))
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
func (j *Journal) recoverLogs(logs []logfile.Name) error {
	if len(logs) == 0 {
		if err := j.dir.SyncParent(); err != nil {
			return err
		}
		j.durable.Store(j.tree.Zxid())
		return j.beginLog(j.tree.Zxid() + 1)
	}
	r := replay{tree: j.tree}
	read, err := j.dir.Replay(logs, formatOf(logfile.Log), r.batch)
	if err != nil {
		return err
	}
	newest := logs[len(logs)-1].Path
	if read.Next <= j.tree.Zxid() {
		err := fmt.Errorf("%s: zxid %d should follow, which the snapshot shows", newest, read.Next)
		return errors.Join(err, read.Drop())
	}
	j.durable.Store(j.tree.Zxid())
	j.sinceSnapshot = read.Length
	return j.adopt(read.Copy, read.Frame, newest, read.Size)
}

func (j *Journal) recoverSnapshot() error {
	snapshots, err := logfile.List(j.dir.Path, logfile.Snapshot)
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
		return fmt.Errorf("%s: %w: restore the file from a copy, or remove it and let the one before and the log do", last.Path, err)
	}
	info, err := os.Stat(last.Path)
	if err == nil {
		j.snapshotSize = info.Size()
	}
	return err
}

// logsSince returns the logs with the transactions after the zxid.
func logsSince(zxid int64, logs []logfile.Name) ([]logfile.Name, error) {
	if len(logs) == 0 {
		return nil, nil
	}
	if first := logs[0]; first.Place > zxid+1 {
		return nil, fmt.Errorf("%s: zxid %d should be before it, which is missing", first.Path, zxid+1)
	}
	for len(logs) > 1 && logs[1].Place <= zxid+1 {
		logs = logs[1:]
	}
	return logs, nil
}
