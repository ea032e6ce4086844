package metrics

import "math"

// Little checks a closed loop by Little's law: the mean number of turns in progress is
// the rate at which turns end times the mean time that they take.
type Little struct {
	InProgress float64 // turns in progress, on average over the window
	Ended      float64 // rate times mean time of the turns that ended in it
	Error      float64 // three standard errors of the difference
	Most       int     // turns that can be in progress: of as many clients
}

// tolerated is the share of InProgress by which both may differ in any case.
const tolerated = 0.05

// Holds tells whether the turns that ended stand for all.
func (l Little) Holds() bool {
	return math.Abs(l.InProgress-l.Ended) <= max(l.Error, tolerated*l.InProgress)
}

// Turns sums up the turns of a closed loop that ended in a window, in seconds.
type Turns struct {
	Count               int64
	Sum, Squares, Cubes float64 // of the times that they took
	Within              float64 // the sum of their parts within the window
}

// Add adds a turn that took so long, of which so much lay within the window.
func (t *Turns) Add(took, within float64) {
	t.Count++
	t.Sum += took
	t.Squares += took * took
	t.Cubes += took * took * took
	t.Within += within
}

// With is the sum of both.
func (t Turns) With(o Turns) Turns {
	return Turns{Count: t.Count + o.Count, Sum: t.Sum + o.Sum, Squares: t.Squares + o.Squares, Cubes: t.Cubes + o.Cubes,
		Within: t.Within + o.Within}
}

// Little checks the turns of so many clients in a window of so many seconds. open is
// how much of the window was spent in turns that had not ended when it closed. together
// says that the clients take their turns together, so that they are not independent.
//
// A turn in progress at either end of the window lies in it in part. The age of such a
// turn has the mean E[d²]/2E[d] and the mean square E[d³]/3E[d], by renewal theory; so
// the error follows from the turns themselves. It is nil where none ended.
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
