package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// desk returns a folder with the files that the pages assume, and with programs that replace
// others.
func desk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	backendtest.Authority(t, dir)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]string{
		"examples": filepath.Join(root, "examples"), "me.pem": "client.pem", "me.key": "client.pem",
		"stampede": built(t), "stampede-main": built(t), // binaries that a page assumes to be built
	} {
		if err := os.Symlink(of, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string]string{
		".zk": "secret\n", ".etcd": "secret\n",
		"tmp/here": "",
		// Runs the compiled program in the project's folder; for other packages it only checks that
		// they exist.
		"as-typed/go": fmt.Sprintf(`#!/bin/sh
[ "$1 $2" = "run ./cmd/stampede" ] && shift 2 && exec stampede "$@"
for package; do :; done
cd %q && test -d "$package"
`, root),
		"parsing/stampede": fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", lookPath(t, "parse-stampede")),
		"parsing/make":     fmt.Sprintf("#!/bin/sh\nPATH=%q\nexec make -n -C %q \"$@\"\n", os.Getenv("PATH"), root),
	}
	files["parsing/hostname"] = "#!/bin/sh\necho here\n"
	// The other programs that the pages name do nothing; one that is not here is not found.
	for _, foreign := range []string{"benchstat", "cp", "docker", "prometheus", "tcpdump"} {
		files["parsing/"+foreign] = "#!/bin/sh\n"
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// built returns the path of stampede.
func built(t *testing.T) string {
	t.Helper()
	return lookPath(t, "stampede")
}

// lookPath returns the path of a program of this machine or of the tests.
func lookPath(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// parseOnly parses a stampede command line and does nothing else. It fails if there is no such
// command or flag, or if the flag or the command rejects a value or an argument.
func parseOnly(args []string) error {
	root := (&app{forms: catalog.Forms(), out: io.Discard, err: io.Discard}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(args...)
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	switch err := cmd.ParseFlags(rest); {
	case errors.Is(err, pflag.ErrHelp) && cmd != root: // --help explains the arguments
		return nil
	case errors.Is(err, pflag.ErrHelp):
	case err != nil:
		return cli.FlagError(cmd, err)
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// TestParseOnly checks that parseOnly finds the errors that it exists for.
func TestParseOnly(t *testing.T) {
	for line, wrong := range map[string]string{
		"run lock --clients 2,8":      "",
		"help thresholds":             "",
		"ab --help":                   "",
		"swep --help":                 `unknown command "swep"`,
		"completion bash":             "",
		"baseline update --to b.json": `unknown flag "--to"`,
		"swep":                        `unknown command "swep"`,
		"run --client 2":              `unknown flag "--client"`,
		"run --clients two":           "not a list of numbers",
		"runs everything":             `unknown command "everything"`,
		"schema --all":                `unknown flag "--all"`,
		"version everything":          "takes no arguments",
	} {
		err := parseOnly(strings.Fields(line))
		if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: error %v, want %q", line, err, wrong)
		}
	}
}
