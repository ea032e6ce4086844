package main

import (
	"slices"
	"time"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/archive"
	"github.com/stampede-bench/stampede/results/compare"
)

// compareObservations compares saved observations, whose paths are given, as compare does runs.
func (a *app) compareObservations(variants [2][]string, f compareFlags) error {
	began := time.Now()
	var read [2][]results.Observation
	seen := map[string]bool{}
	for i, paths := range variants {
		for _, path := range paths {
			v, err := archive.ReadAny(path)
			if err != nil {
				return cli.Usage(err)
			}
			o, ok := v.(results.Observation)
			if !ok {
				return cli.Usagef("%s is a %s: observations compare with observations, and runs with runs", path, results.KindOf(v))
			}
			if seen[o.ID] {
				return cli.Usagef("%s is named twice: give each observation once", o.ID)
			}
			seen[o.ID] = true
			read[i] = append(read[i], o)
		}
	}
	changes, warnings, needed, err := compare.Rules{Minimum: f.effect}.Observations(read[0], read[1], f.metric, f.all)
	if err != nil {
		return cli.Flagf("metric", ": %w", err)
	}
	bounded := func(c results.Change) bool {
		return c.Gated && (c.Verdict == results.Pass || c.Verdict == results.Regression)
	}
	if f.failOnRegression && needed > 0 && !slices.ContainsFunc(changes, bounded) {
		return cli.Flagf("fail-on-regression", ": too few observations: give %d of base and of candidate, or a --threshold to stampede observe, which decides on one", needed)
	}
	outs, err := f.output.Open(results.KindComparison, a.out)
	if err != nil {
		return err
	}
	defer outs.Discard()
	c := newComparison(changes, warnings)
	c.Needed = needed
	c.Base.Label, c.New.Label = compare.Label(read[0]), compare.Label(read[1])
	return a.writeComparison(c, outs, variants, f, began)
}

// anyObservation reports whether one of the files is that of an observation.
func anyObservation(variants [2][]string) (bool, error) {
	for _, paths := range variants {
		for _, path := range paths {
			v, err := archive.ReadAny(path)
			if err != nil {
				return false, cli.Usage(err)
			}
			if _, ok := v.(results.Observation); ok {
				return true, nil
			}
		}
	}
	return false, nil
}

// findAll returns the path of each named result, since a name such as @ refers to another result
// tomorrow.
func findAll(folder archive.Folder, names []string) (paths []string, err error) {
	for _, name := range names {
		path, err := folder.Find(name)
		if err != nil {
			return nil, cli.Usage(err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
