// Command stampede measures what the recipes of coordination services cost, in forms that avoid the
// herd and in forms that do not.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/child"
	"github.com/stampede-bench/stampede/live"
	"github.com/stampede-bench/stampede/telemetry"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

func main() {
	child.Dispatch(backends.Roles()) // does not return in a server that a run started
	collectSeldom()
	os.Exit(execute(catalog.Forms(), os.Args[1:]))
}

// garbage is the GC percentage (GOGC) unless the environment sets it. In a load generator, garbage
// collection takes CPU time from the server on the same machine: with Go's default of 100 this cost
// a tenth of the hand-offs of a lock on etcd.
const garbage = 400

func collectSeldom() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}

// execute runs one command line on a catalogue of forms and returns its exit code.
func execute(forms []workloads.Form, args []string) int {
	ctx, interrupt, stop := signals()
	defer stop()
	a := &app{forms: forms, out: newScreen(os.Stdout), err: newScreen(os.Stderr), interrupt: interrupt}
	cmd := a.root()
	cmd.SetArgs(args)
	return a.report(ctx, cmd.ExecuteContext(ctx))
}

// An app holds what every command needs.
type app struct {
	forms    []workloads.Form
	out, err io.Writer
	// interrupt ends the command as SIGINT does.
	interrupt func()
	// runs and page receive every run in progress. They are nil unless flags, or for runs the
	// environment, ask for them.
	runs *telemetry.Collector
	page *live.Page
	// used holds the services that have done a run: their servers are warm.
	used map[drivers.Service]bool
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "stampede",
		Short: "Benchmark and load-test the recipes of coordination services",
		Long: `stampede runs the classic coordination recipes against ZooKeeper and servers like
it, in a form that avoids the herd and in naive forms, and shows side by side what
each costs: notifications, reads and writes per round, and the time they take.

  stampede run              the lock, both forms, on a server started for it
  stampede count            exactly what each form costs, at rest
  stampede sweep            how each form scales, and from where on the naive one is worse
  stampede ab               which of two is faster, and whether that is sure
  stampede calibrate        what this machine makes of no difference, for ab to know
  stampede runs, report     what was run before, in any format
  stampede gate, baseline   whether it was as it must be
  stampede compare          saved runs against others
  stampede init, validate   scenario files, for stampede run -f
  stampede schema           what a file of results has in it, for programs
  stampede list             recipes, forms and backends
  stampede clean            remove what killed runs left on a service
  stampede serve            the native server by itself, for any ZooKeeper client`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Name() == "version" || cmd.Name() == "completion" || cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return nil // these read no variable
		}
		return checkVariables(root)
	}
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.runCommand(), a.countCommand(), a.sweepCommand(), a.abCommand(), a.calibrateCommand(), a.compareCommand(), a.runsCommand(), a.reportCommand(), a.gateCommand(), a.baselineCommand(), a.schemaCommand(),
		a.initCommand(), a.validateCommand(), a.cleanCommand(), a.serveCommand(), a.listCommand(), a.versionCommand(),
		a.thresholdsTopic(), a.faultsTopic(), exitCodesTopic())
	refuseOtherShells(root)
	return root
}

// refuseOtherShells makes cobra's completion command reject a shell that it does not know. By
// default the command prints its help and succeeds.
func refuseOtherShells(root *cobra.Command) {
	root.CompletionOptions.DisableNoDescFlag = true // fromEnvironment would not read its variable
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	must(err)
	completion.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var shells []string
		for _, c := range cmd.Commands() {
			shells = append(shells, c.Name())
		}
		return usagef("stampede completion: unknown shell %q: want one of %s", args[0], strings.Join(shells, ", "))
	}
	completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// signals returns a context that ends at SIGINT or SIGTERM, with an interruption as its cause, or
// when interrupt is called. A second signal has its default effect and kills the process.
func signals() (_ context.Context, interrupt, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	go func() {
		s, ok := <-caught
		signal.Stop(caught)
		if ok {
			cancel(interruption{s.(syscall.Signal)})
		}
	}()
	return ctx, func() { cancel(interruption{syscall.SIGINT}) }, func() {
		signal.Stop(caught)
		close(caught)
		cancel(nil)
	}
}

// report prints the error on one line and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	var stopped interruption
	if errors.As(context.Cause(ctx), &stopped) && !errors.Is(err, errEnded) {
		return 128 + int(stopped.signal)
	}
	if err == nil {
		return exitOK
	}
	if !errors.As(err, new(silent)) {
		fmt.Fprintf(a.err, "stampede: %v\n", err)
	}
	return exitCode(err)
}
