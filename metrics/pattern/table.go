package pattern

import (
	"iter"
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/metrics/observation"
)

// A Table has the patterns of the paths that were named.
type Table struct {
	most    int // patterns of their own
	by      map[string]*Pattern
	others  *Pattern           // all further ones
	effects map[string]*Effect // by the numbers of their patterns
	shapes  int                // of effects at several patterns
}

// NewTable returns an empty table of at most so many patterns. All further ones are one.
func NewTable(most int) *Table {
	return &Table{most: most, by: map[string]*Pattern{}, others: &Pattern{Name: "others"}, effects: map[string]*Effect{}}
}

// Named returns the pattern with the name, which is below the parent, nil for the root.
func (t *Table) Named(name string, parent *Pattern) *Pattern {
	if p := t.by[name]; p != nil {
		return p
	}
	if len(t.by) >= t.most {
		return t.others
	}
	p := &Pattern{Name: name, Parent: parent, number: len(t.by) + 1}
	t.by[name] = p
	return p
}

// All yields the patterns by their names, without the others.
func (t *Table) All() iter.Seq[*Pattern] {
	return func(yield func(*Pattern) bool) {
		for _, name := range slices.Sorted(maps.Keys(t.by)) {
			if !yield(t.by[name]) {
				return
			}
		}
	}
}

// SoFar returns the patterns with requests or notifications, sorted by path. The last one is "others" if there were more
// than the limit.
func (t *Table) SoFar() (all []observation.Pattern) {
	for p := range t.All() {
		all = append(all, p.soFar())
	}
	return slices.DeleteFunc(append(all, t.others.soFar()), func(p observation.Pattern) bool { return len(p.Requests) == 0 && p.Notifications == 0 })
}
