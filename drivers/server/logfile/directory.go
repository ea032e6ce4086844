package logfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// A Directory is a data directory that this process has locked.
type Directory struct {
	Path string
	Disk Disk
	lock *os.File // held lock

	// Only one goroutine at a time uses the newest log.
	Log    File  // the newest log; nil before the first Adopt
	Frame  Frame // frame of its batches
	Length int64 // its length in bytes

	syncs    atomic.Int64 // how often logs were synced
	syncTime atomic.Int64 // how long that took, in nanoseconds
}

// OpenDirectory creates the directory if it is missing, locks it, and removes the temporary files of
// a killed process. It fails if another process uses the directory, or if it has files and none that a
// server has made.
func OpenDirectory(d Disk, path string) (*Directory, error) {
	if err := makeDirectory(d, path); err != nil {
		return nil, err
	}
	if err := checkOwn(path); err != nil {
		return nil, err
	}
	lock, err := fileutil.TryLockFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("%s: another server is running on it", path)
	}
	if err != nil {
		return nil, err
	}
	dir := &Directory{Path: path, Disk: d, lock: lock.File}
	if err := dir.RemoveUnfinished(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return dir, nil
}

// checkOwn refuses a directory of another program: a server would begin anew in it, without a word.
func checkOwn(path string) error {
	files, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	var foreign []string
	for _, f := range files {
		name := f.Name()
		switch {
		case name == lockName, name == currentName, strings.HasPrefix(name, Log+"-"), strings.HasPrefix(name, Snapshot+"-"):
			return nil
		case name != "lost+found" && !strings.HasPrefix(name, "."):
			foreign = append(foreign, name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	return fmt.Errorf("%s: it has %s, and no file of a server of stampede: name an empty directory",
		path, strings.Join(foreign[:min(len(foreign), 3)], ", "))
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
	f, err := d.Disk.Create(path + Unfinished)
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
	if err := d.Disk.Rename(path+Unfinished, path); err != nil {
		return err
	}
	return d.Disk.SyncDirectory(d.Path)
}

// Abandon removes a file that Begin created.
func (d *Directory) Abandon(path string) error { return d.Disk.Remove(path + Unfinished) }

// Adopt settles a log's file, which has length bytes, and makes it the newest log.
func (d *Directory) Adopt(f File, frame Frame, path string, length int64) error {
	err := d.Settle(f, path)
	if err == nil {
		err = d.writeCurrent(path)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	d.Log, d.Frame, d.Length = f, frame, length
	return nil
}

// BeginLog begins the log whose first batch has the place.
func (d *Directory) BeginLog(place int64, format Format) error {
	path := PathOf(d.Path, Log, place)
	h := NewHeading(format)
	f, err := d.Begin(path, h.Bytes)
	if err != nil {
		return err
	}
	return d.Adopt(f, h.Frame, path, int64(len(h.Bytes)))
}

// Append writes a batch to the newest log and syncs it. As every batch is synced before the next is written,
// a damaged batch with another one behind it was once confirmed.
func (d *Directory) Append(b []byte) error {
	d.Frame.End(b)
	n, err := d.Log.Write(b)
	d.Length += int64(n)
	if err != nil {
		return err
	}
	began := time.Now()
	err = d.Log.Sync()
	d.syncTime.Add(int64(time.Since(began)))
	d.syncs.Add(1)
	return err
}

// Syncs returns how often Append has synced a log, and how long that took.
func (d *Directory) Syncs() (count int64, took time.Duration) {
	return d.syncs.Load(), time.Duration(d.syncTime.Load())
}

// Size returns the total size of the snapshots and of the logs in bytes.
func (d *Directory) Size() (snapshots, logs int64, err error) {
	snapshots, err = sizeOf(d.Path, Snapshot)
	if err == nil {
		logs, err = sizeOf(d.Path, Log)
	}
	return snapshots, logs, err
}

// Remove removes files.
func (d *Directory) Remove(names []Name) (err error) {
	for _, n := range names {
		err = errors.Join(err, d.Disk.Remove(n.Path))
	}
	return err
}

// RemoveUnfinished removes all temporary files.
func (d *Directory) RemoveUnfinished() error {
	entries, err := os.ReadDir(d.Path)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), Unfinished) {
			err = errors.Join(err, d.Disk.Remove(filepath.Join(d.Path, e.Name())))
		}
	}
	return err
}

// Unfinished is the suffix of the name of a file that is still being written.
const Unfinished = ".unfinished"

// A Name is the name of one file of a directory.
type Name struct {
	Path  string
	Place int64 // the number in it
}

// PathOf returns the path of the file of a kind with the place.
func PathOf(dir, kind string, place int64) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%016x", kind, place))
}

