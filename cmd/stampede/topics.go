package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/defaults"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/results/figure"
	"github.com/stampede-bench/stampede/results/render"
)

const thresholdsText = `A threshold is a condition that runs must meet:

  [RUN.]METRIC OP LIMIT

OP is < <= > >= or ==. RUN is *, a recipe, a form, RECIPE/FORM or a family, and
followed by @CLIENTS for the runs with that number of clients only; without RUN the
threshold applies to every run that has the metric. LIMIT is one of

  5ms, 3, 99%, 1MiB, 500/s        a value, with its unit
  0.5 * one-node.handoff.p90      the figure of another run of the same command, with the
                                  same number of clients on the same backend; the factor
                                  is optional, and so is the run: another figure of the same
  1.2 * baseline                  the same figure of the same run in the --baseline

  stampede run --threshold '*.safety.violations == 0' \
    --threshold 'predecessor.whole.notifications_per_round <= 1' \
    --threshold 'predecessor.handoff.p90 < 0.5 * one-node.handoff.p90'

Counts hardly depend on the machine: gate on them first, on ratios within one command
second, and on absolute times only with loose limits. A time that was measured badly,
or with too few observations, is invalid: neither a pass nor a failure, exit code 97.
If the load generator was short of CPU, a time is at most too long, so it may pass.

With --baseline and no threshold that refers to it, each form of the baseline that is
not naive may need 25 % or 0.5 more notifications, reads and writes per round. If its
run took about a second or longer, it must reach 0.6 times the rounds per second, and
take at most twice as long in each phase, at the highest percentile that the baseline
has. Times from another machine or with other settings are not compared; counts are.

Metrics:

`

// thresholdsTopic returns a help topic, not a command: stampede help thresholds shows it.
func (a *app) thresholdsTopic() *cobra.Command {
	topic := &cobra.Command{Use: "thresholds", Short: "Thresholds and their metrics"}
	topic.SetHelpFunc(func(*cobra.Command, []string) {
		fmt.Fprint(a.out, thresholdsText)
		a.listFigures(figure.All([]string{"PHASE"}), figure.Figure.Needs)
		fmt.Fprintf(a.out, "\nPHASE is one of %s; PHASE.p99 is short for\nPHASE.response.p99.\n", strings.Join(a.phases(), ", "))
		fmt.Fprint(a.out, "\nMetrics of observed paths, for stampede observe --threshold '[PATH: ]METRIC OP LIMIT':\n\n")
		a.listFigures(figure.OfObservations(), func(figure.Figure) string { return "" })
	})
	return topic
}

// listFigures prints a line for each figure, with what it needs.
func (a *app) listFigures(all []figure.Figure, needed func(figure.Figure) string) {
	var rows [][]string
	for _, f := range all {
		about := f.About
		if needs := needed(f); needs != "" {
			about += "; only with " + needs
		}
		rows = append(rows, []string{f.Name, about})
	}
	_ = render.WriteColumns(a.out, "  ", rows) // help has no errors
}

