package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// save saves a snapshot of the journal's current tree.
func save(j *Journal) {
	s := j.Tree().Snapshot()
	j.SaveSnapshot(s, func(images []tree.Image) ([]tree.Image, bool, error) {
		images, more := s.Next(images, 3)
		return images, more, nil
	})
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A snapshot replaces the log before it: wherever in a history it was saved, the whole history is
// recovered.
func TestSnapshotAnywhere(t *testing.T) {
	for at := range len(history()) + 1 {
		dir := t.TempDir()
		j := openShort(t, dir, 1, standard.snapshot) // one log per batch
		for _, x := range history()[:at] {
			do(t, j, x)
		}
		save(j)
		for _, x := range history()[at:] {
			do(t, j, x)
		}
		want := pictureOf(j.Tree())
		j.Close()
		for zxid := range min(at, len(history())-1) {
			os.Remove(logfile.PathOf(dir, logfile.Log, int64(zxid)+1)) // logs before the snapshot are not needed, except the newest
		}
		if diff := cmp.Diff(want, pictureOf(open(t, dir).Tree())); diff != "" {
			t.Fatalf("with a snapshot before transaction %d (-want +got):\n%s", at, diff)
		}
	}
}

// When snapshots are saved as they become due, the directory holds two snapshots and the log since
// the first of them, and everything can be recovered at any time.
func TestRetention(t *testing.T) {
	dir := t.TempDir()
	j := openShort(t, dir, 500, 2000)
	saved := 0
	for i := range 300 {
		do(t, j, tree.Txn{Op: create(fmt.Sprintf("/n%d", i), 0)})
		select {
		case <-j.Due():
			save(j)
			saved++
		default:
		}
		if i%20 == 19 {
			want := pictureOf(j.Tree())
			j.Close()
			j = openShort(t, dir, 500, 2000)
			if diff := cmp.Diff(want, pictureOf(j.Tree())); diff != "" {
				t.Fatalf("after %d transactions (-want +got):\n%s", i+1, diff)
			}
		}
	}
	snapshots, err := logfile.List(dir, logfile.Snapshot)
	if err != nil || len(snapshots) != 2 || saved < 5 {
		t.Fatalf("%d snapshots, %v, of %d saved; want 2 of at least 5", len(snapshots), err, saved)
	}
	logs, err := logfile.List(dir, logfile.Log)
	if err != nil || len(logs) < 3 || logs[0].Place > snapshots[0].Place+1 || logs[1].Place <= snapshots[0].Place+1 {
		t.Errorf("logs %v, %v; want them from zxid %d on", logs, err, snapshots[0].Place+1)
	}
	inSnapshots, inLogs, err := j.Dir().Size()
	if want := size(t, logs); err != nil || inLogs != want || inSnapshots != size(t, snapshots) {
		t.Errorf("size %d and %d, %v; want %d in logs", inSnapshots, inLogs, err, want)
	}
	// The previous snapshot serves if the last cannot be read.
	want := pictureOf(j.Tree())
	j.Close()
	if err := os.Remove(snapshots[1].Path); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, pictureOf(open(t, dir).Tree())); diff != "" {
		t.Errorf("without the last snapshot (-want +got):\n%s", diff)
	}
}

func size(t *testing.T, files []logfile.Name) (sum int64) {
	for _, f := range files {
		b, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		sum += int64(len(b))
	}
	return sum
}

// Open refuses a file that is not a snapshot, and a damaged snapshot.
func TestDamagedSnapshotIsRefused(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	for _, x := range history() {
		do(t, j, x)
	}
	save(j)
	j.Close()
	path := logfile.PathOf(dir, logfile.Snapshot, int64(len(history())))
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(bad []byte, what string) {
		t.Helper()
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OpenOn(disktest.Unsynced{}, dir)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Fatalf("%s: %v, want it refused", what, err)
		}
	}
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 0x40
		refused(bad, fmt.Sprintf("flipped at byte %d", at))
		refused(good[:at], fmt.Sprintf("cut off at byte %d", at))
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

