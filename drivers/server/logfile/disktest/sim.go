package disktest

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// A Disk keeps its files in a directory of the system, which shows what can be read, and tracks
// what a loss of power would leave.
type Disk struct {
	t     *testing.T
	Dir   string
	cache map[string]*inode // by path: the readable state
	disk  map[string]*inode // the state after a loss of power
	moves []func()          // changes of names that are not on disk yet
	Steps int               // steps until the power fails; negative means never
	Syncs int               // file syncs until one fails; negative means never
}

// An inode is a file, independent of its name.
type inode struct {
	cache []byte
	disk  []byte
	clean int // number of bytes of cache that the system will not write again
}

// The errors of a disk without power, and of a sync that failed.
var (
	ErrPower = errors.New("no power")
	ErrSync  = errors.New("input/output error")
)

// New returns a disk with the directory's files.
func New(t *testing.T, dir string) *Disk {
	d := &Disk{t: t, Dir: dir, cache: map[string]*inode{}, disk: map[string]*inode{}, Steps: -1, Syncs: -1}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := &inode{b, b, len(b)}
		d.cache[path], d.disk[path] = n, n
	}
	return d
}

func (d *Disk) step() error {
	if d.Steps == 0 {
		return ErrPower
	}
	d.Steps--
	return nil
}

// A file is an inode that is being written, with the system's file.
type file struct {
	logfile.File
	*inode
	d *Disk
}

func (d *Disk) Create(path string) (logfile.File, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	f, err := logfile.System{}.Create(path)
	n := &inode{}
	d.cache[path] = n
	d.moves = append(d.moves, func() { d.disk[path] = n })
	return &file{f, n, d}, err
}

func (d *Disk) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	d.cache[to] = d.cache[from]
	delete(d.cache, from)
	d.moves = append(d.moves, func() {
		d.disk[to] = d.disk[from]
		delete(d.disk, from)
	})
	return logfile.System{}.Rename(from, to)
}

func (d *Disk) Remove(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	delete(d.cache, path)
	d.moves = append(d.moves, func() { delete(d.disk, path) })
	return logfile.System{}.Remove(path)
}

func (d *Disk) Mkdir(string) error { panic("not simulated") }

func (d *Disk) SyncDirectory(path string) error {
	if err := d.step(); err != nil || path != d.Dir {
		return err
	}
	d.move(len(d.moves))
	return nil
}

func (d *Disk) move(n int) {
	for _, move := range d.moves[:n] {
		move()
	}
	d.moves = nil
}

func (f *file) Write(b []byte) (int, error) {
	if err := f.d.step(); err != nil {
		return 0, err
	}
	f.cache = append(f.cache, b...)
	return f.File.Write(b)
}

// Sync writes the bytes that are not clean. If it fails, all bytes become clean without being
// written.
func (f *file) Sync() error {
	if err := f.d.step(); err != nil {
		return err
	}
	from := f.clean
	f.clean = len(f.cache)
	if f.d.Syncs--; f.d.Syncs == -1 {
		return ErrSync
	}
	f.write(from, len(f.cache))
	return nil
}

func (n *inode) write(from, to int) {
	n.disk = append(slices.Clone(n.disk), make([]byte, max(0, to-len(n.disk)))...)
	copy(n.disk[from:to], n.cache[from:to])
}

// LosePower leaves in the directory the files on disk and a random part, drawn from r, of the
// unsynced changes. It returns the disk with them.
func (d *Disk) LosePower(r *rand.Rand) *Disk {
	d.t.Helper()
	d.move(r.IntN(len(d.moves) + 1))
	for path := range d.cache {
		os.Remove(path)
	}
	for path, n := range d.disk {
		for from := n.clean; from < len(n.cache); from += 64 { // the unsynced pages
			if r.IntN(2) == 0 {
				n.write(from, min(from+64, len(n.cache)))
			}
		}
		if err := os.WriteFile(path, n.disk, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	return New(d.t, d.Dir)
}

// An Unsynced disk is fast: its syncs do nothing.
type Unsynced struct{ logfile.System }

type unsyncedFile struct{ logfile.File }

// Create creates a file whose syncs do nothing.
func (Unsynced) Create(path string) (logfile.File, error) {
	f, err := logfile.System{}.Create(path)
	return unsyncedFile{f}, err
}

// SyncDirectory does nothing.
func (Unsynced) SyncDirectory(string) error { return nil }

func (unsyncedFile) Sync() error { return nil }
