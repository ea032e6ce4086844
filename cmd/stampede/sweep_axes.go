package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/openloop"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// The names of the axes, in flags and results.
const (
	axisClients = "clients"
	axisRate    = "rate"
	axisGroups  = "groups"
	axisHold    = "hold"
	axisTimeout = spec.TimeoutFlag
	axisReads   = "reads"
	axisSize    = "size"
)

// axisNames returns all axes, in the order in which curves are drawn over them.
func axisNames() []string {
	return []string{axisClients, axisRate, axisGroups, axisHold, axisTimeout, axisReads, axisSize}
}

// The default numbers of clients of a sweep: a range if clients are the axis, otherwise one number
// that is large enough to show a herd.
const (
	clientsRange = "2..256"
	clientsOne   = "64"
)

// step is the ratio of adjacent levels of a search.
const step = 1.05

// An axes holds the flags that may have several levels. The rate, the reads and the size stay in
// the flags that run has as well.
type axes struct {
	clients, groups, hold string
	timeout               string
	count                 int // levels in a range; 0: each doubles the one before; --reads goes in steps of 0.25

	swept []string // the axes with several levels, in order
}

func (x *axes) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&x.clients, axisClients, "c", "", "`LEVELS` of the number of clients (default "+clientsRange+", or "+clientsOne+" if another axis has levels)")
	flags.StringVar(&x.groups, axisGroups, "1", "`LEVELS` of the number of locks, queues and so on, among which the clients are divided evenly")
	flags.StringVar(&x.hold, axisHold, "1ms", "`LEVELS` of how long a client holds the lock or its like")
	flags.StringVar(&x.timeout, axisTimeout, "", "`LEVELS` of the session time-out that clients ask for (default: that of the URL, or 10s)")
	flags.IntVar(&x.count, "levels", 0, "number of levels of a range (default: each is twice the one before; those of --reads are 0.25 apart)")
	flags.Lookup(axisRate).Usage = "`LEVELS` of the total arrivals per second, in an open loop (default: a closed loop)"
	registerMix(flags)
	for _, flag := range []string{axisClients, axisGroups, axisHold, axisTimeout, axisSize, "levels"} {
		cli.Complete(cmd, flag, func() []string { return nil })
	}
}

// levels returns all combinations of the axes' levels, or the grid of a search.
func (x *axes) levels(f *spec.Flags, search bool) ([]sweeps.Level, error) {
	if x.count < 0 || x.count == 1 {
		return nil, cli.Flagf("levels", "%d: must be at least 2, or 0 for levels that double", x.count)
	}
	if x.clients == "" {
		x.clients = clientsRange
		if slices.ContainsFunc(axisNames(), func(axis string) bool { return axis != axisClients && several(x.text(axis, f)) }) {
			x.clients = clientsOne
		}
	}
	if err := x.find(f, search); err != nil {
		return nil, err
	}
	levels := []sweeps.Level{{}}
	for _, axis := range axisNames() {
		text := x.text(axis, f)
		if text == "" || ofMix(axis) && !several(text) {
			continue
		}
		values, err := x.values(axis, text, search)
		if err != nil {
			return nil, cli.Usagef("--%s %v", axis, err)
		}
		levels = product(levels, axis, values)
	}
	return levels, nil
}

// several reports whether a flag names more than one level.
func several(text string) bool { return strings.ContainsAny(text, ",") || strings.Contains(text, "..") }

func (x *axes) text(axis string, f *spec.Flags) string {
	return map[string]string{axisClients: x.clients, axisRate: f.Load.Rate, axisGroups: x.groups, axisHold: x.hold, axisTimeout: x.timeout,
		axisReads: f.Mix.ReadsText, axisSize: f.Mix.SizeText}[axis]
}

// find finds the axes that have several levels: one or two in a sweep, exactly one searchable axis
// in a search.
func (x *axes) find(f *spec.Flags, search bool) error {
	for _, axis := range axisNames() {
		if several(x.text(axis, f)) {
			x.swept = append(x.swept, axis)
		}
	}
	switch {
	case search && (len(x.swept) != 1 || !strings.Contains(x.text(x.swept[0], f), "..") || !slices.Contains([]string{axisClients, axisRate}, x.swept[0])):
		return cli.Flagf("slo", ": give one range to search, --rate 100..10000 or --clients 2..1024")
	case len(x.swept) == 0:
		return cli.Usagef("nothing to sweep: give --clients, --rate, --groups, --hold, --session-timeout, or of a mix --reads or --size, levels such as 2,8,32 or a range such as 2..256")
	case len(x.swept) > 2:
		return cli.Usagef("--%s have several levels: give two of them at most", strings.Join(x.swept, ", --"))
	}
	return nil
}

