package duet

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHalve checks that the halves are disjoint, equally large and known in advance, and that the
// threads of a core stay together.
func TestHalve(t *testing.T) {
	for name, c := range map[string]struct {
		all  []Processor
		want Halves
	}{
		"two":                    {[]Processor{{0, 0, 0}, {1, 0, 1}}, Halves{{0}, {1}}},
		"two threads of one":     {[]Processor{{0, 0, 0}, {1, 0, 0}}, Halves{{0}, {1}}},
		"threads numbered apart": {[]Processor{{0, 0, 0}, {1, 0, 1}, {2, 0, 0}, {3, 0, 1}}, Halves{{0, 2}, {1, 3}}},
		"sockets in turn":        {[]Processor{{0, 0, 0}, {1, 1, 0}, {2, 0, 1}, {3, 1, 1}}, Halves{{0, 2}, {1, 3}}},
		"not all, and odd":       {[]Processor{{3, 0, 3}, {5, 0, 5}, {8, 0, 8}}, Halves{{3}, {5}}},
	} {
		got, err := Halve(c.all)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for _, few := range [][]Processor{nil, {{7, 0, 0}}} {
		if got, err := Halve(few); err == nil {
			t.Errorf("%v: %v, want an error", few, got)
		}
	}
}
