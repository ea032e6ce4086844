package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stampede-bench/stampede/internal/nearest"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads/pace"
)

// A load holds the flags of the arrival process.
type load struct {
	rate      string // "" for a closed loop
	arrival   string
	lateLimit time.Duration

	open pace.Options // the parsed flags; check sets them
}

func (l *load) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&l.rate, "rate", "", "`ARRIVALS` a second in all, in an open loop: 500, a ramp 100..1000, or steps 100,200,400 (default: a closed loop)")
	flags.StringVar(&l.arrival, "arrival", string(pace.Constant), "how they come: constant or poisson")
	flags.DurationVar(&l.lateLimit, "late-limit", 0, "skip arrivals for which nobody was free for so long (default: none)")
	complete(cmd, "rate", func() []string { return nil })
	complete(cmd, "arrival", arrivals)
}

func arrivals() (words []string) {
	for _, a := range pace.Arrivals() {
		words = append(words, string(a))
	}
	return words
}

func (l *load) check(think, ramp time.Duration) error {
	if !slices.Contains(arrivals(), l.arrival) {
		return usage(nearest.Unknown("arrival", l.arrival, arrivals()))
	}
	if err := checkDuration("late-limit", l.lateLimit, 0); err != nil {
		return err
	}
	switch {
	case l.rate == "" && l.arrival != string(pace.Constant):
		return usagef("--arrival %s: say how many with --rate", l.arrival)
	case l.rate == "" && l.lateLimit > 0:
		return usagef("--late-limit %v: nothing is late without --rate", l.lateLimit)
	case l.rate == "":
		return nil
	case think > 0:
		return usagef("--think %v: with --rate clients do not choose when to begin: give one of the two", think)
	case ramp > 0:
		return usagef("--ramp %v: with --rate the work arrives at that rate, and the clients at once: give one of the two, or a rate that rises, as in --rate 100..1000", ramp)
	}
	rate, err := pace.ParseRate(l.rate)
	if err != nil {
		return usagef("--rate: %v", err)
	}
	l.open = pace.Options{Rate: rate, Arrival: pace.Arrival(l.arrival), LateLimit: l.lateLimit}
	return nil
}

func (l *load) isOpen() bool { return l.open.Rate.Open() }

// windowOf returns how long the given number of rounds takes at the rate.
func (l *load) windowOf(rounds int64) time.Duration {
	return time.Duration(float64(rounds) / l.open.Rate.Mean() * float64(time.Second))
}

func (l *load) plan() string {
	if !l.isOpen() {
		return "closed loop: as fast as it goes"
	}
	return fmt.Sprintf("open loop: %v arrivals/s, %s", l.open.Rate, l.open.Arrival)
}

// setting returns the load as a result records it. It returns nil for a closed loop.
func (l *load) setting() *results.Open {
	if !l.isOpen() {
		return nil
	}
	return &results.Open{Rate: l.open.Rate.String(), Arrival: l.arrival, LateLimitNS: l.lateLimit}
}
