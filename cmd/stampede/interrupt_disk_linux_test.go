package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/drivers/cluster/disk"
	awaiting "github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestNoDiskHangsForEver ends a run while the disk of a member hangs, with Ctrl-C and by SIGKILL. A process that waits
// for a disk cannot be killed: so the disk is thawed, the members end, and no process, file or file system is left.
func TestNoDiskHangsForEver(t *testing.T) {
	testenv.SkipIfShort(t)
	if err := disk.Possible(); err != nil {
		t.Skip(err)
	}
	for _, e := range []trio{{"etcd:?servers=3", 1}, {"zookeeper:?servers=3", 2}, {"native:?servers=3&durability=fsync", 1}} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			t.Run(e.backend+"/"+signal.String(), func(t *testing.T) {
				t.Parallel()
				tmp := t.TempDir()
				run := exec.CommandContext(t.Context(), "stampede", "run", "lock", "--form", "recipe", "--clients", "4", "--backend", e.backend,
					"--fault", "at=200ms hang-disk leader for=1m", "--duration", "70s", "--no-save")
				var stderr bytes.Buffer
				run.Stderr, run.Dir, run.Env = &stderr, t.TempDir(), append(os.Environ(), "TMPDIR="+tmp)
				if err := run.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- run.Wait() }()
				// stampede, the keeper of the members' directory, the members, and the process that freezes a disk
				awaitProcesses(t, tmp, 2+3*e.member+1, ended, &stderr)
				if err := run.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				awaiting.Value(t, "the interrupted command ends", ended)
				awaitNobody(t, tmp)
				if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v; stderr: %s", left, err, &stderr)
				}
				if text, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(text), tmp) {
					t.Errorf("%v, or a file system is left:\n%s", err, text)
				}
			})
		}
	}
}
