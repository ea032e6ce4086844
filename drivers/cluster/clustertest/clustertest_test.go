package clustertest_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) {
	clustertest.Dispatch(map[string]reexec.Role{"own": announceProgram})
	os.Exit(m.Run())
}

// announceProgram announces the path of its program.
func announceProgram(ctx context.Context, _ []string, ready func(string)) error {
	program, err := os.Executable()
	if err == nil {
		ready(program)
		<-ctx.Done()
	}
	return err
}

// A role of the test's own runs in its binary, and others in the program of servers, which removes what it made.
func TestChildren(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	clustertest.Use()
	own, err := reexec.Start(t.Context(), "own")
	if err != nil {
		t.Fatal(err)
	}
	if binary, _ := os.Executable(); own.Addr() != binary {
		t.Errorf("its own role runs in %s, want %s", own.Addr(), binary)
	}
	keeper, err := reexec.Start(t.Context(), cluster.KeeperRole, "test")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(keeper.Addr(), tmp) {
		t.Errorf("keeps %s, want a directory in %s", keeper.Addr(), tmp)
	}
	for _, p := range []*reexec.Process{own, keeper} {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestWhatCannotBeStartedIsNamed(t *testing.T) {
	_, err := reexec.Start(t.Context(), "kepeer")
	if err == nil || !strings.Contains(err.Error(), `"kepeer"`) || !strings.Contains(err.Error(), "keeper") {
		t.Errorf("an unknown role: %v", err)
	}
	t.Setenv(testenv.Servers, "/nowhere/servers")
	if _, err := reexec.Start(t.Context(), cluster.KeeperRole, "test"); err == nil || !strings.Contains(err.Error(), "/nowhere/servers: no such file") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// A program that is built again and is the same keeps its time, by which go test knows it.
func TestBuildingAgainChangesNothing(t *testing.T) {
	path, err := clustertest.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := clustertest.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(again)
	if again != path || err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("%s became %s (%v), or has another time", path, again, err)
	}
}
