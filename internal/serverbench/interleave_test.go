package main

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// The order of the sides alternates, the first round does not count, and the ratio is the
// median of the rounds' ratios, not the ratio of the medians.
func TestInterleave(t *testing.T) {
	var order []int
	values := [2][]float64{{100, 1, 2, 9}, {1, 2, 1, 3}}
	next := [2]int{}
	figures, err := interleave(3, 2, func(side int) ([]float64, error) {
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
	got := []comparison{figures[0].against(1), figures[1].against(1)}
	if want := []comparison{{2, 2, 2}, {20, 20, 2}}; !slices.Equal(got, want) {
		t.Errorf("figures %v, want %v", got, want)
	}
	if _, err := interleave(1, 2, func(int) ([]float64, error) { return nil, context.Canceled }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want what measuring failed with", err)
	}
}

// Three sides are measured forwards and backwards, and a side compared with itself has the
// ratio 1.
func TestInterleaveThreeSides(t *testing.T) {
	var order []int
	figures, err := interleave(2, 3, func(side int) ([]float64, error) {
		order = append(order, side)
		return []float64{float64(12 / (side + 1))}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 2, 2, 1, 0, 0, 1, 2}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	for side, want := range []comparison{{12, 12, 1}, {12, 6, 2}, {12, 4, 3}} {
		if got := figures[0].against(side); got != want {
			t.Errorf("side %d: %v, want %v", side, got, want)
		}
	}
}