// List returns the names of the finished files of a kind, sorted by place.
func List(dir, kind string) ([]Name, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []Name
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), kind+"-")
		if !ok {
			continue
		}
		if place, err := strconv.ParseInt(digits, 16, 64); err == nil && len(digits) == 16 {
			names = append(names, Name{filepath.Join(dir, e.Name()), place})
		}
	}
	slices.SortFunc(names, func(a, b Name) int { return cmp.Compare(a.Place, b.Place) })
	return names, nil
}

// sizeOf returns the total length of the finished files of a kind in bytes.
func sizeOf(dir, kind string) (size int64, err error) {
	names, err := List(dir, kind)
	for _, n := range names {
		info, e := os.Stat(n.Path)
		if e != nil {
			return 0, e
		}
		size += info.Size()
	}
	return size, err
}

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
	if runtime.GOOS == "windows" {
		return errors.New("a log on Windows would not survive a loss of power, since directories cannot be synced there: leave the data in memory")
	}
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

// The kinds of files in a directory, in their names.
const (
	Log      = "log"
	Snapshot = "snapshot"
)

// currentName is the name of the file that names the newest log. It names a log before the log has
// a batch, so a missing newest log is detected.
const currentName = "current"

// lockName is the name of the file that the process holds locked that uses the directory.
const lockName = "lock"

const currentLine = "stampede newest log %s\n"

func (d *Directory) writeCurrent(log string) error {
	path := filepath.Join(d.Path, currentName)
	f, err := d.Begin(path, fmt.Appendf(nil, currentLine, filepath.Base(log)))
	if err != nil {
		return err
	}
	return errors.Join(d.Settle(f, path), f.Close())
}

// Logs returns the logs. It fails if the newest log, or the file that names it, is missing.
func (d *Directory) Logs(format Format) ([]Name, error) {
	logs, err := List(d.Path, Log)
	if err != nil {
		return nil, err
	}
	return logs, d.checkCurrent(logs, format)
}

func (d *Directory) checkCurrent(logs []Name, format Format) error {
	path := filepath.Join(d.Path, currentName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d.checkWithoutCurrent(path, logs, format)
	}
	if err != nil {
		return err
	}
	var newest string
	if _, err := fmt.Sscanf(string(b), currentLine, &newest); err != nil || !strings.HasPrefix(newest, Log+"-") {
		return fmt.Errorf("%s: damaged: it must be %q with the name of the newest log", path, fmt.Sprintf(currentLine, "NAME"))
	}
	newest = filepath.Join(d.Path, newest)
	if !slices.ContainsFunc(logs, func(l Name) bool { return l.Path == newest }) {
		return fmt.Errorf("%s: missing, and it is the newest log by %s: %s", newest, path, format.Cure)
	}
	return nil
}

// checkWithoutCurrent accepts a directory without the file current only if nothing has been
// written to it yet.
func (d *Directory) checkWithoutCurrent(path string, logs []Name, format Format) error {
	snapshots, err := List(d.Path, Snapshot)
	if err != nil {
		return err
	}
	for _, l := range logs {
		h, size, err := headingOf(l.Path, format)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", l.Path, err)
		case size > int64(len(h.Bytes)):
			return fmt.Errorf("%s: missing, and it would name the newest log: %s", path, format.Cure)
		}
	}
	if len(snapshots) > 0 {
		last := snapshots[len(snapshots)-1]
		return fmt.Errorf("%s: %s %d and the log from there on should follow, which is missing: %s",
			last.Path, format.SnapshotPlace, last.Place+1, format.Cure)
	}
	return nil
}
