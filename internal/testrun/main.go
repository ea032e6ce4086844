// Testrun runs go test on many packages, which share one Apache ZooKeeper, one etcd member, and the program in which they
// start servers of their own. These have the same addresses and the same path in each run, so that go test runs
// again only the packages that have changed.
// At the end it reports the duration of each package, the slowest tests, and the skipped tests with their
// reasons.
//
//	go run ./internal/testrun [go test flags, as -flag=value] [packages]
//	go run ./internal/testrun check [parts]
//	go run ./internal/testrun checks
//
// The second runs parts of make check, or all, and adds a line for each to .ci/checks.jsonl: what passed, on
// which commit. The third lists the newest line of each part.
//
// A few failed tests are run once more, each alone. One that passes then is reported as FLAKY, a fault of
// the test that is to be mended, and does not fail the run. A data race, unless it is in the code of a library alone, a panic or a
// package that does not compile is never run again.
//
// The exit code is 0 if every test passed, and else that of go test. If no ZooKeeper is installed,
// testrun says so, and the tests that need one are skipped, or fail with REQUIRE_BACKENDS=all.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func main() {
	clustertest.Dispatch(nil) // it starts servers as tests do
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run carries out what the arguments ask for and returns the exit code.
func run(ctx context.Context, args []string) (code int, err error) {
	if len(args) > 0 {
		switch args[0] {
		case "check":
			return check(ctx, args[1:])
		case "checks":
			return 0, listChecks(os.Stdout)
		}
	}
	r, began := newReport(os.Stdout), time.Now()
	code, err = besideServers(ctx, r, [][]string{args}, nil)
	r.finish(time.Since(began))
	return code, err
}

// besideServers starts the servers, runs go test with each list of arguments, and stops the servers. It returns the
// first exit code that is not 0.
func besideServers(ctx context.Context, r *report, calls [][]string, environment []string) (code int, err error) {
	shared, err := startServers(ctx)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.close()) }()
	environment = append(shared.environment(), environment...)
	for _, args := range calls {
		c, err := test(ctx, r, args, environment)
		code = cmp.Or(code, c)
		if err != nil || ctx.Err() != nil {
			return code, err
		}
	}
	return code, nil
}

// test runs go test, and the tests that failed once more. It passes an interrupt on: go test then ends its tests and
// prints their output.
func test(ctx context.Context, r *report, args, environment []string) (code int, err error) {
	before, failed := len(r.failures), r.failed
	code, err = goTest(ctx, r, args, environment)
	for _, f := range repeatable(r.failures[before:]) {
		if err != nil || ctx.Err() != nil {
			break
		}
		alone := newReport(os.Stdout)
		var again int
		if again, err = goTest(ctx, alone, f.command(args), environment); again == 0 && alone.passed > 0 {
			r.passedAlone(f)
		}
	}
	if r.failed == failed && len(r.failures) > before && err == nil {
		code = 0 // each failed test passed alone
	}
	return code, err
}

// goTest runs go test with the arguments and returns its exit code.
func goTest(ctx context.Context, r *report, args, environment []string) (code int, err error) {
	command := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Env = append(os.Environ(), environment...)
	command.Stderr = os.Stderr
	events, err := command.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := command.Start(); err != nil {
		return 1, err
	}
	err = r.read(events)
	var failed *exec.ExitError
	if e := command.Wait(); errors.As(e, &failed) {
		code = max(failed.ExitCode(), 1) // -1 if a signal ended it
	} else {
		err = errors.Join(err, e)
	}
	return code, err
}

// servers are the shared servers: separate processes that end with this one.
type servers struct {
	program string // in which tests start servers of their own
	running []server
}

type server struct {
	variable string // environment variable for its address
	ensemble *cluster.Ensemble
}

// A sharedKind is a kind of server that the packages share.
type sharedKind struct {
	variable string
	kind     cluster.Kind
	plan     cluster.Plan
}

// The addresses are outside of the range that systems choose from, for connections (from 32768 or 49152) and for
// reexec.FreeAddr (from 10000). A free one replaces them if something else listens there, such as another
// testrun.
func sharedKinds() []sharedKind {
	return []sharedKind{
		{testenv.ZooKeeper, zookeeper.Kind(), cluster.Plan{Servers: 1, Listen: "127.0.0.1:9218"}},
		{testenv.Etcd, etcd.Kind(), cluster.Plan{Servers: 1, Listen: "127.0.0.1:9237", Durability: etcd.NoFsync}},
	}
}

// startServers builds the program and starts one server of each kind that is installed.
func startServers(ctx context.Context) (*servers, error) {
	program, err := clustertest.Build(ctx)
	if err != nil {
		return nil, err
	}
	os.Setenv(testenv.Servers, program) // for the servers of this process
	s := &servers{program: program}
	for _, k := range sharedKinds() {
		if _, err := zookeeper.FindInstallation(); k.variable == testenv.ZooKeeper && errors.Is(err, zookeeper.ErrNotInstalled) {
			fmt.Fprintf(os.Stderr, "!!!!! %v: the tests that need it are SKIPPED\n", err)
			continue
		}
		if taken := taken(k.plan.Listen); taken != nil {
			fmt.Fprintf(os.Stderr, "testrun: %v: %s is at another address, and go test runs again what uses it\n", taken, k.kind.Role)
			k.plan.Listen = ""
		}
		e, err := cluster.Start(ctx, k.kind, k.plan)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.running = append(s.running, server{k.variable, e})
	}
	return s, nil
}

// taken returns why no server can listen at an address.
func taken(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

// environment returns the environment variables with the program and the servers' addresses.
func (s *servers) environment() []string {
	variables := []string{testenv.Servers + "=" + s.program}
	for _, r := range s.running {
		variables = append(variables, r.variable+"="+r.ensemble.Addresses()[0])
	}
	return variables
}

func (s *servers) close() error {
	var errs []error
	for _, r := range s.running {
		errs = append(errs, r.ensemble.Close())
	}
	return errors.Join(errs...)
}
