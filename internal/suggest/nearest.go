// Package suggest finds the known name that is nearest to a mistyped one.
package suggest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name returns the name in have with the smallest edit distance to got. A name is near if at
// most a third of the letters differ, or at most two. If none is near, Name returns the first
// name that begins with got, or "".
func Name(got string, have []string) string {
	best, distance := "", max(2, len(got)/3)+1
	for _, h := range have {
		if d := levenshtein.ComputeDistance(strings.ToLower(got), h); d < distance {
			best, distance = h, d
		}
	}
	if best == "" && got != "" {
		if i := slices.IndexFunc(have, func(h string) bool { return strings.HasPrefix(h, strings.ToLower(got)) }); i >= 0 {
			return have[i]
		}
	}
	return best
}

// Unknown returns the error for an unknown name of a kind: one line that ends with the nearest
// name or, if there is none, with all names.
func Unknown(kind, got string, have []string) error {
	if n := Name(got, have); n != "" {
		return fmt.Errorf("unknown %s %q: did you mean %q?", kind, got, n)
	}
	return fmt.Errorf("unknown %s %q: there is %s", kind, got, strings.Join(have, ", "))
}
