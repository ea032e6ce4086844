package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/cmd/stampede/spec"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
	"github.com/stampede-bench/stampede/workloads/sweeps"
)

// registerMix changes the usage of a mix's flags to say that they take levels.
func registerMix(flags *pflag.FlagSet) {
	flags.Lookup(axisReads).Usage = "`LEVELS|MODE` of the share of reads in a mix: 0..1 or 0,0.5,0.9 (default 10 of 11); the mode if the URL does not name it: " +
		strings.Join(backends.ReadModes(), ", ") + "; or both, as in 0..1,sync"
	flags.Lookup(axisSize).Usage = "`LEVELS` of the bytes of each value in a mix: 1k or 100..100k"
}

// ofMix reports whether only a mix has the axis. With a single level it is not an axis of the sweep
// but a setting of the mix.
func ofMix(axis string) bool { return axis == axisReads || axis == axisSize }

// readsParted splits the value of --reads into the levels of the share, "" if there are none, and
// the read modes. takeReads rejects more than one mode.
func readsParted(words string) (shares string, modes []string) {
	if words == "" {
		return "", nil
	}
	var levels []string
	for word := range strings.SplitSeq(words, ",") {
		if _, err := strconv.ParseFloat(word, 64); err == nil || strings.Contains(word, "..") {
			levels = append(levels, word)
		} else {
			modes = append(modes, word)
		}
	}
	return strings.Join(levels, ","), modes
}

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
		_, modes := readsParted(r.Reads)
		share := strconv.FormatFloat(l.Reads, 'f', -1, 64)
		r.Reads = strings.Join(append([]string{share}, modes...), ",")
	}
	if slices.Contains(x.swept, axisSize) {
		r.Mix.SizeText = strconv.Itoa(l.Size)
	}
}
