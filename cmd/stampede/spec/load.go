package spec

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/suggest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/openloop"
)

// A Load holds the flags of the arrival process.
type Load struct {
	Rate      string // "" for a closed loop
	Arrival   string
	lateLimit time.Duration

	open openloop.Options // the parsed flags; check sets them
}

func (l *Load) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&l.Rate, "rate", "", "total `ARRIVALS` per second, in an open loop: 500, a ramp 100..1000, or steps 100,200,400 (default: a closed loop)")
	flags.StringVar(&l.Arrival, "arrival", string(openloop.Constant), "arrival process: constant or poisson")
	flags.DurationVar(&l.lateLimit, "late-limit", 0, "skip an arrival for which no client is free within this time (default: never)")
	cli.Complete(cmd, "rate", func() []string { return nil })
	cli.Complete(cmd, "arrival", arrivals)
}

func arrivals() (words []string) {
	for _, a := range openloop.Arrivals() {
		words = append(words, string(a))
	}
	return words
}

func (l *Load) check(think, ramp time.Duration) error {
	if !slices.Contains(arrivals(), l.Arrival) {
		return cli.OfFlag("arrival", suggest.Unknown("arrival", l.Arrival, arrivals()))
	}
	if err := cli.CheckDuration("late-limit", l.lateLimit, 0); err != nil {
		return err
	}
	switch {
	case l.Rate == "" && l.Arrival != string(openloop.Constant):
		return cli.Flagf("arrival", "%s: set their number with --rate", l.Arrival)
	case l.Rate == "" && l.lateLimit > 0:
		return cli.Flagf("late-limit", "%v: arrivals are late only with --rate", l.lateLimit)
	case l.Rate == "":
		return nil
	case think > 0:
		return cli.Flagf("think", "%v: with --rate clients do not choose when to begin: give one of the two", think)
	case ramp > 0:
		return cli.Flagf("ramp", "%v: with --rate the work arrives at that rate, and the clients at once: give one of the two, or a rate that rises, as in --rate 100..1000", ramp)
	}
	rate, err := openloop.ParseRate(l.Rate)
	if err != nil {
		return cli.Flagf("rate", ": %v", err)
	}
	l.open = openloop.Options{Rate: rate, Arrival: openloop.Arrival(l.Arrival), LateLimit: l.lateLimit}
	return nil
}

// IsOpen reports whether the load is an open loop.
func (l *Load) IsOpen() bool { return l.open.Rate.Open() }

// WindowOf returns how long the given number of rounds takes at the rate.
func (l *Load) WindowOf(rounds int64) time.Duration {
	return time.Duration(float64(rounds) / l.open.Rate.Mean() * float64(time.Second))
}

func (l *Load) plan() string {
	if !l.IsOpen() {
		return "closed loop: unlimited"
	}
	return fmt.Sprintf("open loop: %v arrivals/s, %s", l.open.Rate, l.open.Arrival)
}

// setting returns the load as a result records it. It returns nil for a closed loop.
func (l *Load) setting() *results.Open {
	if !l.IsOpen() {
		return nil
	}
	return &results.Open{Rate: l.open.Rate.String(), Arrival: l.Arrival, LateLimitNS: l.lateLimit}
}
