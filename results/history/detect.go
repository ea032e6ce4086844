package history

// remembered is how many values before the newest a change is looked for in.
const remembered = 60

// limit is the p-value of a change, far below 5 %: the place of a change is chosen among many, and a
// history is judged again after every new value. TestFalseAlarms holds it against the share of series of
// 60 values without a change in which a change is found.
const limit = 2e-5

// A Change is a place from which on a series differs.
type Change struct {
	At   int     // the place of the first value that is different
	Seen int     // the number of values after which the change was found
	To   int     // the place of the last value of a drift; At for a step
	Size float64 // the difference
	P    float64 // of a step at a given place; 0 for an exact count
}

// Drift reports whether the change is slow.
func (c Change) Drift() bool { return c.To > c.At }

// Detect finds the changes of a series that has noise, in the order in which they came. It judges the
// series after each value, as its readers do, so a change that was found stays, however many values follow.
// The next few values make its place more exact; later ones decide about its size, and whether it is a drift.
func Detect(values []float64) []Change { return detect(values, limit) }

func detect(values []float64, limit float64) (found []Change) {
	before, start := 0, 0 // where the values before the last change begin, and those after it
	for end := 2 * fewest; end <= len(values); end++ {
		if n := len(found); n > 0 && end <= found[n-1].Seen+2*near {
			c := &found[n-1]
			at, step, p := refine(values[before:end], c.At-before)
			c.At, c.To, c.Size, c.P = before+at, before+at, step, p
			start = c.At
		}
		from := max(start, end-remembered)
		part := values[from:end]
		at := divide(part, fewest)
		if at == 0 {
			continue
		}
		at, step, p := refine(part, at)
		if p < limit {
			before, start = from, from+at
			found = append(found, Change{At: start, To: start, Seen: end, Size: step, P: p})
		}
	}
	return drifts(values, found)
}

// near is how far the most significant place may be from the one at which the distributions differ most.
const near = 3

// refine returns the most significant place near the given one.
func refine(values []float64, about int) (at int, step, p float64) {
	at = about
	step, p = significance(values, at)
	for i := max(fewest, about-near); i <= min(len(values)-fewest, about+near); i++ {
		if s, q := significance(values, i); q < p {
			at, step, p = i, s, q
		}
	}
	return at, step, p
}
