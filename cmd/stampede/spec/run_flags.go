package spec

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/outputs"
	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// DefaultWarmup is long enough to warm up connections and caches.
const DefaultWarmup = 200 * time.Millisecond

// DefaultHold is as short as possible while still making other clients wait.
const DefaultHold = time.Millisecond

// DefaultOutage is longer than the first wait of a client that comes back, so that some attempts fail.
const DefaultOutage = 250 * time.Millisecond

// defaultAbortRate makes most transactions commit, and some abort.
const defaultAbortRate = 0.1

// A Flags holds the flags of stampede run.
type Flags struct {
	Selection
	Run         workloads.Plan // has every option that a flag sets as it is; Plan completes it
	Seed        uint64
	Output      outputs.Flags
	Load        Load
	Mix         Mix
	background  Background
	faults      Faults
	Saving      Saving
	Judging     Judging
	File        string
	Percentiles string
	Repeat      int
	Agents      Agents
	MetricsAddr string
	Listen      string

	duration *pflag.Flag // of Run.Duration
}

// Register adds all flags of stampede run but --file to a command.
func (f *Flags) Register(forms []workloads.Form, cmd *cobra.Command) {
	f.Selection.Register(forms, cmd, []string{"native:"}, []int{2, 8, 32, 128})
	flags := cmd.Flags()
	flags.DurationVar(&f.Run.Settings.Hold, "hold", DefaultHold, "how long a client holds the lock or its like")
	RegisterTimeout(flags, &f.Run)
	flags.IntVar(&f.Run.Groups, "groups", 1, "number of locks, queues and so on, among which the clients are divided evenly")
	f.RegisterFixed(cmd, 1800*time.Millisecond, results.KindRun)
	RegisterPercentiles(flags, &f.Percentiles)
	flags.IntVar(&f.Repeat, "repeat", 1, "number of repetitions of all runs; with at least 6 every figure has a 95 % interval")
	f.Agents.Register(cmd)
	f.Saving.Register(cmd)
	f.Judging.register(cmd)
}

// RegisterFixed adds the flags whose values are the same at all levels of a sweep.
func (f *Flags) RegisterFixed(cmd *cobra.Command, duration time.Duration, kind string) {
	flags := cmd.Flags()
	flags.DurationVar(&f.Run.Settings.Think, "think", 0, "how long a client pauses between two rounds")
	flags.DurationVar(&f.Run.Duration, "duration", duration, "least time for which each run is measured; if not given, at least until 4s after the last fault. A closed loop continues until 30 rounds have ended, up to 10 times this and 30s")
	f.duration = flags.Lookup("duration")
	flags.DurationVar(&f.Run.Warmup, "warmup", DefaultWarmup, "least time that each run takes before it is measured; a closed loop continues until its throughput is steady, up to 5 times this (15s in the first run on a started ZooKeeper or etcd)")
	flags.DurationVar(&f.Run.Ramp, "ramp", 0, "time over which the clients of a closed loop arrive before the warm-up (default: depends on their number)")
	flags.Int64Var(&f.Run.Rounds, "rounds", 0, "measure this number of rounds instead of --duration")
	flags.IntVar(&f.Run.Settings.RevokeEvery, "revoke-every", workloads.DefaultRevokeEvery, "rounds of a revocable lock per round that begins with a revocation")
	flags.DurationVar(&f.Run.Settings.Outage, "outage", DefaultOutage, "how long the service refuses connections in each round of reconnect")
	flags.Float64Var(&f.Run.Settings.AbortRate, "abort-rate", defaultAbortRate, "share of two-phase commits in which a site votes to abort, 0 to 1")
	flags.Uint64Var(&f.Seed, "seed", 0, "seed of every random choice (default: a new one, which is printed)")
	registerQueue(flags, &f.Run.Settings.Queue)
	f.Mix.register(cmd)
	flags.StringVar(&f.background.text, "background", "", backgroundUsage)
	f.Load.register(cmd)
	f.faults.register(flags)
	flags.DurationVar(&f.Run.Bin, "bin", metrics.DefaultBin, "width of a bin of the herd's time line, which has 100 bins in a result file")
	f.Output.Register(cmd, kind)
	RegisterMetrics(flags, &f.MetricsAddr)
	registerLive(flags, &f.Listen)
}

// afterFaults is how long a run is measured after the last step of its faults, if no duration is given:
// long enough to see a recovery.
const afterFaults = 4 * time.Second

// TimeoutFlag is the name of the flag for the session time-out.
const TimeoutFlag = "session-timeout"

// RegisterTimeout adds the flag for the session time-out.
func RegisterTimeout(flags *pflag.FlagSet, p *workloads.Plan) {
	flags.DurationVar(&p.SessionTimeout, TimeoutFlag, 0, "session time-out that clients ask for (default: that of the URL, or 10s); the service may grant another")
}

// fitFaults lengthens a duration that was not given so that all faults come in the run.
func (f *Flags) fitFaults() {
	if len(f.faults.schedule) > 0 && !f.duration.Changed {
		f.Run.Duration = max(f.Run.Duration, (f.faults.schedule.End() + afterFaults).Round(time.Second))
	}
}

