package main

import (
	"context"
	"fmt"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/compare"
	"github.com/stampede-bench/stampede/results/stats"
)

// defaultMostPairs is the most pairs of a sequential comparison. It detects an increase of 10 % more
// often than the default number of pairs does, and on average after fewer of them.
const defaultMostPairs = 40

// checkLooks checks the flags of a sequential comparison, and sets its number of pairs if it was not given.
func (f *abFlags) checkLooks(pairsGiven bool) error {
	switch {
	case !f.untilSure && f.maxTime != 0:
		return cli.Flagf("max-time", "has no effect without --until-sure")
	case !f.untilSure:
		return nil
	case f.maxTime < 0:
		return cli.Flagf("max-time", "%v: must be more than 0", f.maxTime)
	case f.confirm:
		return cli.Usagef("--confirm and --until-sure: give one of them, since --confirm repeats a fixed number of pairs")
	}
	if !pairsGiven {
		f.pairs = defaultMostPairs
	}
	return nil
}

// planned returns the numbers of pairs after which the figures are judged.
func (f *abFlags) planned(figures int) ([]int, error) {
	if !f.untilSure {
		return []int{f.pairs}, f.enough(figures)
	}
	looks, least := stats.Looks(f.pairs, figures), f.pairs
	if looks != nil {
		return looks, nil
	}
	for stats.Looks(least, figures) == nil {
		least++
	}
	return nil, cli.Flagf("pairs", "%d: --until-sure with %s judged together needs at least %d pairs to judge twice",
		f.pairs, cli.Counted(figures, "figure"), least)
}

func (j *comparison) rules() compare.Rules {
	r := compare.Rules{Paired: true, Minimum: j.flags.effect, Floor: j.floor}
	if j.flags.untilSure {
		r.Looks = j.looks
	}
	return r
}

// judge runs pairs and judges them after each look, until the verdict is decided, all pairs are run, or
// the time limit is reached.
func (j *comparison) judge(ctx context.Context) error {
	subjects, deadline := j.subjects(), j.deadline()
	defer func() {
		j.take(subjects)
		j.file.NewFirst = j.orders(0)[:len(j.file.Base.Runs)]
	}()
	for _, look := range j.looks {
		if err := j.extend(ctx, 0, subjects, look, deadline); err != nil {
			j.file.Changes = []results.Change{} // those of the look before are of fewer pairs
			return err
		}
		j.file.Changes = j.rules().Judge(j.withMetrics(subjects, j.metrics))
		if j.flags.untilSure {
			j.file.UntilSure.Ended = ended(j.file.Changes, len(subjects[0].Base), look, j.flags.pairs)
			if j.file.UntilSure.Ended != "" {
				break
			}
		}
	}
	j.file.Changes = j.rules().Changes(subjects)
	return nil
}

// ended returns why a sequential comparison ends after a look, "" if it continues.
func ended(changes []results.Change, pairs, look, most int) results.Ended {
	switch {
	case compare.Decided(changes):
		return results.EndedDecided
	case pairs < look:
		return results.EndedTime
	case pairs == most:
		return results.EndedPairs
	}
	return ""
}

// deadline returns when the last pair may begin, zero if there is no limit.
func (j *comparison) deadline() time.Time {
	if j.flags.maxTime == 0 {
		return time.Time{}
	}
	return time.Now().Add(j.flags.maxTime)
}

// orEarlier says what the time limit does. It returns "" if there is none.
func (j *comparison) orEarlier() string {
	if j.flags.maxTime == 0 {
		return ""
	}
	return fmt.Sprintf(", or after %v", j.flags.maxTime)
}