func (x *axes) values(axis, text string, search bool) ([]float64, error) {
	kind := sweeps.Whole(1)
	switch axis {
	case axisClients:
		if groups, err := strconv.Atoi(x.groups); err == nil && groups > 0 {
			kind = sweeps.Whole(groups)
		}
	case axisRate:
		kind = sweeps.Rates()
	case axisHold, axisTimeout:
		kind = sweeps.Durations()
	case axisReads:
		kind = sweeps.Shares()
	case axisSize:
		kind = sweeps.Sizes()
	}
	values, err := kind.Levels(text, x.count)
	if err == nil && search && axis == x.swept[0] {
		return kind.Grid(values[0], values[len(values)-1], step), nil
	}
	return values, err
}

// product combines every level with every value of one more axis.
func product(levels []sweeps.Level, axis string, values []float64) (all []sweeps.Level) {
	for _, l := range levels {
		for _, v := range values {
			switch axis {
			case axisClients:
				l.Clients = int(v)
			case axisRate:
				l.Rate = v
			case axisGroups:
				l.Groups = int(v)
			case axisHold:
				l.Hold = time.Duration(v)
			case axisTimeout:
				l.SessionTimeout = time.Duration(v)
			case axisReads:
				l.Reads = v
			case axisSize:
				l.Size = int(v)
			}
			all = append(all, l)
		}
	}
	return all
}

// value returns a level's value on an axis that can be searched.
func (x *axes) value(l sweeps.Level, axis string) float64 {
	if axis == axisRate {
		return l.Rate
	}
	return float64(l.Clients)
}

// clientsOf returns the distinct numbers of clients among the levels.
func (x *axes) clientsOf(levels []sweeps.Level) (all []int) {
	for _, l := range levels {
		if !slices.Contains(all, l.Clients) {
			all = append(all, l.Clients)
		}
	}
	return all
}

// flagsAt returns the flags of a run at a level.
func (f *sweepFlags) flagsAt(l sweeps.Level) spec.Flags {
	r := f.Flags
	r.Clients, r.Run.Groups, r.Run.Settings.Hold, r.Run.SessionTimeout = []int{l.Clients}, l.Groups, l.Hold, l.SessionTimeout
	if l.Rate > 0 {
		r.Load.Rate = openloop.PerSecond(l.Rate).String()
	}
	f.axes.setMix(&r, l)
	return r
}

// registerMix changes the usage of a mix's flags to say that they take levels.
func registerMix(flags *pflag.FlagSet) {
	flags.Lookup(axisReads).Usage = "`LEVELS` of the share of reads in a mix: 0..1 or 0,0.5,0.9 (default 10 of 11)"
	flags.Lookup(axisSize).Usage = "`LEVELS` of the bytes of each value in a mix: 1k or 100..100k"
}

// ofMix reports whether only a mix has the axis. With a single level it is not an axis of the sweep
// but a setting of the mix.
func ofMix(axis string) bool { return axis == axisReads || axis == axisSize }

// checkMix rejects levels of a mix's axes if a chosen recipe is not a mix.
func (x *axes) checkMix(f *spec.Flags, forms []workloads.Form, recipes []string) error {
	chosen, err := catalog.Select(forms, recipes, f.Form)
	if err != nil {
		return cli.Usage(err)
	}
	other := slices.ContainsFunc(chosen, func(c catalog.Choice) bool { return c.Recipe != "mix" })
	for _, axis := range x.swept {
		if ofMix(axis) && other {
			what := map[string]string{axisReads: "a share of reads", axisSize: "values of a size"}[axis]
			return cli.Usagef("--%s %s: only a mix has %s: stampede sweep mix", axis, x.text(axis, f), what)
		}
	}
	return nil
}

// setMix sets the flags of a mix to the values of the level.
func (x *axes) setMix(r *spec.Flags, l sweeps.Level) {
	if slices.Contains(x.swept, axisReads) {
		r.Mix.ReadsText = strconv.FormatFloat(l.Reads, 'f', -1, 64)
	}
	if slices.Contains(x.swept, axisSize) {
		r.Mix.SizeText = strconv.Itoa(l.Size)
	}
}
