package results

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A trait is a property of a backend, and the reason why numbers of backends that differ in it are
// hard to compare.
type trait struct {
	name string
	of   func(Backend) string
	why  string
}

func traits() []trait {
	return []trait{
		{"durability", func(b Backend) string { return b.Durability }, "a write that waits for a disk takes longer than one that does not"},
		{"client", func(b Backend) string { return b.Client }, "part of the difference is the client libraries'"},
		{"reads", func(b Backend) string { return b.Reads }, "one reads what may be old, the other makes sure or waits"},
	}
}

// beside writes the traits of several backends, and warns of those in which the backends differ.
func beside(w io.Writer, runs []Run) {
	var backends []Backend
	for _, r := range runs {
		if !slices.Contains(backends, r.Backend) {
			backends = append(backends, r.Backend)
		}
	}
	if len(backends) < 2 {
		return
	}
	g := &grid{columns: []column{{head: "side by side", left: true}}, rows: make([][]string, len(backends))}
	for i, b := range backends {
		g.rows[i] = []string{b.URL}
	}
	for _, t := range traits() {
		g.columns = append(g.columns, column{head: t.name, left: true, space: 3})
		for i, b := range backends {
			g.rows[i] = append(g.rows[i], cmp.Or(t.of(b), absent))
		}
	}
	fmt.Fprintln(w)
	g.write(w)
	for _, t := range traits() {
		t.warn(w, backends)
	}
}

// warn writes a warning if the backends differ in the trait.
func (t trait) warn(w io.Writer, backends []Backend) {
	var values []string
	for _, b := range backends {
		if v := cmp.Or(t.of(b), absent); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	if len(values) > 1 {
		fmt.Fprintf(w, "  warning: not the same %s (%s): %s\n", t.name, strings.Join(values, ", "), t.why)
	}
}
