package wal

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

// The kinds of files in a data directory.
const (
	logKind      = "log"
	snapshotKind = "snapshot"
)

// unfinished is the suffix of the name of a file that is still being written.
const unfinished = ".unfinished"

// A file is one file of a data directory.
type file struct {
	path string
	zxid int64 // the zxid in its name
}

func pathOf(dir, kind string, zxid int64) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%016x", kind, zxid))
}

// filesOf returns the finished files of a kind, sorted by zxid.
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

// sizeOf returns the total length of the finished files of a kind in bytes.
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

// begin creates a file with its heading under a temporary name. settle renames it.
func (j *Journal) begin(path, kind string) (File, heading, error) {
	h := newHeading(kind)
	f, err := j.beginWith(path, h.bytes)
	return f, h, err
}

// beginWith creates a file that begins with the bytes.
func (j *Journal) beginWith(path string, b []byte) (File, error) {
	f, err := j.disk.Create(path + unfinished)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(b); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// settle syncs the file, renames it to its final name, and syncs the directory. The file stays
// open.
func (j *Journal) settle(f File, path string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := j.disk.Rename(path+unfinished, path); err != nil {
		return err
	}
	return j.disk.SyncDirectory(j.dir)
}

// removeUnfinished removes the temporary files of a killed server.
func (j *Journal) removeUnfinished() error {
	entries, err := os.ReadDir(j.dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), unfinished) {
			err = errors.Join(err, j.disk.Remove(filepath.Join(j.dir, e.Name())))
		}
	}
	return err
}
