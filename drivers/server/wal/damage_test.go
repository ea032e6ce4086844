package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/logfile/disktest"
)

// firstLog is the name of a new server's log.
var firstLog = filepath.Base(logfile.PathOf("", logfile.Log, 1))

// A full disk fails the waiting callers and all later ones, and no snapshot contains transactions
// that the log lacks.
func TestFullDisk(t *testing.T) {
	j := open(t, t.TempDir())
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	j.dir.Log.Close()
	j.dir.Log = full
	for i := range 2 {
		j.Apply(history()[i])
		if err := j.Await(int64(i) + 1); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v, want that there is no space", err)
		}
		<-j.Done()
	}
	save(j)
	if snapshots, err := logfile.List(j.Dir().Path, logfile.Snapshot); err != nil || len(snapshots) > 0 {
		t.Errorf("%v, %v, want no snapshot", snapshots, err)
	}
}

// A log that is cut off anywhere in its last batch recovers to the state before that batch, and
// accepts new batches.
func TestTornTail(t *testing.T) {
	log, ends := written(t)
	last := ends[len(ends)-2]
	for end := last + 1; end < len(log); end++ {
		dir := t.TempDir()
		write(t, dir, log[:end])
		j := open(t, dir)
		if got, want := j.Tree().Zxid(), int64(len(ends)-1); got != want {
			t.Fatalf("cut off at byte %d: zxid %d, want %d", end, got, want)
		}
		do(t, j, history()[len(ends)-1])
		j.Close()
		if got, _ := os.ReadFile(filepath.Join(dir, firstLog)); !slices.Equal(got, log) {
			t.Fatalf("cut off at byte %d and written on, it is not what it was", end)
		}
	}
}

// A changed byte, or eight zeroed bytes, anywhere before the last batch is detected, and the log
// stays unchanged.
func TestDamageIsRefused(t *testing.T) {
	log, ends := written(t)
	damages := map[string]func(b []byte){
		"flipped": func(b []byte) { b[0] ^= 0x40 },
		"zeroed":  func(b []byte) { binary.BigEndian.PutUint64(b, 0) },
	}
	dir := t.TempDir()
	for name, damage := range damages {
		for at := 0; at < ends[len(ends)-2]-8; at++ {
			bad := slices.Clone(log)
			if damage(bad[at:]); slices.Equal(bad, log) {
				continue
			}
			write(t, dir, bad)
			_, err := OpenOn(disktest.Unsynced{}, dir)
			if err == nil || !(strings.Contains(err.Error(), "damaged at byte") || strings.Contains(err.Error(), "not a log")) {
				t.Fatalf("%s at byte %d: %v, want it refused as damaged", name, at, err)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, firstLog)); !slices.Equal(got, bad) {
				t.Fatalf("%s at byte %d: refused, and changed", name, at)
			}
		}
	}
}

// A changed byte of the last batch, which was confirmed, is found, unless it is in the length: then the file seems to end
// too early.
func TestDamageOfTheLastBatchIsRefused(t *testing.T) {
	log, ends := written(t)
	dir := t.TempDir()
	for at := ends[len(ends)-2] + 4; at < len(log); at++ {
		bad := slices.Clone(log)
		bad[at] ^= 0x40
		write(t, dir, bad)
		_, err := OpenOn(disktest.Unsynced{}, dir)
		if err == nil || !strings.Contains(err.Error(), "which is all there and was confirmed") {
			t.Fatalf("flipped at byte %d: %v, want it refused as damaged", at, err)
		}
	}
}

// written returns a log with one transaction per batch, and the ends of the batches.
func written(t *testing.T) (log []byte, ends []int) {
	t.Helper()
	dir := t.TempDir()
	j := open(t, dir)
	for _, x := range history() {
		do(t, j, x)
		var err error
		if log, err = os.ReadFile(filepath.Join(dir, firstLog)); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, len(log))
	}
	return log, ends
}

// write makes the log the only and newest one.
func write(t *testing.T, dir string, log []byte) {
	t.Helper()
	for name, b := range map[string][]byte{firstLog: log, "current": fmt.Appendf(nil, "stampede newest log %s\n", firstLog)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOneServerADirectory(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	if _, err := Open(dir); err == nil || err.Error() != dir+": another server is running on it" {
		t.Errorf("the second got %v", err)
	}
	j.Close()
	open(t, dir)
}

func TestDirectoryThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, nil)
	if _, err := Open(filepath.Join(dir, firstLog)); err == nil {
		t.Error("a file was taken for a directory")
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d", firstLog), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "d")); err == nil {
		t.Error("a directory was taken for a log")
	}
}
