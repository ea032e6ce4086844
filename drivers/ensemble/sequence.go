package ensemble

import (
	"math"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// digits is the minimum length of the suffix of a sequential node: the parent's counter, an
// int32 that wraps around, formatted as %010d.
const digits = 10

// Sequence returns the number in the suffix of a name, or NoSeq if there is none. After the
// wrap the number is negative, and its sign is part of the suffix. A hyphen right before the
// digits is that sign if there are fewer than ten digits, if they are too large for a positive
// number, or if there is another hyphen before it. Otherwise the hyphen belongs to the name,
// since names often end in one.
func Sequence(name string) int64 {
	if len(name) < digits {
		return drivers.NoSeq
	}
	prefix, suffix := name[:len(name)-digits], name[len(name)-digits:]
	if suffix[0] == '-' {
		if n, ok := number(suffix[1:]); ok {
			return -n
		}
		return drivers.NoSeq
	}
	n, ok := number(suffix)
	switch {
	case !ok:
		return drivers.NoSeq
	case n > math.MaxInt32 && !strings.HasSuffix(prefix, "-"), n > -math.MinInt32:
		return drivers.NoSeq
	case n > math.MaxInt32, n >= 1e9 && strings.HasSuffix(prefix, "--"):
		return -n
	}
	return n
}

func number(s string) (n int64, ok bool) {
	for _, d := range []byte(s) {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	return n, true
}
