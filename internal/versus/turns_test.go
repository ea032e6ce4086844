package main

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// Sides take turns at being first, the round before does not count, and the ratio
// is the rounds', not the medians'.
func TestByTurns(t *testing.T) {
	var order []int
	values := [2][]float64{{100, 1, 2, 9}, {1, 2, 1, 3}}
	next := [2]int{}
	figures, err := byTurns(3, func(side int) ([]float64, error) {
		order = append(order, side)
		v := values[side][next[side]]
		next[side]++
		return []float64{v, 10 * v}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 1, 0, 0, 1, 1, 0}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	want := []comparison{{2, 2, 2}, {20, 20, 2}}
	if !slices.Equal(figures, want) {
		t.Errorf("figures %v, want %v", figures, want)
	}
	if _, err := byTurns(1, func(int) ([]float64, error) { return nil, context.Canceled }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want what measuring failed with", err)
	}
}