func (f *Flags) check(chosen []catalog.Choice) error {
	for name, d := range map[string]time.Duration{"hold": f.Run.Settings.Hold, "think": f.Run.Settings.Think, "outage": f.Run.Settings.Outage, "ramp": f.Run.Ramp, "warmup": f.Run.Warmup} {
		if err := cli.CheckDuration(name, d, 0); err != nil {
			return err
		}
	}
	if d := f.Run.SessionTimeout; d != 0 {
		if err := cli.CheckDuration(TimeoutFlag, d, drivers.LeastSessionTimeout); err != nil {
			return err
		}
	}
	if err := f.Agents.check(); err != nil {
		return err
	}
	if f.Run.Rounds < 0 {
		return cli.Flagf("rounds", "%d: must be positive, or 0 to go by --duration", f.Run.Rounds)
	}
	if f.Run.Rounds > 0 && f.duration.Changed {
		return cli.Flagf("rounds", "%d with --duration: want one of them, since either ends a run", f.Run.Rounds)
	}
	if err := checkGroups(f.Run.Groups, f.Clients, chosen); err != nil {
		return err
	}
	if f.Run.Settings.RevokeEvery < 1 {
		return cli.Flagf("revoke-every", "%d: must be at least 1", f.Run.Settings.RevokeEvery)
	}
	if !(f.Run.Settings.AbortRate >= 0 && f.Run.Settings.AbortRate <= 1) { // also rejects NaN
		return cli.Flagf("abort-rate", "%v: must be between 0 and 1", f.Run.Settings.AbortRate)
	}
	if err := checkQueue(f.Run.Settings.Queue); err != nil {
		return err
	}
	if err := f.Load.check(f.Run.Settings.Think, f.Run.Ramp); err != nil {
		return err
	}
	if f.Run.Bin < metrics.ShortestBin || f.Run.Bin > metrics.LongestBin {
		return cli.Flagf("bin", "%v: must be from %v to %v", f.Run.Bin, metrics.ShortestBin, metrics.LongestBin)
	}
	if f.Load.IsOpen() && f.Run.Rounds > 0 {
		f.Run.Duration = f.Load.WindowOf(f.Run.Rounds)
	}
	return cli.CheckDuration("duration", f.Run.Duration, 10*time.Millisecond)
}

// WindowRounds returns the number of rounds after which a run's window ends, or 0 if rounds do not
// end it. In an open loop, rounds are arrivals, and their number determines the window's length.
func (f *Flags) WindowRounds() int64 {
	if f.Load.IsOpen() {
		return 0
	}
	return f.Run.Rounds
}

// ofResult lists the flags of run that say what happens to the result. A scenario file cannot set
// them; it has a seed of its own.
func ofResult() []string {
	return []string{"file", MetricsFlag, ListenFlag, "output", "color", "save", "no-save", "subject", "tag", "quiet", dryRun, "percentiles", "seed"}
}

// OfCommand lists the flags that are not settings of one run. A scenario states its thresholds in
// another form.
func OfCommand() []string {
	return slices.Concat(ofResult(), []string{"threshold", "abort-on", "baseline", "noise", "inconclusive"}, AgentFlags())
}

// Defaults returns the flags of run with their default values.
func Defaults(forms []workloads.Form) (*Flags, *pflag.FlagSet) {
	f, cmd := &Flags{}, &cobra.Command{}
	f.Register(forms, cmd)
	return f, cmd.Flags()
}

// RegisterPercentiles adds the flag that selects the percentiles to show.
func RegisterPercentiles(flags *pflag.FlagSet, text *string) {
	flags.StringVar(text, "percentiles", "", "`LIST` of percentiles in tables and findings, such as 50,90,99.9 (default: the median, and p90 or the highest below it that all rows support)")
}

// ParsePercentiles parses a list of percentiles and returns it in ascending order. It returns nil
// for "".
func ParsePercentiles(text string) (all []float64, err error) {
	if text == "" {
		return nil, nil
	}
	for _, word := range strings.Split(text, ",") {
		p, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(word), "p"), 64)
		if err != nil || !(p > 0 && p < 100) { // also rejects NaN
			return nil, cli.Flagf("percentiles", "%s: %q is not between 0 and 100: want a list such as 50,90,99.9", text, word)
		}
		all = append(all, p)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// registerQueue adds the flags that only queues use.
func registerQueue(flags *pflag.FlagSet, q *workloads.QueueSettings) {
	flags.IntVar(&q.Producers, "producers", 0, "number of clients that put items into a queue, at most all but one (default half of them)")
	flags.IntVar(&q.Backlog, "backlog", 0, "most items in a queue at once (default the number of producers)")
	flags.IntVar(&q.Priorities, "priorities", workloads.DefaultPriorities, "number of priorities of a priority queue")
	flags.BoolVar(&q.EphemeralItems, "ephemeral-items", false, "make a queue's items ephemeral: they end with the session that put them")
}

// checkQueue rejects invalid values of these flags.
func checkQueue(q workloads.QueueSettings) error {
	switch {
	case q.Producers < 0:
		return cli.Flagf("producers", "%d: must be at least 1, or 0 for half of the clients", q.Producers)
	case q.Backlog < 0:
		return cli.Flagf("backlog", "%d: must be at least 1, or 0 for the number of producers", q.Backlog)
	case q.Priorities < 1 || q.Priorities > 99:
		return cli.Flagf("priorities", "%d: must be 1 to 99", q.Priorities)
	}
	return nil
}
