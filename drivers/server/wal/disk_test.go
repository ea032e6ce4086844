package wal

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
)

// A recorder records which directories were synced.
type recorder struct {
	logfile.System
	synced []string
}

func (r *recorder) SyncDirectory(path string) error {
	r.synced = append(r.synced, path)
	return r.System.SyncDirectory(path)
}

// The names of all created directories are synced, and so is that of a directory that already
// existed.
func TestNewDirectoryIsSynced(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{filepath.Join(root, "a", "b", "c"), t.TempDir()} {
		r := &recorder{}
		j, err := OpenOn(r, dir)
		if err != nil {
			t.Fatal(err)
		}
		j.Close()
		want := []string{filepath.Dir(dir), dir}
		if filepath.Base(dir) == "c" {
			want = append(want, filepath.Join(root, "a"), root)
		}
		for _, path := range want {
			if !slices.Contains(r.synced, path) {
				t.Errorf("%s: synced %q, want %s, too", dir, r.synced, path)
			}
		}
	}
}
