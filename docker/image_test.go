package docker

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/internal/golden"
)

// TestTheImageDownloadsWhatTheBuildNeeds checks that the Dockerfile downloads the modules that the
// command needs, in a separate layer, and none that only tests and tools need.
func TestTheImageDownloadsWhatTheBuildNeeds(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/stampede")
	list.Dir, list.Env = "..", append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	needed := strings.Fields(string(out))
	slices.Sort(needed)
	needed = slices.Compact(needed)
	golden.Compare(t, "modules", []byte(strings.Join(needed, "\n")+"\n"))
	if asked := downloads(t); !slices.Equal(asked, needed) {
		t.Errorf("the Dockerfile downloads %q,\nwant %q", asked, needed)
	}
}

// downloads returns the modules that the Dockerfile's go mod download names. It runs that line with
// a program called go that prints its arguments.
func downloads(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^RUN (go mod download.*)$`).FindSubmatch(text)
	if line == nil {
		t.Fatal("the Dockerfile downloads no modules")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "go"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("sh", "-c", string(line[1]))
	run.Dir, run.Env = "..", append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	out, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))[2:] // without "mod download"
}
