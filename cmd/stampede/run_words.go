package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/workloads"
)

// command is the line that does the same again, without what is secret.
func (f *runFlags) command(recipes []string) []string {
	line := append([]string{"stampede", "run"}, recipes...)
	line = append(line, f.targets.arguments()...)
	line = append(line, f.mix.words(f.reads)...)
	if f.background.text != "" {
		line = append(line, "--background", f.background.text)
	}
	if f.maxSessions != maxSessions {
		line = append(line, "--max-sessions", fmt.Sprint(f.maxSessions))
	}
	if len(f.form) > 0 {
		line = append(line, "--form", strings.Join(f.form, ","))
	}
	line = append(line, "--clients", strings.Trim(strings.ReplaceAll(fmt.Sprint(f.clients), " ", ","), "[]"),
		"--hold", f.hold.String())
	if f.groups != 1 {
		line = append(line, "--groups", fmt.Sprint(f.groups))
	}
	if f.readers != workloads.DefaultReaders {
		line = append(line, "--readers", fmt.Sprint(f.readers))
	}
	if f.revokeEvery != workloads.DefaultRevokeEvery {
		line = append(line, "--revoke-every", fmt.Sprint(f.revokeEvery))
	}
	if f.abortRate != defaultAbortRate {
		line = append(line, "--abort-rate", fmt.Sprint(f.abortRate))
	}
	line = append(line, queueWords(f.queue)...)
	line = append(line, f.load.words()...)
	line = append(line, f.faults.words()...)
	if f.think > 0 {
		line = append(line, "--think", f.think.String())
	}
	if f.warmup != defaultWarmup {
		line = append(line, "--warmup", f.warmup.String())
	}
	if f.bin != metrics.DefaultBin {
		line = append(line, "--bin", f.bin.String())
	}
	if f.rounds > 0 {
		line = append(line, "--rounds", fmt.Sprint(f.rounds))
	} else {
		line = append(line, "--duration", f.duration.String())
	}
	line = append(line, f.gates.words()...)
	return append(line, "--seed", fmt.Sprint(f.seed))
}

// plan says how long all runs of so many forms take.
func (f *runFlags) plan(forms int) plan {
	runs := len(f.clients) * forms
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
