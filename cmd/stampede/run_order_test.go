package main

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/results"
)

// TestOrderOfFormsIsDrawnFromTheSeed checks that each form comes first equally often, and that the
// same seed gives the same order.
func TestOrderOfFormsIsDrawnFromTheSeed(t *testing.T) {
	first := make([]int, 3)
	for seed := range uint64(3000) {
		order := orderOf(3, seed, 0)
		first[order[0]]++
		if !slices.Equal(order, orderOf(3, seed, 0)) {
			t.Fatal("another order with the same seed")
		}
	}
	for form, n := range first {
		if n < 850 || n > 1150 {
			t.Errorf("form %d was first %d times of 3,000", form, n)
		}
	}
}

// TestRunsAreSortedByForm checks that the file lists the runs in the order of the forms, and that
// the condition that ended the command still refers to the same run.
func TestRunsAreSortedByForm(t *testing.T) {
	b := &bench{file: results.File{Runs: []results.Run{{Form: "a", Order: 1}, {Form: "d", Order: 2}, {Form: "b", Order: 3}, {Form: "c", Order: 4}}}}
	b.abort.fired = []results.Gate{{Run: 3}}
	b.sortRuns(1, map[int]int{2: 2, 3: 0, 4: 1})
	var forms string
	for _, r := range b.file.Runs {
		forms += r.Form
	}
	if forms != "abcd" || b.abort.fired[0].Run != 2 {
		t.Errorf("%s, what ended it is run %d", forms, b.abort.fired[0].Run)
	}
}
