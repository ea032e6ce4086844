package history

import (
	"fmt"
	"math"
	"slices"
	"strings"
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

// calledUntil returns the operations called up to a moment. Those answered later become
// unanswered.
func calledUntil(ops []Op, moment time.Duration) (all []Op) {
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
		if c.check(calledUntil(ops, moment)) == Wrong {
			return 0
		}
		return -1
	})
	if i == len(moments) {
		return ops // only the whole history is wrong
	}
	return calledUntil(ops, moments[i])
}

// removeGroups removes groups of ops, one group at a time, as long as the history stays wrong.
// Each group must be such that a right history stays right without it.
func (c checker) removeGroups(ops []Op, groups [][]Op) []Op {
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

// A Grant is an Op by which a client acquired the lock.
type Grant struct {
	Hold  int   // the number of the hold in the history
	Token int64 // the fencing token, or NoToken if the form has none
}

// NoToken is the token of a form without fencing tokens.
const NoToken = -1

// A Release is an Op that ended a hold: the client released the lock, or lost it because a
// fault hit its session.
type Release struct{ Hold int }

// A Lock is the history of one lock.
type Lock []Op

// held is the state of a lock.
type held struct {
	by    int // the hold, or −1 if the lock is free
	token int64
}

// locks returns the checker for a lock that one client at a time holds, with increasing tokens.
func locks() checker {
	return checker{explain: completed, model: porcupine.Model{
		Init: func() any { return held{by: -1, token: unknown} },
		Step: func(state, input, _ any) (bool, any) {
			was := state.(held)
			switch w := input.(type) {
			case Grant:
				if w.Token == NoToken {
					return was.by < 0, held{w.Hold, was.token}
				}
				return was.by < 0 && w.Token > was.token, held{w.Hold, w.Token}
			case Release:
				return was.by == w.Hold, held{-1, was.token}
			}
			return false, was
		},
	}}
}

// completed returns the history without requests that were not granted. It adds a release
// to each hold that has none, which may take effect at any time after the grant.
func completed(ops []Op) (all []Op) {
	got := map[int]Op{}
	for _, op := range ops {
		if _, grants := op.What.(Grant); grants && op.Returned != Never {
			got[holdOf(op)] = op
			all = append(all, op)
		}
	}
	for _, op := range ops {
		if _, releases := op.What.(Release); releases {
			if _, known := got[holdOf(op)]; known {
				all = append(all, op)
				delete(got, holdOf(op))
			}
		}
	}
	for hold, op := range got {
		all = append(all, Op{Client: op.Client, Called: op.Returned, Returned: Never, What: Release{hold}})
	}
	return all
}

// Check reports whether at most one client at a time can have held the lock. If not, it
// returns the holds that contradict each other.
func (l Lock) Check() (Verdict, Lock) {
	verdict := locks().check(l)
	if verdict != Wrong {
		return verdict, nil
	}
	ops := locks().shortest(l)
	return Wrong, inOrder(locks().removeGroups(ops, holds(ops)))
}

// holds groups the ops by hold. Any subset of the holds of a right history is right.
func holds(ops []Op) (groups [][]Op) {
	at := map[int]int{}
	for _, op := range ops {
		hold := holdOf(op)
		i, known := at[hold]
		if !known {
			i = len(groups)
			at[hold] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], op)
	}
	return groups
}

func holdOf(op Op) int {
	if g, ok := op.What.(Grant); ok {
		return g.Hold
	}
	return op.What.(Release).Hold
}

// String returns the history as text, one operation per line.
func (l Lock) String() string { return textOf(l) }

// String returns the history as text, one operation per line.
func (r Register) String() string { return textOf(r) }

func textOf(ops []Op) string {
	var lines []string
	for _, op := range ops {
		lines = append(lines, op.String())
	}
	return strings.Join(lines, "\n")
}

// String returns text such as "client 3, 1.2s to 1.3s: got the lock with token 17".
func (o Op) String() string {
	when := fmt.Sprintf("%v to %v", rounded(o.Called), rounded(o.Returned))
	if o.Returned == Never {
		when = fmt.Sprintf("from %v, not answered", rounded(o.Called))
	}
	return fmt.Sprintf("client %d, %s: %s", o.Client+1, when, describe(o.What))
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

func describe(what any) string {
	switch w := what.(type) {
	case Grant:
		if w.Token == NoToken {
			return "got the lock"
		}
		return fmt.Sprintf("got the lock with token %d", w.Token)
	case Release:
		return "released the lock or lost it"
	case Read:
		return fmt.Sprintf("read version %d", w.Version)
	case Write:
		return w.describe()
	}
	return ""
}

func (w Write) describe() string {
	over := ""
	if w.Over != AnyVersion {
		over = fmt.Sprintf(" over version %d", w.Over)
	}
	switch {
	case w.Refused:
		return "set" + over + ", refused"
	case w.Version == unknown:
		return "set" + over
	}
	return fmt.Sprintf("set%s, which made version %d", over, w.Version)
}
