package history

import (
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// An Op is an operation of a client.
type Op struct {
	Client int // from 0
	Called time.Duration
	// Returned is when the answer came, or Never if none came.
	Returned time.Duration
	What     any // a Grant, a Release, a Read or a Write
}

// Never is the Returned of an Op without an answer, which can take effect at any later time.
const Never = time.Duration(math.MaxInt64)

// A Verdict is the result of checking a history.
type Verdict int

const (
	Right   Verdict = iota
	Wrong           // no order of the operations explains the answers
	Unclear         // the check took too long
)

// patience is the time limit for checking one history.
const patience = 10 * time.Second

// A checker checks one kind of history.
type checker struct {
	model porcupine.Model
	// explain, if set, decides what became of unanswered operations where other answers
	// show it: otherwise the search would try every possibility.
	explain func([]Op) []Op
}

// check searches for an order that explains the answers.
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

// until returns the operations called up to a moment. Those answered later become
// unanswered.
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

// unanswered returns an Op's What without the answer.
func unanswered(what any) any {
	switch w := what.(type) {
	case Write:
		return w.Unanswered()
	case Read:
		return Unread()
	}
	return what
}

// unknown is the version of an unanswered operation or of a node not yet read, and the
// token before the first.
const unknown = math.MinInt64

// shortest returns the shortest prefix of a wrong history that is wrong.
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
		return ops // only the whole history is wrong
	}
	return until(ops, moments[i])
}

// without removes groups of ops, one group at a time, as long as the history stays wrong.
// Each group must be such that a right history stays right without it.
func (c checker) without(ops []Op, groups [][]Op) []Op {
	for _, group := range groups {
		fewer := slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return slices.Contains(group, op) })
		if c.check(fewer) == Wrong {
			ops = fewer
		}
	}
	return ops
}

// inOrder sorts the ops by the time of their calls.
func inOrder(ops []Op) []Op {
	slices.SortStableFunc(ops, func(a, b Op) int { return int(a.Called - b.Called) })
	return ops
}
