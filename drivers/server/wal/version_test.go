package wal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// Files of version 1 are read, and become a snapshot and a log of the current version. The test
// files were written by the code of version 1, with the transactions of history.
func TestVersionOneIsMigrated(t *testing.T) {
	for _, torn := range []bool{false, true} {
		dir := versionOne(t)
		zxid := int64(len(history()))
		if torn {
			shorten(t, logfile.PathOf(dir, logfile.Log, 16))
			zxid -= 1 // each batch has one transaction
		}
		want := pictureOf(after(zxid, zxid))
		for range 2 {
			j := open(t, dir)
			if diff := cmp.Diff(want, pictureOf(j.Tree())); diff != "" {
				t.Fatalf("torn: %v, before and after (-want +got):\n%s", torn, diff)
			}
			do(t, j, tree.Txn{Session: 7, Op: create("/a/s-", tree.Sequential)})
			want = pictureOf(j.Tree())
			j.Close()
		}
		for _, path := range []string{logfile.PathOf(dir, logfile.Snapshot, zxid), logfile.PathOf(dir, logfile.Log, zxid+1)} {
			b, err := os.ReadFile(path)
			if kind, _, _ := strings.Cut(filepath.Base(path), "-"); err != nil || !strings.HasPrefix(string(b), "stampede "+kind+" 2 rules 1\n") {
				t.Errorf("%s: %v and %.30q, want version 2 with rules 1", path, err, b)
			}
		}
	}
}

// The files of version 1 are checked by the rules of version 1.
func TestDamagedVersionOneIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(dir string){
		"log-0000000000000005: zxid 9 should follow": func(dir string) {
			remove(t, logfile.PathOf(dir, logfile.Snapshot, 9))
			remove(t, logfile.PathOf(dir, logfile.Log, 9))
		},
		"log-000000000000000c: damaged at byte": func(dir string) { shorten(t, logfile.PathOf(dir, logfile.Log, 12)) },
	} {
		dir := versionOne(t)
		spoil(dir)
		if _, err := OpenOn(disktest.Unsynced{}, dir); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %s", err, name)
		}
	}
}