// A missing log, or a log that ends too early, is detected.
func TestMissingLogIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"the first": {
			func(t *testing.T, dir string) { remove(t, logfile.PathOf(dir, logfile.Log, 1)) },
			"log-0000000000000002: zxid 1 should be before it, which is missing",
		},
		"in the middle": {
			func(t *testing.T, dir string) { remove(t, logfile.PathOf(dir, logfile.Log, 4)) },
			"log-0000000000000003: zxid 4 should follow, which is missing",
		},
		"torn in the middle": {
			func(t *testing.T, dir string) { shorten(t, logfile.PathOf(dir, logfile.Log, 4)) },
			"log-0000000000000004: damaged at byte 35, behind zxid 3, with more behind it: restore the file from a copy",
		},
		"the last, which a snapshot shows": {
			func(t *testing.T, dir string) {
				saveIn(t, dir)
				shorten(t, logfile.PathOf(dir, logfile.Log, 5))
			},
			"log-0000000000000005: zxid 5 should follow, which the snapshot shows",
		},
		"of a later version": {
			func(t *testing.T, dir string) {
				overwrite(t, logfile.PathOf(dir, logfile.Log, 5), "stampede log 3 rules 1\n")
			},
			`log-0000000000000005: of version 3 with rules 1: this program reads version 2 with rules up to 1`,
		},
		"of an earlier version": {
			func(t *testing.T, dir string) {
				overwrite(t, logfile.PathOf(dir, logfile.Log, 5), "stampede log 1 rules 1\n")
			},
			`log-0000000000000005: of version 1 with rules 1: this program reads version 2 with rules up to 1`,
		},
		"of later rules": {
			func(t *testing.T, dir string) {
				overwrite(t, logfile.PathOf(dir, logfile.Log, 5), "stampede log 2 rules 2\n")
			},
			`log-0000000000000005: of version 2 with rules 2: this program reads version 2 with rules up to 1`,
		},
		"no log": {
			func(t *testing.T, dir string) {
				overwrite(t, logfile.PathOf(dir, logfile.Log, 5), "stampede lag 2 rules 1\n")
			},
			`log-0000000000000005: not a log: it does not begin with "stampede log"`,
		},
		"the newest": {
			func(t *testing.T, dir string) { remove(t, logfile.PathOf(dir, logfile.Log, 5)) },
			"log-0000000000000005: missing, and it is the newest log by DIR/current: restore the file from a copy",
		},
		"the newest, behind a snapshot": {
			func(t *testing.T, dir string) {
				saveIn(t, dir)
				remove(t, logfile.PathOf(dir, logfile.Log, 5))
			},
			"log-0000000000000005: missing, and it is the newest log by DIR/current: restore the file from a copy",
		},
		"all, behind a snapshot": {
			func(t *testing.T, dir string) {
				saveIn(t, dir)
				for zxid := range int64(5) {
					remove(t, logfile.PathOf(dir, logfile.Log, zxid+1))
				}
			},
			"log-0000000000000005: missing, and it is the newest log by DIR/current: restore the file from a copy",
		},
		"what names the newest": {
			func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "current")) },
			"current: missing, and it would name the newest log: restore the file from a copy",
		},
		"that and the logs": {
			func(t *testing.T, dir string) {
				saveIn(t, dir)
				remove(t, filepath.Join(dir, "current"))
				for zxid := range int64(5) {
					remove(t, logfile.PathOf(dir, logfile.Log, zxid+1))
				}
			},
			"snapshot-0000000000000005: zxid 6 and the log from there on should follow, which is missing: restore the file from a copy",
		},
		"what names the newest is damaged": {
			func(t *testing.T, dir string) { overwrite(t, filepath.Join(dir, "current"), "stampede newest lag") },
			`current: damaged: it must be "stampede newest log NAME\n" with the name of the newest log`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j := openShort(t, dir, 1, standard.snapshot)
			for _, x := range history()[:5] {
				do(t, j, x)
			}
			j.Close()
			test.spoil(t, dir)
			before := names(t, dir)
			_, err := OpenOn(disktest.Unsynced{}, dir)
			if want := filepath.Join(dir, strings.ReplaceAll(test.want, "DIR", dir)); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
			if after := names(t, dir); !slices.Equal(before, after) {
				t.Errorf("it left %v of %v", after, before)
			}
		})
	}
}

// saveIn saves a snapshot of the directory's tree.
func saveIn(t *testing.T, dir string) {
	j := openShort(t, dir, 1, standard.snapshot)
	save(j)
	j.Close()
}

func overwrite(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// shorten removes the last byte of a file.
func shorten(t *testing.T, path string) {
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-1)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A cancelled snapshot leaves no file, and the unfinished file of a killed server is removed.
func TestUnfinishedSnapshots(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	do(t, j, history()[0])
	before := names(t, dir)
	j.SaveSnapshot(j.Tree().Snapshot(), func([]tree.Image) ([]tree.Image, bool, error) {
		return nil, false, ErrAbandoned
	})
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("it left %v of %v", after, before)
	}
	do(t, j, history()[1])
	j.Close()
	if err := os.WriteFile(logfile.PathOf(dir, logfile.Snapshot, 9)+".unfinished", []byte("stampede"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := open(t, dir).Tree().Zxid(); got != 2 {
		t.Errorf("zxid %d, want 2", got)
	}
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("%v, want %v", after, before)
	}
}

// A disk that cannot write a snapshot ends the journal, and Err returns the reason.
func TestFailedSnapshot(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	do(t, j, history()[0])
	if err := os.Mkdir(logfile.PathOf(dir, logfile.Snapshot, 1)+".unfinished", 0o700); err != nil {
		t.Fatal(err)
	}
	save(j)
	<-j.Done()
	if err := j.Err(); err == nil || !strings.HasPrefix(err.Error(), "journal: snapshot: open "+dir) {
		t.Errorf("%v, want why there is no snapshot", err)
	}
	if err := j.Await(2); errors.Is(err, ErrClosed) || err == nil {
		t.Errorf("%v, want why there is no snapshot", err)
	}
}
