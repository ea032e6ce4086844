package disk_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) {
	reexec.Dispatch(map[string]reexec.Role{disk.Role: disk.Freeze})
	os.Exit(m.Run())
}

// made returns a directory with a file system of its own.
func made(t *testing.T) string {
	t.Helper()
	testenv.SkipIfShort(t) // it needs losetup, mkfs and mount
	if err := disk.Possible(); err != nil {
		t.Skip(err)
	}
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "a place", "1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Remove(filepath.Dir(dir)); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(text), tmp+"/") {
			t.Errorf("%v, or it is still mounted:\n%s", err, text)
		}
	})
	if err := disk.Make(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A write to a frozen file system ends when the process that froze it has ended, even if that was killed by its
// parent's end.
func TestAWriteEndsWhenTheDiskIsThawed(t *testing.T) {
	dir := made(t)
	frozen, err := reexec.Start(t.Context(), disk.Role, dir)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600) }()
	select {
	case err := <-written:
		t.Errorf("the write has ended: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if _, err := reexec.Start(t.Context(), disk.Role, dir); err == nil {
		t.Error("it froze twice")
	}
	if err := frozen.Stop(); err != nil {
		t.Error(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// Nothing that Make has not made is frozen: not a directory, not the file system of the machine, not another mount.
func TestOnlyItsOwnAreFrozen(t *testing.T) {
	dir := made(t)
	inside := filepath.Join(dir, "inside")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		t.TempDir():        "is not where a file system is mounted",
		inside:             "is not where a file system is mounted",
		dir + "/":          "is not where a file system is mounted",
		"/":                "is no file system of a loop device",
		"/proc":            "is no file system of a loop device",
		"/nowhere/at/all!": "is not where a file system is mounted",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := disk.Freeze(ctx, []string{given}, func(string) { t.Errorf("%s is frozen", given) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want that it %s", given, err, want)
		}
	}
}

// What was frozen by a process that is gone is thawed when it is removed.
func TestRemoveThaws(t *testing.T) {
	dir := made(t)
	frozen, err := reexec.StartKept(t.Context(), nil, disk.Role, dir)
	if err != nil {
		t.Fatal(err)
	}
	killed, err := os.FindProcess(frozen.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Kill(); err != nil {
		t.Fatal(err)
	}
	<-frozen.Done()
	if err := disk.Remove(filepath.Dir(dir)); err != nil {
		t.Error(err)
	}
}

// A file that a killed process has not closed yet does not keep the file system in the tree.
func TestRemoveBesideAnOpenFile(t *testing.T) {
	dir := made(t)
	open, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := disk.Remove(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v: the file system is left", left, err)
	}
}
