package history

import (
	"github.com/anishathalye/porcupine"
)

// A Grant is an Op by which a client got the lock.
type Grant struct {
	Hold  int   // which of the history's holds
	Token int64 // its fencing token; NoToken where the form has none
}

// NoToken is that of a form without tokens.
const NoToken = -1

// A Release is an Op by which it was given up, or taken from a client whose session
// was disturbed.
type Release struct{ Hold int }

// A Lock is the history of one lock.
type Lock []Op

// held is the state of a lock.
type held struct {
	by    int // the hold; −1: nobody's
	token int64
}

// locks are a lock that one client at a time has, with tokens that rise.
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

// completed is the history without locks that were only asked for, in which every
// one that somebody got is given up: at any time, if nobody saw when.
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

// Check tells whether one client at a time can have had the lock, and if not, shows
// the holds that cannot be.
func (l Lock) Check() (Verdict, Lock) {
	verdict := locks().check(l)
	if verdict != Wrong {
		return verdict, nil
	}
	ops := locks().shortest(l)
	return Wrong, inOrder(locks().without(ops, holds(ops)))
}

// holds are the ops of each hold: any holds of a right history are one.
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
