package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Open makes the directory if it is not there, and recovers the tree from what
// is in it. It fails where another server has the directory, where a file is
// missing, and where one is damaged, but for the end of the newest log. When it
// returns, everything that it recovered is on disk.
func Open(dir string) (*Journal, error) { return OpenOn(System{}, dir) }

// OpenOn opens a directory that it writes to by way of the disk.
func OpenOn(d Disk, dir string) (*Journal, error) { return openWith(d, dir, standard) }

func openWith(d Disk, dir string, l limits) (*Journal, error) {
	if err := makeDirectory(d, dir); err != nil {
		return nil, err
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("%s: another server is running on it", dir)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir, disk: d, lock: lock.File, limits: l}
	if err := j.recover(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	j.start()
	return j, nil
}
