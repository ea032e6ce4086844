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
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/defaults"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/dashboards/live"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/roles"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/argument"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/agents"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

func main() {
	reexec.Dispatch(roles.All()) // does not return in a server that a run started
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
	a := &app{forms: forms, out: cli.NewScreen(os.Stdout), err: cli.NewScreen(os.Stderr), interrupt: interrupt}
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
	// page is where the runs are watched; nil if nowhere.
	page *live.Page
	// course is how far the command has come with its runs.
	course course
	// observers follow every run of the command.
	observers []observer
	// used holds the services that have done a run: their servers are warm.
	used map[drivers.Service]bool
	// defaults are those of the project; nil if there are none.
	defaults *defaults.File
	// fleet has the agents among which runs are divided; nil if this process has all clients.
	fleet *agents.Fleet
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "stampede",
		Short: "Benchmark and load-test coordination services",
		Long: `stampede finds thundering herds on ZooKeeper, etcd and servers with ZooKeeper's
protocol: in the traffic of your own program (observe), and under load (run), where
it compares locks, elections, queues and other recipes in herd-avoiding and naive
forms. It counts which clients each change wakes, and checks safety while it measures.`,
		Example: `  stampede observe --env ZK_CONNECT={address} -- go test ./...    whether your own program herds
  stampede run                                                    a lock in two forms, on a server started for it
  stampede run lock --backend zookeeper://zk1:2181                the same on your ensemble
  stampede count all --form all --clients 8                       exact counts, compared with the cost model`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.NoSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		for _, f := range cli.Repeated(cmd.Flags(), os.Args[1:]) {
			fmt.Fprintf(a.err, "warning: --%s is given more than once: %s holds\n", f.Name, f.Value)
		}
		if cmd.Name() == "version" || cmd.Name() == "completion" || cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return nil // these read no variable
		}
		if err := cli.CheckVariables(root, spec.PasswordVariable, defaults.Variable); err != nil {
			return err
		}
		if err := cli.FromEnvironment(cmd.Flags()); err != nil {
			return err
		}
		return a.takeDefaults(cmd.Flags())
	}
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(cli.FlagError)
	a.addCommands(root)
	cli.SetHelp(root, flagGroups())
	refuseOtherShells(root)
	refuseOtherTopics(root)
	return root
}

// takeDefaults sets the flags that were not given to the project's defaults, if the command uses a service or
// saved results, and says so.
func (a *app) takeDefaults(flags *pflag.FlagSet) (err error) {
	if flags.Lookup("backend") == nil && flags.Lookup("save") == nil {
		return nil // serve has flags of the same names for the server's own certificate
	}
	if a.defaults, err = defaults.Read(); err != nil {
		return a.reported(err)
	}
	quiet := flags.Lookup("quiet")
	if set := a.defaults.Apply(flags); len(set) > 0 && (quiet == nil || quiet.Value.String() == "false") {
		fmt.Fprintf(a.err, "stampede: %s sets %s; %s=%s ignores it\n", a.defaults.Name, strings.Join(set, ", "), defaults.Variable, defaults.Off)
	}
	return nil
}

// addCommands adds all commands, by the group in which help lists them, and the help topics.
func (a *app) addCommands(root *cobra.Command) {
	groups := []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Measure:", []*cobra.Command{a.runCommand(), a.countCommand(), a.sweepCommand(), a.observeCommand(), a.abCommand(), a.calibrateCommand()}},
		{"Judge:", []*cobra.Command{a.gateCommand(), a.baselineCommand(), a.compareCommand(), a.historyCommand()}},
		{"Results and scenario files:", []*cobra.Command{a.runsCommand(), a.reportCommand(), a.schemaCommand(), a.initCommand(), a.validateCommand()}},
		{"Services:", []*cobra.Command{a.listCommand(), a.serveCommand(), a.cleanCommand(), a.agentCommand()}},
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(a.versionCommand(), a.manCommand(), a.thresholdsTopic(), a.faultsTopic(), a.defaultsTopic(), exitCodesTopic())
}

