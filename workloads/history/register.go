package history

import (
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
)

// A Read is an Op that returned the node's version.
type Read struct{ Version int64 }

// A Write is an Op that sets the node if the node has the version Over.
type Write struct {
	Over    int64 // AnyVersion: the write is unconditional
	Version int64 // the node's version after the write, from the answer
	Refused bool  // the node did not have the version Over
}

// Unread returns a Read that was not answered.
func Unread() Read { return Read{Version: unknown} }

// AnyVersion is the Over of an unconditional write.
const AnyVersion = -1

// A Register is the history of one node that is set repeatedly. Each write increases the
// node's version by 1.
type Register []Op

// registers returns the checker for a node whose initial version is unknown.
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

// explained returns the history without the unanswered operations that had no visible
// effect. If a version is missing, because no acknowledged write made it, then an
// unanswered write made it. Any unanswered write that fits will do, so explained takes
// them in the order of their calls.
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
			continue // no write can have made this version: the history is wrong
		}
		by := open[i]
		by.What = Write{Over: by.What.(Write).Over, Version: version}
		all, open = append(all, by), slices.Delete(open, i, i+1)
	}
	return all
}

// versions returns the versions that acknowledged writes made, and all versions that occur.
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

// missing returns the versions that no acknowledged write made, in order, from the first
// version that occurs to the last. The first is not missing: it may be the initial version.
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

// Check reports whether a linearizable node can have given these answers. If not, it returns
// the answers that contradict each other.
func (r Register) Check() (Verdict, Register) {
	verdict := registers().check(r)
	if verdict != Wrong {
		return verdict, nil
	}
	ops := r.latest(registers().shortest(r))
	ops = registers().removeGroups(ops, reads(ops))
	if answered := answered(ops); registers().check(supposed(answered)) == Wrong {
		ops = answered
	}
	return Wrong, inOrder(ops)
}

// answered returns the history without unanswered operations.
func answered(ops []Op) []Op {
	return slices.DeleteFunc(slices.Clone(ops), func(op Op) bool { return op.Returned == Never })
}

// supposed adds every write that could explain the history, callable at any time. If the
// history is wrong even then, it is wrong whatever became of the unanswered operations.
func supposed(ops []Op) []Op {
	made, seen := versions(ops)
	for _, version := range missing(made, seen) {
		ops = append(ops, Op{Called: -Never, Returned: Never, What: Write{Over: AnyVersion, Version: version}})
	}
	return ops
}

// latest drops as much as it can from the start of the history. This is sound because the
// initial version of a node is unknown.
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

// reads returns each read as a group of its own: a right history stays right without any read.
func reads(ops []Op) (groups [][]Op) {
	for _, op := range ops {
		if _, ok := op.What.(Read); ok {
			groups = append(groups, []Op{op})
		}
	}
	return groups
}

// Unanswered returns the write without its answer.
func (w Write) Unanswered() Write {
	w.Version, w.Refused = unknown, false
	return w
}
