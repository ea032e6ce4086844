package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// A Directory is a data directory that this process has locked.
type Directory struct {
	Path string
	Disk Disk
	lock *os.File // held lock
}

// OpenDirectory creates the directory if it is missing, locks it, and removes the temporary files of
// a killed process. It fails if another process uses the directory.
func OpenDirectory(d Disk, path string) (*Directory, error) {
	if err := makeDirectory(d, path); err != nil {
		return nil, err
	}
	lock, err := fileutil.TryLockFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("%s: another server is running on it", path)
	}
	if err != nil {
		return nil, err
	}
	dir := &Directory{path, d, lock.File}
	if err := dir.RemoveUnfinished(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return dir, nil
}

// Close unlocks the directory.
func (d *Directory) Close() error { return d.lock.Close() }

// SyncParent syncs the directory that contains this one: the process that created this one may have
// ended before it did.
func (d *Directory) SyncParent() error {
	err := d.Disk.SyncDirectory(filepath.Dir(d.Path))
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// Begin creates a file that begins with the bytes, under a temporary name. Settle renames it.
func (d *Directory) Begin(path string, b []byte) (File, error) {
	f, err := d.Disk.Create(path + unfinished)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(b); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Settle syncs the file, renames it to its final name, and syncs the directory. The file stays
// open.
func (d *Directory) Settle(f File, path string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := d.Disk.Rename(path+unfinished, path); err != nil {
		return err
	}
	return d.Disk.SyncDirectory(d.Path)
}

// Abandon removes a file that Begin created.
func (d *Directory) Abandon(path string) error { return d.Disk.Remove(path + unfinished) }

// Adopt settles a log's file and makes it the newest log.
func (d *Directory) Adopt(f File, path string) error {
	err := d.Settle(f, path)
	if err == nil {
		err = d.writeCurrent(path)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// RemoveUnfinished removes all temporary files.
func (d *Directory) RemoveUnfinished() error {
	entries, err := os.ReadDir(d.Path)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), unfinished) {
			err = errors.Join(err, d.Disk.Remove(filepath.Join(d.Path, e.Name())))
		}
	}
	return err
}
