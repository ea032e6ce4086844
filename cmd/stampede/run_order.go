package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

// runLevel runs the forms with a number of clients in an order drawn from the seed, so that it is
// not always the same form that meets the coldest server. The file lists the runs in the order of
// the forms.
func (b *bench) runLevel(ctx context.Context, s drivers.Service, forms []workloads.Form, clients int) error {
	from := len(b.file.Runs)
	place := make(map[int]int) // the form's place, by the run's order
	for _, i := range orderOf(len(forms), b.Flags.Seed, from) {
		place[len(b.file.Runs)+1] = i
		if err := b.runForm(ctx, s, forms[i], clients, from+i); err != nil {
			b.sortRuns(from, place)
			return err
		}
	}
	b.sortRuns(from, place)
	return nil
}

// orderOf returns an order of n forms whose runs begin at the given place in the file.
func orderOf(n int, seed uint64, from int) []int {
	return rand.New(rand.NewPCG(seed, ^uint64(from))).Perm(n)
}

// sortRuns sorts the runs after the given place by the place of their form. Abort conditions that
// fired for a run follow it to its new place.
func (b *bench) sortRuns(from int, place map[int]int) {
	level := b.file.Runs[from:]
	slices.SortFunc(level, func(x, y results.Run) int { return place[x.Order] - place[y.Order] })
	for i, g := range b.abort.fired {
		if at := slices.IndexFunc(level, func(r results.Run) bool { return r.Order == g.Run+1 }); at >= 0 {
			b.abort.fired[i].Run = from + at
		}
	}
}
