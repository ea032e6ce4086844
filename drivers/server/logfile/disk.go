package logfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// A Disk is the file system that a journal writes to. Paths and errors are those of package os.
type Disk interface {
	Create(path string) (File, error) // truncates an existing file
	Rename(from, to string) error
	Remove(path string) error
	Mkdir(path string) error
	// SyncDirectory returns when the names in a directory are on disk.
	SyncDirectory(path string) error
}

// A File is a file that is being written.
type File interface {
	io.WriteCloser
	// Sync returns when everything written, and the file's length, is on disk.
	Sync() error
}

// System is the operating system's file system.
type System struct{}

func (System) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return systemFile{f}, nil
}
func (System) Rename(from, to string) error { return os.Rename(from, to) }
func (System) Remove(path string) error     { return os.Remove(path) }
func (System) Mkdir(path string) error      { return os.Mkdir(path, 0o700) }

func (System) SyncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

type systemFile struct{ *os.File }

func (f systemFile) Sync() error { return syncData(f.File) }

// makeDirectory creates the directory and its missing parents. It syncs the parent of each, so that
// all are on disk when it returns.
func makeDirectory(d Disk, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &os.PathError{Op: "mkdir", Path: dir, Err: errors.New("not a directory")}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	above := filepath.Dir(dir)
	if err := makeDirectory(d, above); err != nil {
		return err
	}
	if err := d.Mkdir(dir); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return d.SyncDirectory(above)
}
