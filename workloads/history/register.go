package history

import (
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
)

// A Read is an Op that was answered with the node's version.
type Read struct{ Version int64 }

// A Write is an Op that sets the node, where it has the version Over.
type Write struct {
	Over    int64 // AnyVersion: whatever it has
	Version int64 // that it had afterwards, in the answer
	Refused bool  // it had another than Over
}

// Unread is a read as it is known where no answer came.
func Unread() Read { return Read{Version: unknown} }

// AnyVersion is where a write does not ask for one.
const AnyVersion = -1

// A Register is the history of one node that is set again and again, which makes
// its version one more each time.
type Register []Op

// registers are nodes of some version; at first nobody knows which.
func registers() checker {
	return checker{explain: explained, model: porcupine.Model{
		Init: func() any { return int64(unknown) },
		Step: func(state, input, _ any) (bool, any) {
			was := state.(int64)
			switch w := input.(type) {
			case Read:
				return was == unknown || w.Version == was, w.Version
			case Write:
				return w.step(was)
			}
			return false, was
		},
	}}
}

func (w Write) step(was int64) (bool, any) {
	if w.Refused {
		return was == unknown || was != w.Over, was
	}
	fits := w.Over == AnyVersion || w.Over == w.Version-1
	return fits && (was == unknown || w.Version == was+1), w.Version
}

// explained is the history without what was not answered and has not been seen;
// the versions that nobody was told to have made are those that writes made which
// were not answered. One is as good as another, so the first asked made the first.
func explained(ops []Op) (all []Op) {
	var open []Op
	for _, op := range ops {
		switch w := op.What.(type) {
		case Read:
			if w.Version != unknown {
				all = append(all, op)
			}
		case Write:
			if w.Version != unknown || w.Refused {
				all = append(all, op)
			} else {
				open = append(open, op)
			}
		}
	}
	made, seen := versions(all)
	open = inOrder(open)
	for _, version := range missing(made, seen) {
		i := slices.IndexFunc(open, func(op Op) bool {
			over := op.What.(Write).Over
			return over == AnyVersion || over == version-1
		})
		if i < 0 {
			continue // nobody can have made it: that is what is wrong
		}
		by := open[i]
		by.What = Write{Over: by.What.(Write).Over, Version: version}
		all, open = append(all, by), slices.Delete(open, i, i+1)
	}
	return all
}

// versions are those that writes are known to have made, and all that were seen.
func versions(ops []Op) (made, seen map[int64]bool) {
	made, seen = map[int64]bool{}, map[int64]bool{}
	for _, op := range ops {
		switch w := op.What.(type) {
		case Read:
			seen[w.Version] = true
		case Write:
			if !w.Refused {
				made[w.Version], seen[w.Version] = true, true
			}
		}
	}
	return made, seen
}

// missing are the versions from the first that was seen to the last that nobody
// was told to have made, in order; the first was there before.
func missing(made, seen map[int64]bool) (all []int64) {
	if len(seen) == 0 {
		return nil
	}
	versions := slices.Sorted(maps.Keys(seen))
	for v := versions[0] + 1; v <= versions[len(versions)-1]; v++ {
		if !made[v] {
			all = append(all, v)
		}
	}
	return all
}

// Check tells whether a node that does one thing after the other can have answered
// like that, and if not, shows the answers that cannot be.
func (r Register) Check() (Verdict, Register) {
	verdict := registers().check(r)
	if verdict != Wrong {
		return verdict, nil
	}
	ops := r.latest(registers().shortest(r))
	ops = registers().without(ops, reads(ops))
	if answered := answered(ops); registers().check(supposed(answered)) == Wrong {
		ops = answered
	}
	return Wrong, inOrder(ops)
}

// answered is the history without what was not.
func answered(ops []Op) []Op {
	return slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return op.Returned == Never })
}

// supposed is the history with every write that would help, asked at any time: what
// is wrong with it is wrong whatever was not answered.
func supposed(ops []Op) []Op {
	made, seen := versions(ops)
	for _, version := range missing(made, seen) {
		ops = append(ops, Op{Called: -Never, Returned: Never, What: Write{Over: AnyVersion, Version: version}})
	}
	return ops
}

// latest drops from the beginning what can be dropped: it is not known of what
// version a node was at first.
func (Register) latest(ops []Op) []Op {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b Op) int { return int(min(a.Returned, Never-1) - min(b.Returned, Never-1)) })
	for n := len(ops) / 2; n > 0; {
		if n < len(ops) && registers().check(ops[n:]) == Wrong {
			ops = ops[n:]
			continue
		}
		n /= 2
	}
	return ops
}

// reads are the reads, each by itself: without one a right history is right.
func reads(ops []Op) (groups [][]Op) {
	for _, op := range ops {
		if _, ok := op.What.(Read); ok {
			groups = append(groups, []Op{op})
		}
	}
	return groups
}

// Unanswered is the write as it is known where no answer came.
func (w Write) Unanswered() Write {
	w.Version, w.Refused = unknown, false
	return w
}
