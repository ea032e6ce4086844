package history

import (
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// An Op is something that a client asked.
type Op struct {
	Client int // from 0
	Called time.Duration
	// Returned is when it was answered; Never where it was not.
	Returned time.Duration
	What     any // a Grant, a Release, a Read or a Write
}

// Never is when what was not answered was done at the latest.
const Never = time.Duration(math.MaxInt64)

// A Verdict is what a history was found to be.
type Verdict int

const (
	Right   Verdict = iota
	Wrong           // no order of what was asked explains the answers
	Unclear         // it would have taken too long to find out
)

// patience is how long one history may take to check.
const patience = 10 * time.Second

// A checker is what a kind of history is held against.
type checker struct {
	model porcupine.Model
	// explain, if set, says what has become of what was not answered, where the
	// answers to others tell: a search would try every way it can have been.
	explain func([]Op) []Op
}

// check looks for an order.
func (c checker) check(ops []Op) Verdict {
	if c.explain != nil {
		ops = c.explain(ops)
	}
	all := make([]porcupine.Operation, len(ops))
	for i, op := range ops {
		all[i] = porcupine.Operation{ClientId: i, Input: op.What, Call: int64(op.Called), Return: int64(op.Returned)}
	}
	switch porcupine.CheckOperationsTimeout(c.model, all, patience) {
	case porcupine.Illegal:
		return Wrong
	case porcupine.Unknown:
		return Unclear
	}
	return Right
}

// until is what had been asked by a moment; what had not been answered by then
// counts as not answered.
func until(ops []Op, moment time.Duration) (all []Op) {
	for _, op := range ops {
		if op.Called > moment {
			continue
		}
		if op.Returned > moment {
			op.Returned, op.What = Never, unanswered(op.What)
		}
		all = append(all, op)
	}
	return all
}

// unanswered is an Op's What without what the answer was.
func unanswered(what any) any {
	switch w := what.(type) {
	case Write:
		return w.Unanswered()
	case Read:
		return Unread()
	}
	return what
}

// unknown is a version that nobody was told, or a token before the first.
const unknown = math.MinInt64

// shortest is the shortest beginning of a wrong history that is wrong.
func (c checker) shortest(ops []Op) []Op {
	var moments []time.Duration
	for _, op := range ops {
		if op.Returned != Never {
			moments = append(moments, op.Returned)
		}
	}
	slices.Sort(moments)
	i, _ := slices.BinarySearchFunc(moments, Wrong, func(moment time.Duration, _ Verdict) int {
		if c.check(until(ops, moment)) == Wrong {
			return 0
		}
		return -1
	})
	if i == len(moments) {
		return ops // what is wrong is not of a beginning
	}
	return until(ops, moments[i])
}

// without drops what can be dropped while the history stays wrong, one group of
// ops after the other. Only groups may be given without which a right history
// would be right.
func (c checker) without(ops []Op, groups [][]Op) []Op {
	for _, group := range groups {
		fewer := slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return slices.Contains(group, op) })
		if c.check(fewer) == Wrong {
			ops = fewer
		}
	}
	return ops
}

// inOrder sorts by when things were asked.
func inOrder(ops []Op) []Op {
	slices.SortStableFunc(ops, func(a, b Op) int { return int(a.Called - b.Called) })
	return ops
}
