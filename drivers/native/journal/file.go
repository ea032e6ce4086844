package journal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The kinds of files in a data directory. Each begins with its kind and version.
const (
	logKind      = "log"
	snapshotKind = "snapshot"
)

func heading(kind string) string { return "stampede " + kind + " 1\n" }

// unfinished ends the name of a file that is not what its name will say yet.
const unfinished = ".unfinished"

// A file is one of a data directory.
type file struct {
	path string
	zxid int64 // that its name says
}

func pathOf(dir, kind string, zxid int64) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%016x", kind, zxid))
}

// filesOf are the finished files of a kind, by zxid.
func filesOf(dir, kind string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), kind+"-")
		if !ok {
			continue
		}
		if zxid, err := strconv.ParseInt(digits, 16, 64); err == nil && len(digits) == 16 {
			files = append(files, file{filepath.Join(dir, e.Name()), zxid})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.zxid, b.zxid) })
	return files, nil
}

// sizeOf is the length in bytes of all finished files of a kind.
func sizeOf(dir, kind string) (size int64, err error) {
	files, err := filesOf(dir, kind)
	for _, f := range files {
		info, e := os.Stat(f.path)
		if e != nil {
			return 0, e
		}
		size += info.Size()
	}
	return size, err
}

// begin returns a new file with its heading, which is not there yet under its
// name: finish sees to that.
func begin(path, kind string) (*os.File, error) {
	f, err := os.OpenFile(path+unfinished, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString(heading(kind)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// finish gives the file its name when all that was written is on disk, and closes
// it.
func finish(f *os.File) error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	path := strings.TrimSuffix(f.Name(), unfinished)
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// removeUnfinished removes what a server that was killed left.
func removeUnfinished(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), unfinished) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// syncDirectory has the disk confirm the names in the directory.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
