package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestObtainScript checks where scripts/obtain takes stampede from: from the release if the version is one, and from
// Go where no file fits. What differs from its checksum is never used.
func TestObtainScript(t *testing.T) {
	testenv.SkipIfShort(t)
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("releases have archives of this form for Linux and macOS")
	}
	name := fmt.Sprintf("stampede_0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	archive := archived(t, "stampede", "echo released")
	sums := fmt.Sprintf("%064d  another.tar.gz\n%x  %s\n", 0, sha256.Sum256(archive), name)
	release := map[string]string{"/v0.1.0/checksums.txt": sums, "/v0.1.0/" + name: string(archive)}
	with := func(path, text string) map[string]string {
		return map[string]string{"/v0.1.0/checksums.txt": sums, path: text}
	}
	for _, c := range []struct {
		what, version string
		files         map[string]string
		withoutGo     bool
		want          string // what stampede prints
		exit          int
		asked         int // requests
		stderr        string
	}{
		{what: "a release", version: "v0.1.0", files: release, want: "released", asked: 2},
		{what: "a branch", version: "main", files: release, want: "built"},
		{what: "no version", files: release, want: "built"},
		{what: "a path", version: "v0.1.0/../v0.1.0", files: release, want: "built"},
		{what: "a tag without a release", version: "v0.2.0", files: release, want: "built", asked: 1, stderr: "no stampede_0.2.0_"},
		{what: "no archive for this platform", version: "v0.1.0", files: with("/", ""), want: "built", asked: 2, stderr: "so stampede is built"},
		{what: "another archive", version: "v0.1.0", files: with("/v0.1.0/"+name, "another"), exit: 1, asked: 2, stderr: name + " is not what its checksums.txt says"},
		{what: "no checksum", version: "v0.1.0", files: map[string]string{"/v0.1.0/checksums.txt": "", "/v0.1.0/" + name: string(archive)}, exit: 1, asked: 2, stderr: "is not what its checksums.txt says"},
		{what: "nothing at all", version: "main", withoutGo: true, exit: 1, stderr: "there is no release main for this platform, and no Go to build stampede"},
	} {
		t.Run(c.what, func(t *testing.T) {
			var mu sync.Mutex
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked++
				mu.Unlock()
				text, found := c.files[r.URL.Path]
				if !found {
					http.NotFound(w, r)
					return
				}
				fmt.Fprint(w, text)
			}))
			defer server.Close()
			folder := t.TempDir()
			path := programs(t, "bash", "curl", "env", "grep", "tar", "gzip", "uname", "tr", "tail", "sha256sum", "shasum", "dirname", "cp", "chmod")
			if !c.withoutGo {
				executable(t, filepath.Join(path, "go"), `for last; do [ "${flag:-}" = -o ] && out=$last; flag=$last; done
printf '#!/usr/bin/env bash\necho built\n' >"$out"; echo "${GOOS:-}${GOFLAGS:-}$GOTOOLCHAIN" >"$out.go"; chmod +x "$out"`)
			}
			obtain := exec.CommandContext(t.Context(), "bash", "../../scripts/obtain", folder)
			obtain.Env = []string{"PATH=" + path, "OBTAIN_VERSION=" + c.version, "OBTAIN_RELEASES=" + server.URL, "GOOS=plan9", "GOFLAGS=-mod=vendor"}
			out, err := obtain.CombinedOutput()
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if got := obtain.ProcessState.ExitCode(); got != c.exit || !strings.Contains(string(out), c.stderr) || c.stderr == "" && len(out) > 0 {
				t.Errorf("exit code %d, want %d: %q, want %q", got, c.exit, out, c.stderr)
			}
			if asked != c.asked {
				t.Errorf("%d requests, want %d", asked, c.asked)
			}
			said, err := exec.CommandContext(t.Context(), filepath.Join(folder, "stampede")).Output()
			if c.exit == 0 && err != nil || strings.TrimSpace(string(said)) != c.want {
				t.Errorf("stampede prints %q (%v), want %q", said, err, c.want)
			}
			if told, err := os.ReadFile(filepath.Join(folder, "stampede.go")); err == nil && string(told) != "auto\n" {
				t.Errorf("go was told %q, want the toolchain auto only", told)
			}
		})
	}
}

// programs returns a folder with these programs alone, as far as they are installed.
func programs(t *testing.T, names ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder
}

// archived returns a tar.gz with a script.
func archived(t *testing.T, name, script string) []byte {
	t.Helper()
	text := "#!/usr/bin/env bash\n" + script + "\n"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
