package metrics

import "math"

// Little checks a closed loop by Little's law: the mean number of turns in progress equals the
// rate at which turns end times their mean duration.
type Little struct {
	InProgress float64 // turns in progress, on average over the window
	Ended      float64 // rate times mean duration of the turns that ended in the window
	Error      float64 // three standard errors of the difference
	Most       int     // most turns that can be in progress: one per client
}

// tolerated is the share of InProgress by which Ended may always differ from it.
const tolerated = 0.05

// Holds reports whether the turns that ended represent all turns.
func (l Little) Holds() bool {
	return math.Abs(l.InProgress-l.Ended) <= max(l.Error, tolerated*l.InProgress)
}

// Warnings returns the warning that the law does not hold, if it does not. A nil Little has none.
func (l *Little) Warnings() []Warning {
	if l == nil || l.Holds() {
		return nil
	}
	return []Warning{{Code: LittlesLaw, Numbers: Numbers{"in_progress": l.InProgress, "ended": l.Ended, "error": l.Error}}}
}

// Turns sums up the turns of a closed loop that ended in a window. Times are in seconds.
type Turns struct {
	Count               int64
	Sum, Squares, Cubes float64 // of the turns' durations
	Within              float64 // sum of the parts of the durations within the window
}

// Add adds a turn that lasted took seconds, within of them inside the window.
func (t *Turns) Add(took, within float64) {
	t.Count++
	t.Sum += took
	t.Squares += took * took
	t.Cubes += took * took * took
	t.Within += within
}

// With returns the sum of both.
func (t Turns) With(o Turns) Turns {
	return Turns{Count: t.Count + o.Count, Sum: t.Sum + o.Sum, Squares: t.Squares + o.Squares, Cubes: t.Cubes + o.Cubes,
		Within: t.Within + o.Within}
}

// Little checks the turns of the given number of clients in a window of the given length in
// seconds. open is the time within the window, in seconds, spent in turns that had not ended
// when it closed. together says that the clients take their turns together, so that the turns
// are not independent.
//
// A turn in progress at the beginning or end of the window lies only partly in it. By renewal
// theory, the age of such a turn has the mean E[d²]/2E[d] and the mean square E[d³]/3E[d], so
// the error follows from the turns themselves. Little returns nil if no turn ended.
func (t Turns) Little(open, window float64, clients int, together bool) *Little {
	if t.Count == 0 || t.Sum <= 0 || window <= 0 {
		return nil
	}
	age := t.Squares / (2 * t.Sum)
	variance := max(t.Cubes/(3*t.Sum)-age*age, 0)
	several := math.Sqrt(float64(clients))
	if together {
		several = float64(clients)
	}
	return &Little{Most: clients, InProgress: (t.Within + open) / window, Ended: t.Sum / window,
		Error: 3 * several * math.Sqrt(2*variance) / window}
}
