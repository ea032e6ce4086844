package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/defaults"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/backends/roles"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/delivery/misdelivery"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/schema"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

func TestMain(m *testing.M) {
	reexec.Dispatch(roles.All())
	testscript.Main(tidy{m}, map[string]func(){
		"stampede": main,
		"follower": follower,
		// stampede with one more form, which is broken.
		"broken-stampede": func() { os.Exit(execute(append(catalog.Forms(), freeForAll()), os.Args[1:])) },
		// stampede with the naive lock in place of the one that avoids the herd.
		"herding-stampede": func() { os.Exit(execute(herding(), os.Args[1:])) },
		// stampede that only parses its command line.
		"parse-stampede": func() {
			if err := parseOnly(os.Args[1:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(cli.ExitUsage)
			}
		},
	})
}

// tidy fails tests that save results in the folder of the code, where a commit would take them along.
type tidy struct{ *testing.M }

func (m tidy) Run() int {
	os.Unsetenv(defaults.Variable) // it would name a file of the developer
	code := m.M.Run()
	if left, _ := filepath.Glob(filepath.Join(spec.SavedRuns, "*")); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "tests left results behind: %q\n", left)
		return 1
	}
	return code
}

// TestScripts has the address of a server that delivers each notification twice in $DOUBLING, and of the same server
// behind a relay that changes nothing in $RELAYED.
func TestScripts(t *testing.T) {
	address := backendtest.Native(t, server.Options{})
	runScripts(t, "script", map[string]string{
		"DOUBLING": misdelivery.New(misdelivery.Double).ZooKeeper(t, address),
		"RELAYED":  misdelivery.New(misdelivery.None).ZooKeeper(t, address),
	})
}

// TestAgentScripts runs the scripts of agents, each with the address of a control plane of its own in a variable:
// $CONTROL for agents.txtar, $CONTROL_COMMANDS for commands.txtar, and so on.
func TestAgentScripts(t *testing.T) {
	testenv.SkipIfShort(t)
	planes := map[string]string{"CONTROL": backendtest.Native(t, server.Options{})}
	for _, script := range []string{"COMMANDS", "LOSS", "FAULTS"} {
		planes["CONTROL_"+script] = backendtest.Native(t, server.Options{})
	}
	runScripts(t, "agents", planes)
}

// TestSecureScripts runs the scripts for servers with TLS. They have the address in $ADDRESS, a
// certificate in $CA and $CERT, a server's in $SERVER_CERT, another authority's in $OTHER_CA and $OTHER_CERT, the node
// /bench, which belongs to the user ann with the password hunter2, and the address of a control plane in $CONTROL.
func TestSecureScripts(t *testing.T) {
	testenv.SkipIfShort(t)
	t.Run("zookeeper", func(t *testing.T) {
		s := backendtest.SecureZooKeeper(t)
		s.Protect(t, "/bench", "ann", "hunter2")
		runSecureScripts(t, "secure/zookeeper", s)
	})
	t.Run("etcd", func(t *testing.T) {
		s := backendtest.SecureEtcd(t)
		s.ProtectKeys(t, "/bench", "ann", "hunter2")
		runSecureScripts(t, "secure/etcd", s)
	})
}

func runSecureScripts(t *testing.T, folder string, s backendtest.Secure) {
	runScripts(t, folder, map[string]string{
		"ADDRESS": s.Address, "CA": s.Security.CA, "CERT": s.Security.Cert,
		"SERVER_CERT": filepath.Join(filepath.Dir(s.Security.CA), "server.pem"),
		"OTHER_CA":    s.Stranger.CA, "OTHER_CERT": s.Stranger.Cert, "CONTROL": backendtest.Native(t, server.Options{}),
	})
}

func runScripts(t *testing.T, folder string, variables map[string]string) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/" + folder,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			for name, value := range variables {
				e.Setenv(name, value)
			}
			e.Setenv("TMPDIR", e.WorkDir+"/tmp") // so that a script sees the files that are left there
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("ROOT", root)
			for _, name := range []string{"JAVA_HOME", "ZOOKEEPER_HOME", "GORACE"} {
				e.Setenv(name, os.Getenv(name))
			}
			return os.Mkdir(e.WorkDir+"/tmp", 0o755)
		},
		Condition: func(name string) (bool, error) {
			if name != "zookeeper" {
				return false, errors.New("unknown condition " + name)
			}
			_, err := zookeeper.FindInstallation()
			return err == nil || os.Getenv("REQUIRE_BACKENDS") == "all", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "valid": valid, "complete": complete},
	})
}

// exits CODE[,CODE] PROGRAM ARGUMENT... runs a program and checks that it exits with one of the
// codes.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE[,CODE] PROGRAM ARGUMENT...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// valid KIND FILE checks that a result conforms to its published schema.
func valid(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: valid KIND FILE")
	}
	err := schema.Validate(args[0], []byte(ts.ReadFile(args[1])))
	if wrong := errors.Is(err, schema.ErrInvalid); wrong != neg || err != nil && !wrong {
		ts.Fatalf("%s as a %s: %v", args[1], args[0], err)
	}
}

// complete FILE... reads files with a result in each line, and writes them with all fields: scripts leave out
// those that they do not need, and the command refuses such files.
func complete(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		var b bytes.Buffer
		for line := range strings.Lines(ts.ReadFile(name)) {
			r, err := results.ReadAny(strings.NewReader(line))
			ts.Check(err)
			ts.Check(archive.WriteLine(&b, r))
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), b.Bytes(), 0o644))
	}
}

// herding returns all forms, with the naive lock under the name of the recipe.
func herding() []workloads.Form {
	forms := catalog.Forms()
	find := func(name string) int {
		return slices.IndexFunc(forms, func(f workloads.Form) bool { return f.String() == name })
	}
	forms[find("lock/predecessor")].New = forms[find("lock/one-node")].New
	return forms
}

// freeForAll returns a lock that every client gets immediately.
func freeForAll() workloads.Form {
	return workloads.Form{Recipe: "lock", Name: "free-for-all", Family: workloads.Naive, Summary: "does not wait",
		New: recipe.Locks(func(drivers.Conn, string) recipe.Lock { return freeLock{} })}
}

type freeLock struct{}

func (freeLock) Acquire(ctx context.Context) (context.Context, error) { return ctx, nil }
func (freeLock) Token() int64                                         { return drivers.NoSeq }
func (freeLock) Release(context.Context) error                        { return nil }
