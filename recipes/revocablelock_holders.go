package recipes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// holders returns the nodes of the clients that hold the shared lock: the first
// one in the line and, if that is a reader's, those of the readers right behind
// it. It sorts the line.
func holders(line []drivers.Child) []drivers.Child {
	slices.SortFunc(line, func(a, b drivers.Child) int { return cmp.Compare(a.Seq, b.Seq) })
	writer := slices.IndexFunc(line, func(c drivers.Child) bool { return strings.Contains(c.Name, "-write-") })
	switch writer {
	case -1:
		return line
	case 0:
		return line[:1]
	}
	return line[:writer]
}