// refuseOtherTopics makes cobra's help command reject a word that is no command and no topic. By default it prints the
// help of the root and succeeds.
func refuseOtherTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	cli.Must(err)
	help.Args = func(_ *cobra.Command, args []string) error {
		found, rest, err := root.Find(args)
		switch {
		case err != nil || len(rest) == 0:
			return err
		case !found.HasSubCommands():
			return cli.Usagef("%s has no command %q", found.CommandPath(), rest[0])
		}
		return cli.NoSuchCommand(found, rest)
	}
}

// refuseOtherShells makes cobra's completion command reject a shell that it does not know. By
// default the command prints its help and succeeds.
func refuseOtherShells(root *cobra.Command) {
	root.CompletionOptions.DisableNoDescFlag = true // FromEnvironment would not read its variable
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	cli.Must(err)
	completion.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		var shells []string
		for _, c := range cmd.Commands() {
			shells = append(shells, c.Name())
		}
		return cli.Usagef("stampede completion: unknown shell %q: want one of %s", args[0], strings.Join(shells, ", "))
	}
	completion.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

// signals returns a context that ends at one of reexec.EndSignals, with an interruption as its
// cause, or when interrupt is called. A second signal has its default effect and kills the process, as the first one does while
// the command waits for a file that it was given: nothing has begun then.
func signals() (_ context.Context, interrupt, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, reexec.EndSignals()...)
	go func() {
		s, ok := <-caught
		signal.Stop(caught)
		if ok {
			stopped := interruption{s.(syscall.Signal)}
			cancel(stopped)
			if argument.Waits() {
				os.Exit(stopped.exitCode())
			}
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
		return stopped.exitCode()
	}
	if err == nil {
		return cli.ExitOK
	}
	if !errors.As(err, new(cli.Silent)) {
		fmt.Fprintf(a.err, "stampede: %v\n", err)
	}
	return cli.ExitCode(err)
}

// flagGroups returns the groups in which help shows the flags of commands that have many.
func flagGroups() []cli.FlagGroup {
	return []cli.FlagGroup{
		{Title: "What to run", Flags: []string{"file", "form", "clients", "groups", "repeat", "levels", "servers", "pairs", "ceiling", "seed", "resume", "dry-run"}},
		{Title: "Service", Flags: []string{"backend", "consistency", "namespace", "connect-timeout", "max-sessions", "user", "password-file",
			"tls-ca", "tls-cert", "tls-key", "tls-server-name"}},
		{Title: "Where to listen", Flags: []string{"listen", "listen-cert", "listen-key", "listen-client-ca", "tls-listen", "tls-client-ca", "tls-min-version"}},
		{Title: "What to observe", Flags: []string{"page", "env", "for", "project", "pcap", "port"}},
		{Title: "Many machines", Flags: []string{"agents", "control", "control-listen", "on-agent-loss"}},
		{Title: "Length", Flags: []string{"duration", "rounds", "warmup", "ramp", "until-sure", "max-time"}},
		{Title: "Load", Flags: []string{"hold", "think", "session-timeout", "rate", "arrival", "late-limit", "background"}},
		{Title: "Single recipes", Flags: []string{"readers", "revoke-every", "abort-rate", "outage", "producers", "backlog", "priorities", "ephemeral-items", "polls", "items"}},
		{Title: "Reads and writes (mix)", Flags: []string{"reads", "keys", "keys-by", "name-length", "size", "size-by", "in-flight", "lists", "list-size", "creates", "grow",
			"txns", "txn-ops", "conditional", "watchers", "preload", "preload-watches"}},
		{Title: "Faults", Flags: []string{"fault", "nemesis", "probe"}},
		{Title: "Verdict", Flags: []string{"threshold", "abort-on", "baseline", "noise", "inconclusive", "metric", "all", "minimum-effect",
			"confirm", "slo", "worse-by", "fail-on-regression"}},
		{Title: "Output", Flags: []string{"output", "color", "percentiles", "bin", "save", "no-save", "subject", "tag", "quiet", "trace", "metrics-addr"}},
	}
}
