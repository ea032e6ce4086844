package metrics

import (
	"container/list"
	"math"
	"slices"
	"sync"
	"time"
)

// A Queue compares the order in which clients are served with the order in which they asked.
// Its methods may be called from any goroutine.
//
// Clients ask in the order of the calls of Asked. The service decides by the order in which
// requests reach it. So two clients that ask at nearly the same time may count as an inversion
// although the service was fair.
type Queue struct {
	window     *Window
	mu         sync.Mutex
	waiting    list.List // of ask, in the order of asking
	places     []*list.Element
	grants     []int64
	inversions int64
	longest    time.Duration
}

type ask struct {
	client int
	at     time.Time
	shared bool
}

// NewQueue returns a Queue of clients 0 to clients-1, none of which has asked. What counts are the grants in
// the window.
func NewQueue(clients int, w *Window) *Queue {
	return &Queue{window: w, places: make([]*list.Element, clients), grants: make([]int64, clients)}
}

// Asked records that the client has begun to wait. shared says that it may be served together with other
// clients that share. Grants among clients that share are never inversions, whatever their order.
func (q *Queue) Asked(client int, at time.Time, shared bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.places[client] = q.waiting.PushBack(ask{client, at, shared})
}

// Granted records that the client is served.
func (q *Queue) Granted(client int, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.window.Contains(at) {
		if q.overtakes(q.places[client]) {
			q.inversions++
		}
		q.grants[client]++
	}
	q.leave(client, at)
}

// overtakes reports whether a client that cannot share with a asked earlier.
func (q *Queue) overtakes(a *list.Element) bool {
	for earlier := a.Prev(); earlier != nil; earlier = earlier.Prev() {
		if !a.Value.(ask).shared || !earlier.Value.(ask).shared {
			return true
		}
	}
	return false
}

// GaveUp records that the client stopped waiting without being served.
func (q *Queue) GaveUp(client int, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leave(client, at)
}

func (q *Queue) leave(client int, at time.Time) {
	a := q.waiting.Remove(q.places[client]).(ask)
	q.places[client] = nil
	q.longest = max(q.longest, q.waited(a, at))
}

// waited returns how long a client that waits has waited by the end of the window, or by now; 0 before the
// window.
func (q *Queue) waited(a ask, now time.Time) time.Duration {
	if q.window.Elapsed(now) == 0 {
		return 0
	}
	return q.window.EndOrNow(now).Sub(a.at)
}

// Fairness returns the results at a time. LongestWait includes clients that still wait or gave up.
func (q *Queue) Fairness(at time.Time) Fairness {
	q.mu.Lock()
	defer q.mu.Unlock()
	longest := q.longest
	if first := q.waiting.Front(); first != nil {
		longest = max(longest, q.waited(first.Value.(ask), at))
	}
	return Fairness{Served: slices.Clone(q.grants), Inversions: q.inversions, LongestWait: longest}
}

// Add returns the fairness of two groups of clients that did not compete with each other.
func (f Fairness) Add(other Fairness) Fairness {
	return Fairness{Served: slices.Concat(f.Served, other.Served), Inversions: f.Inversions + other.Inversions,
		LongestWait: max(f.LongestWait, other.LongestWait)}
}

