package duet

import (
	"cmp"
	"fmt"
	"slices"
)

// A Processor is one processor that this process may use, as the kernel numbers it.
type Processor struct {
	Number, Socket, Core int
}

// Halves are two disjoint sets of processors of equal size.
type Halves [2][]int

// OfThisMachine returns the halves of the processors that this process may use.
func OfThisMachine() (Halves, error) {
	all, err := Processors()
	if err != nil {
		return Halves{}, err
	}
	return Halve(all)
}

// Halve divides the processors. It keeps the threads of one core in one half, where it can: two sides
// on the same core would slow each other. If the number is odd, neither half has the last one.
func Halve(all []Processor) (Halves, error) {
	n := len(all) / 2
	if n == 0 {
		return Halves{}, fmt.Errorf("needs two processors, one for each side, and this process may use %d", len(all))
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y Processor) int {
		return cmp.Or(x.Socket-y.Socket, x.Core-y.Core, x.Number-y.Number)
	})
	var h Halves
	for i, p := range all[:2*n] {
		h[i/n] = append(h[i/n], p.Number)
	}
	for _, half := range h {
		slices.Sort(half)
	}
	return h, nil
}
