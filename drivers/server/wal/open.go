package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Open creates the directory if it is missing and recovers the tree from its files. It fails if
// another server uses the directory, or if a file is missing or damaged, except for the end of the
// newest log. When it returns, everything that it recovered is on disk.
func Open(dir string) (*Journal, error) { return OpenOn(System{}, dir) }

// OpenOn is Open with a disk for writing.
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
