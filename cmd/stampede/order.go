package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/workloads"
)

// runLevel runs the forms with a number of clients in an order drawn from the seed, so
// that it is not always the same form that meets the coldest server. The file has them in
// the order of the forms.
func (b *bench) runLevel(ctx context.Context, s drivers.Service, forms []workloads.Form, clients int) error {
	from := len(b.file.Runs)
	place := make(map[int]int) // of the form, by when it ran
	for _, i := range orderOf(len(forms), b.flags.seed, from) {
		place[len(b.file.Runs)+1] = i
		if err := b.runForm(ctx, s, forms[i], clients, from+i); err != nil {
			b.sortRuns(from, place)
			return err
		}
	}
	b.sortRuns(from, place)
	return nil
}

// orderOf is the order of n forms, whose runs begin at a place of the file.
func orderOf(n int, seed uint64, from int) []int {
	return rand.New(rand.NewPCG(seed, ^uint64(from))).Perm(n)
}

// sortRuns sorts the runs from a place on by the place of their form. What an abort
// condition says of a run is said of it wherever it goes.
func (b *bench) sortRuns(from int, place map[int]int) {
	level := b.file.Runs[from:]
	slices.SortFunc(level, func(x, y results.Run) int { return place[x.Order] - place[y.Order] })
	for i, g := range b.alarm.went {
		if at := slices.IndexFunc(level, func(r results.Run) bool { return r.Order == g.Run+1 }); at >= 0 {
			b.alarm.went[i].Run = from + at
		}
	}
}
