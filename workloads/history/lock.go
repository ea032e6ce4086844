package history

import (
	"github.com/anishathalye/porcupine"
)

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
	return Wrong, inOrder(locks().without(ops, holds(ops)))
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