// Jain returns Jain's fairness index of the clients' shares, (Σx)² / (n·Σx²). It is 1 if all
// shares are equal, 1/n if one client got everything, and 1 if all shares are 0.
//
// Source: Jain, Chiu, Hawe: A Quantitative Measure of Fairness (1984).
func Jain(shares []int64) float64 {
	var sum, squares float64
	for _, x := range shares {
		sum += float64(x)
		squares += float64(x) * float64(x)
	}
	if squares == 0 {
		return 1
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// Little checks a closed loop by Little's law: the mean number of turns in progress equals the
// rate at which turns end times their mean duration.
type Little struct {
	InProgress float64 // turns in progress, on average over the window, also those that failed
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
	Sum, Squares, Cubes float64 // of the turns' durations in nanoseconds
	Within              float64 // sum, in nanoseconds, of the parts of the durations within the window, also of turns that failed
}

// Add adds a turn that took so long, within of it inside the window.
func (t *Turns) Add(took, within time.Duration) {
	d := float64(took)
	t.Count++
	t.Sum += d
	t.Squares += d * d
	t.Cubes += d * d * d
	t.Within += float64(within)
}

// Plus returns the sum of both.
func (t Turns) Plus(o Turns) Turns {
	return Turns{Count: t.Count + o.Count, Sum: t.Sum + o.Sum, Squares: t.Squares + o.Squares, Cubes: t.Cubes + o.Cubes,
		Within: t.Within + o.Within}
}

// Little checks the turns of the given number of clients in a window of the given length. open is
// the time within the window that was spent in turns that had not ended when it closed. together says that the clients take their turns together, so that the turns
// are not independent.
//
// A turn in progress at the beginning or end of the window lies only partly in it. By renewal
// theory, the age of such a turn has the mean E[d²]/2E[d] and the mean square E[d³]/3E[d], so
// the error follows from the turns themselves. Little returns nil if no turn ended.
func (t Turns) Little(open, window time.Duration, clients int, together bool) *Little {
	length := float64(window)
	if t.Count == 0 || t.Sum <= 0 || window <= 0 {
		return nil
	}
	age := t.Squares / (2 * t.Sum)
	variance := max(t.Cubes/(3*t.Sum)-age*age, 0)
	several := math.Sqrt(float64(clients))
	if together {
		several = float64(clients)
	}
	return &Little{Most: clients, InProgress: (t.Within + float64(open)) / length, Ended: t.Sum / length,
		Error: 3 * several * math.Sqrt(2*variance) / length}
}

// reached is the share of the offered rounds that a run at its rate has ended, however short it is.
const reached = 0.98

// MissedRate returns the warning that fewer rounds ended in the window than arrived, but for the arrivals that
// failed, which were not late, and for as many as may be in progress. It is no doubt: arrivals that waited
// have their times. A service that went away was not too slow. hold is how long a turn lasts beside the first phase, and most is how many turns can be
// in progress.
func (r *Record) MissedRate(hold time.Duration, most int) []Warning {
	arrived := float64(r.Generator.Offered - r.Generator.Failed)
	if _, lost := r.serviceLost(); lost || arrived-float64(r.Rounds) <= max((1-reached)*arrived, min(r.inProgress(hold), float64(most), arrived/2)) {
		return nil
	}
	numbers := Numbers{"completed": float64(min(r.Generator.Completed, r.Rounds)), "offered": float64(r.Generator.Offered)}
	return []Warning{{Code: Behind, Numbers: numbers}}
}

// inProgress returns how many arrivals may be in progress when the window closes if the service keeps up. By
// Little's law, their mean number is the rate times the usual time for one. That is the lower quartile, since
// all arrivals that a stall meets take long. inProgress adds three standard deviations of the number, and 1.
func (r *Record) inProgress(hold time.Duration) float64 {
	if len(r.Phases) == 0 || r.Phases[0].Service == nil || r.Duration <= 0 {
		return 1
	}
	number := func(took float64) float64 {
		return float64(r.Generator.Offered) * (took + float64(hold)) / float64(r.Duration)
	}
	service := r.Phases[0].Service
	usual := number(float64(service.ValueAtQuantile(25)))
	return 1 + usual + 3*math.Sqrt(number(min(service.Mean(), float64(r.Duration)/2)))
}

// LostArrivals returns the doubts about arrivals that have no response time.
func (g Generator) LostArrivals() (all []Warning) {
	doubt := func(is bool, code string, numbers Numbers) {
		if numbers["offered"] = float64(g.Offered); is {
			all = append(all, Warning{Code: code, Numbers: numbers})
		}
	}
	skipped, unfinished, failed := float64(g.Skipped), float64(g.Unfinished), float64(g.Failed)
	doubt(g.Skipped > 0, Skipped, Numbers{"skipped": skipped})
	doubt(g.Offered > 0 && g.Unfinished > 0, Unfinished, Numbers{"unfinished": unfinished, "oldest_ns": float64(g.Oldest)})
	doubt(g.Failed > 0, Failed, Numbers{"failed": failed})
	return all
}

// leastOverdue is the least age of a turn in progress that is worth a warning.
const leastOverdue = 100 * time.Millisecond

// TurnsInProgress warns of a closed loop that had turns in progress at the end that took far longer
// than any turn that ended, and of one in which Little's law does not hold. The former is a doubt if
// at least half of the turns in progress took so long, as when the service hangs.
func (r *Record) TurnsInProgress() (doubts, warnings []Warning) {
	g := r.Generator
	if g.Overdue > 0 && g.Oldest >= leastOverdue {
		w := Warning{Code: Unfinished, Numbers: Numbers{
			"overdue": float64(g.Overdue), "oldest_ns": float64(g.Oldest), "longest_ns": float64(g.Longest)}}
		if 2*g.Overdue >= g.Unfinished {
			doubts = append(doubts, w)
		} else {
			warnings = append(warnings, w)
		}
	}
	return doubts, append(warnings, r.Little.Warnings()...)
}

// OfBackground returns warnings about the background load for those of a load. Work that the
// background lost has a code of its own, since it concerns only the background's figures.
func OfBackground(all []Warning) (of []Warning) {
	for _, w := range all {
		w.Names = Names{OfLoad: Background}
		switch w.Code {
		case Skipped, Unfinished, Failed:
			w.Names[Cause], w.Code = w.Code, Bystanders
		}
		of = append(of, w)
	}
	return of
}