// phases returns the distinct phases of all forms, sorted.
func (a *app) phases() (all []string) {
	for _, f := range a.forms {
		all = append(all, f.Phases()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// exitCodesTopic returns a help topic, not a command: stampede help exit-codes shows it.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	for _, c := range cli.ExitCodes() {
		fmt.Fprintf(&b, "  %-13s  %s\n", c.Code, c.Meaning)
	}
	return &cobra.Command{Use: "exit-codes", Short: "The meaning of exit codes", Long: "Exit codes:\n\n" + b.String() + `
If several apply, the exit code is the first of 2, 1, 96, 99, 98, 97. After a
signal it is 129, 130 or 143, whatever was measured until then. A second
signal ends the command at once, without a result, and the nodes of its run remain
until stampede clean removes them.`}
}

const defaultsText = `The file stampede.yaml of the working folder has a project's defaults, for the
flags that say which service commands use and where they save results:

  backend: zookeeper://zk1:2281,zk2:2281/bench    # one, or a list
  user: bench
  password-file: secrets/bench
  tls-ca: certs/ca.pem

A flag on the command line takes precedence over its variable, then come a scenario
file, this file, and the default. A command that the file changes says so on standard
error. The variable ` + defaults.Variable + ` names another file, or is off: then none is read.
Folders above are not searched, and the file of another folder has no effect.

Paths are relative to the file. It has no password: name a password-file, or set the
variable ` + spec.PasswordVariable + `, which takes precedence over that file. User,
password and TLS are for services that are given by address, whichever these are, and
have no effect on those that stampede starts.

Keys, as the flags of stampede run:

`

// defaultsTopic returns a help topic, not a command: stampede help defaults shows it.
func (a *app) defaultsTopic() *cobra.Command {
	topic := &cobra.Command{Use: "defaults", Short: "The file of a project's defaults"}
	topic.SetHelpFunc(func(*cobra.Command, []string) {
		fmt.Fprint(a.out, defaultsText)
		var rows [][]string
		_, flags := spec.Defaults(nil)
		for _, key := range defaults.Keys() {
			_, about := pflag.UnquoteUsage(flags.Lookup(key))
			rows = append(rows, []string{key, about})
		}
		_ = render.WriteColumns(a.out, "  ", rows) // help has no errors
	})
	return topic
}

const faultsText = `A fault names a time, an action, its target, and further actions on the same target:

  at=TIME VERB TARGET [PARAMETER] [for=TIME] [every=TIME times=N]
  at=TIME VERB TARGET [PARAMETER], VERB [PARAMETER] after=TIME, ...

The time counts from the beginning of the measured window of stampede run, and of
stampede observe from that of the command or the observation. every= and times= repeat
the fault. for= undoes the action after that time: kill and fill-disk by restart, stop by continue,
freeze and hang-disk by thaw, faults of connections by restore. TARGET is MEMBERS or CLIENTS. MEMBERS are
leader, follower, member=2 or members=all, of a service that the run has started
(fill-disk: native with durability=fsync, or etcd, on Linux; hang-disk: root on Linux,
because each member gets a file system of its own); CLIENTS are client=3,
clients=25%, clients=all, or holder, the client that holds the lock. The clients of
stampede observe are those of another program, in the order in which they came: sessions
of ZooKeeper's protocol, processes of etcd's. They can also be process=NAME or
process=NUMBER, or node=PATH, the one that has the ephemeral node. There, MEMBERS
once=PATH is MEMBERS as soon as a client has had this ephemeral node. For a member, delay, throttle and restore apply to its connections to other members.

  stampede run --fault 'at=5s kill leader for=5s' --backend 'native:?servers=3'
  stampede run --fault 'at=5s stop follower, kill after=2s, restart after=3s' ...
  stampede run --fault 'at=5s isolate leader for=5s' --backend 'etcd:?servers=3'
  stampede run --fault 'at=5s isolate leader direction=out for=5s' --backend 'etcd:?servers=3'
  stampede run --fault 'at=5s hang-disk leader for=5s' --backend 'native:?servers=3&durability=fsync'
  stampede run --fault 'at=5s delay leader by=20ms for=5s' --backend 'zookeeper:?servers=3'
  stampede run --fault 'at=5s freeze holder for=15s' --duration 30s
  stampede run --nemesis 2s --duration 60s --seed 42
  stampede observe --fault 'at=3s expire clients=all' --env ZK_CONNECT={address} -- ./program
  stampede observe --fault expiry -- ./program {address}
  stampede observe --backend etcd: --fault 'at=3s compact-watch clients=all' -- ./program {address}

For each fault of a run the table shows the time until the first client noticed, until there was
a leader, until all clients were connected again, until the first grant after the
longest pause, and until throughput was back at 90 %; the longest wait of the median
client and of any client; and the cost on the wire until all were back. A fault that
the service does not support is an error before the run.

If a fault or --nemesis affects the connections between members, these go through
proxies in this process, which use some of its CPU time: the heading says "behind
proxies".

Verbs, what they can be done to, and which commands can do them:

`

// faultsTopic returns a help topic, not a command: stampede help faults shows it.
func (a *app) faultsTopic() *cobra.Command {
	topic := &cobra.Command{Use: "faults", Short: "Faults that a run can inject"}
	topic.SetHelpFunc(func(*cobra.Command, []string) {
		fmt.Fprint(a.out, faultsText)
		var rows [][]string
		for _, row := range faults.Verbs() {
			rows = append(rows, row[:])
		}
		_ = render.WriteColumns(a.out, "  ", rows) // help has no errors
		rows = nil
		for _, p := range faults.Presets() {
			rows = append(rows, []string{p.Name, strings.Join(p.Faults, "; "), p.About})
		}
		fmt.Fprint(a.out, "\nPresets of stampede observe, each with thresholds on what must be back:\n\n")
		_ = render.WriteColumns(a.out, "  ", rows)
	})
	return topic
}
