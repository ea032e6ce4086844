package main

import (
	"context"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// TestCleanAfterAKilledRun checks that clean leaves the nodes of a run alone while the run is
// alive. It removes the nodes of a killed run once the service has expired its session.
func TestCleanAfterAKilledRun(t *testing.T) {
	testenv.SkipIfShort(t)
	addr, watcher := given(t)
	url := "zookeeper://" + addr + "?session-timeout=1s"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	run := exec.CommandContext(ctx, "stampede", "run", "--backend", url, "--clients", "4",
		"--warmup", "0", "--duration", "1h", "--form", "predecessor", "--hold", "1h", "--no-save")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	awaitHolder(t, watcher)
	base := namespace.Default + "/" + awaitChild(t, ctx, watcher, namespace.Default)
	wantCleaned(t, url, `(?m)^  `+base+`: not removed: .*\n.*: removed 0 nodes of 0 killed runs below /stampede$`)
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.Wait()
	awaitGone(t, ctx, watcher, base+".alive")
	wantCleaned(t, url, `(?m)^  `+base+`: would remove \d+ nodes\n.*: would remove \d+ nodes of 1 killed run `, "--dry-run")
	awaitNode(t, ctx, watcher, base)
	wantCleaned(t, url, `(?m)^  `+base+`: removed \d+ nodes\n.*: removed \d+ nodes of 1 killed run `)
	if _, there, err := watcher.Exists(ctx, namespace.Default, nil); err != nil || there {
		t.Errorf("%s is there: %v, %v", namespace.Default, there, err)
	}
}

func wantCleaned(t *testing.T, url, want string, flags ...string) {
	t.Helper()
	args := append([]string{"clean", "--backend", url}, flags...)
	out, err := exec.CommandContext(t.Context(), "stampede", args...).CombinedOutput()
	if err != nil || !regexp.MustCompile(want).Match(out) {
		t.Errorf("%v, and it said:\n%s\nwant %s", err, out, want)
	}
}

func awaitGone(t *testing.T, ctx context.Context, c drivers.Conn, path string) {
	t.Helper()
	var gone drivers.Wait
	_, there, err := c.Exists(ctx, path, gone.Fire)
	if err == nil && there {
		_, err = gone.Await(ctx)
	}
	if err != nil {
		t.Fatalf("waiting for %s to go: %v", path, err)
	}
}
