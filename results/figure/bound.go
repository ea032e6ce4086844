package figure

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// A Bound is a condition on a figure: it must lie on one side of a limit.
type Bound struct {
	Figure Figure
	Op     Op
	Limit  float64 // in the figure's unit
}

// An Op is an operator that compares a figure with a limit.
type Op string

// The operators.
const (
	Below   Op = "<"
	AtMost  Op = "<="
	Above   Op = ">"
	AtLeast Op = ">="
	Equals  Op = "=="
)

// Holds reports whether the value meets the condition.
func (o Op) Holds(value, limit float64) bool {
	switch o {
	case Below:
		return value < limit
	case AtMost:
		return value <= limit
	case Above:
		return value > limit
	case AtLeast:
		return value >= limit
	}
	return value == limit
}

// Not returns the operator that holds exactly where this one does not, "" if there is none.
func (o Op) Not() Op {
	return map[Op]Op{Below: AtLeast, AtMost: Above, Above: AtMost, AtLeast: Below}[o]
}

// Split splits "acquire.p99 < 50ms" at its operator.
func Split(text string) (left string, op Op, right string, err error) {
	i := strings.IndexAny(text, "<>=")
	if i < 0 {
		return "", "", "", fmt.Errorf("%q: want METRIC < LIMIT, or another of <= > >= ==, such as acquire.p99<50ms", text)
	}
	op, right = Op(text[i:i+1]), text[i+1:]
	if strings.HasPrefix(right, "=") {
		op, right = op+"=", right[1:]
	}
	left, right = strings.TrimSpace(text[:i]), strings.TrimSpace(right)
	if op == "=" || left == "" || right == "" || strings.ContainsAny(right, "<>=") {
		return "", "", "", fmt.Errorf("%q: want METRIC < LIMIT, or another of <= > >= ==, such as acquire.p99<50ms", text)
	}
	return left, op, right, nil
}

// ParseBound parses a bound, e.g. "acquire.response.p99<50ms", for runs with the given phases. The
// error is one line that says what would be valid.
func ParseBound(text string, phases []string) (Bound, error) {
	name, op, limit, err := Split(text)
	if err != nil {
		return Bound{}, err
	}
	f, err := Parse(name, phases)
	if err != nil {
		return Bound{}, err
	}
	v, err := f.ParseValue(limit)
	return Bound{f, op, v}, err
}

// String returns the bound in the syntax of ParseBound.
func (b Bound) String() string {
	limit := strconv.FormatFloat(b.Limit, 'g', -1, 64)
	if b.Figure.Unit == Nanoseconds {
		limit = time.Duration(b.Limit).String()
	}
	return b.Figure.Name + string(b.Op) + limit
}

// errNoShare refuses 10 where 10% is meant: no share is larger than 1, so the condition could never fail.
var errNoShare = errors.New("more than 100 %")

// ParseValue parses a value of the figure, with its unit: "50ms", "1MiB", "500/s", "99%", "3". Durations
// require a unit; other figures may omit it.
func (f Figure) ParseValue(text string) (v float64, err error) {
	example := ""
	switch f.Unit {
	case Nanoseconds:
		var d time.Duration
		d, err = time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		v, example = float64(d), "a duration such as 50ms"
	case Bytes:
		var n uint64
		n, err = humanize.ParseBytes(text)
		v, example = float64(n), "a size such as 1KiB"
	case PerSecond:
		v, err = parseNumber(text, "/s")
		example = "a number a second such as 500/s"
	case PerRound:
		v, err = parseNumber(text, "/round")
		example = "a number such as 3"
	case Share:
		if share, ok := strings.CutSuffix(text, "%"); ok {
			v, err = parseNumber(share, "")
			v /= 100
		} else {
			v, err = parseNumber(text, "")
		}
		if err == nil && v > 1 {
			err = errNoShare
		}
		example = "a share such as 0.99 or 99%"
	default:
		v, err = parseNumber(text, "")
		example = "a number such as 3"
	}
	if err != nil {
		return 0, fmt.Errorf("%s %q: want %s", f.Name, text, example)
	}
	return v, nil
}

func parseNumber(text, unit string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, unit)), 64)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, strconv.ErrRange
	}
	return v, err
}
