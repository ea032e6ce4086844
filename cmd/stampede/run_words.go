package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// command returns the command line that repeats the run, without secrets. It contains the flags
// that differ from their defaults, and those by which a reader recognizes the run.
func (f *runFlags) command(recipes []string) []string {
	line, flags := append([]string{"stampede", "run"}, recipes...), f.flagSet()
	used := func(name string) bool {
		return slices.ContainsFunc(recipes, func(r string) bool { return uses(r, name) })
	}
	first, last := []string{"backend", "form", "clients"}, []string{"duration"}
	if used("hold") {
		first = append(first, "hold")
	}
	if f.rounds > 0 {
		last = []string{"rounds"}
	}
	unprinted := slices.DeleteFunc(ofResult(), func(name string) bool { return name == "percentiles" }) // it selects columns only
	apart := slices.Concat(first, unprinted, []string{"hold", "duration", "rounds"})
	var others, judging []string
	flags.VisitAll(func(flag *pflag.Flag) {
		switch {
		case slices.Contains(apart, flag.Name) || flag.Value.String() == flag.DefValue:
		case !used(flag.Name): // its variable is set for other commands
		case slices.Contains(ofCommand(), flag.Name):
			judging = append(judging, flag.Name)
		default:
			others = append(others, flag.Name)
		}
	})
	for _, name := range slices.Concat(first, others, last, judging) {
		if flag := flags.Lookup(name); flag.Value.String() != "[]" {
			line = append(line, flagWords(flag)...)
		}
	}
	return append(line, "--seed", strconv.FormatUint(f.seed, 10))
}

// plan describes how long all runs of this number of forms take.
func (f *runFlags) plan(forms int) plan {
	runs := len(f.clients) * forms * max(f.repeat, 1)
	p := plan{rate: f.load.plan(), background: f.background.plan(), nodes: f.mix.nodes + f.background.Mix.Keys}
	switch {
	case f.rounds > 0:
		p.duration = fmt.Sprintf("%s of %s after %v", counted(runs, "run"), counted(int(f.rounds), "round"), f.warmup)
	default:
		each := f.warmup + f.duration
		p.duration = fmt.Sprintf("%s of %v: about %v", counted(runs, "run"), each, time.Duration(runs)*each)
	}
	return p
}
