// Package nearest finds the name that somebody who mistyped one had in mind.
package nearest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name returns the name in have with the smallest edit distance to got. When none
// is near, since more than a third of the letters, and more than two, differ, it
// is the first that begins with got, or "".
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

// Unknown is the error for a name of a kind that is not among those there are:
// one line that ends with the nearest name or, without one, with all.
func Unknown(kind, got string, have []string) error {
	if n := Name(got, have); n != "" {
		return fmt.Errorf("unknown %s %q: did you mean %q?", kind, got, n)
	}
	return fmt.Errorf("unknown %s %q: there is %s", kind, got, strings.Join(have, ", "))
}
