package server_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// Programs that use kazoo with all its recipes get the same results from the native server as from
// Apache ZooKeeper, and through a proxy that observes them: the output in the text file beside each
// program.
func TestKazoo(t *testing.T) {
	testenv.SkipIfShort(t)
	python := kazooPython(t)
	secure := backendtest.SecureNative(t, server.Options{})
	servers := map[string][]string{
		"native":          {backendtest.Native(t, server.Options{})},
		"native observed": {observed(t, backendtest.Native(t, server.Options{}))},
		"native over TLS": {secure.Address, secure.Security.CA, secure.Security.Cert},
		"zookeeper":       {apacheFor(t, "kazoo")},

		"zookeeper observed": {observed(t, backendtest.ZooKeeper(t, ""))},
	}
	texts, err := filepath.Glob("testdata/kazoo/*.txt")
	if err != nil || len(texts) == 0 {
		t.Fatalf("no texts, %v", err)
	}
	for _, text := range texts {
		program := strings.TrimSuffix(text, ".txt") + ".py"
		for name, arguments := range servers {
			t.Run(strings.TrimSuffix(filepath.Base(program), ".py")+"/"+name, func(t *testing.T) {
				t.Parallel()
				// -B: write no bytecode files beside the programs.
				wantTold(t, text, exec.CommandContext(t.Context(), python, append([]string{"-B", program}, arguments...)...))
			})
		}
	}
}

// wantTold runs a program and compares its output with the text.
func wantTold(t *testing.T, text string, program *exec.Cmd) {
	t.Helper()
	want, err := os.ReadFile(text)
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	program.Stderr = &complaints
	got, err := program.Output()
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if t.Failed() {
		t.Log(complaints.String())
	}
}

// kazooPython is the Python that has kazoo; only the system's own Python may have it.
func kazooPython(t *testing.T) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import kazoo").Run() == nil {
			return python
		}
	}
	backendtest.Lacking(t, errors.New("kazoo is not installed: apt-get install python3-kazoo"))
	return ""
}
