package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
)

// joiningName is the name of the file that marks a log as that of a member that is joining, see
// replica.Config. It is made before the log has an entry.
const joiningName = "joining"

// isJoining reports whether the member of the log is joining.
func isJoining(log *raftlog.Log) (bool, error) {
	path := filepath.Join(log.Dir(), joiningName)
	last, err := log.LastIndex()
	if err != nil || last > 0 {
		if err == nil {
			_, err = os.Stat(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(f.Close(), logfile.System{}.SyncDirectory(log.Dir()))
	}
	return true, err
}

// hasJoined notes that the member is not joining any more. If the note is lost, the member joins
// once more.
func (e *ensemble) hasJoined() error {
	return os.Remove(filepath.Join(e.log.Dir(), joiningName))
}
