package metrics

import "github.com/stampede-bench/stampede/drivers"

// A change is the content of a notification without a position.
type change struct {
	path  string
	event drivers.EventType
}

// A foreign is a trigger that no session of this Meter is known to have made: an expiry, a
// write of another process, or a write whose reply was cut off. Its position is known only to
// satisfy after < position <= before. Two notifications of one change can belong to the same
// trigger if these bounds are compatible and if the notifications went to two sessions, since a
// watch fires once.
type foreign struct {
	wakes
	after, before int64
	told          map[*account]struct{}
}

// group adds the notification to the first foreign trigger that it can belong to, or to a new
// one.
func (l *ledger) group(n *note) {
	c := change{n.path, n.event}
	after := max(n.after, n.since)
	for _, f := range l.strays[c] {
		_, told := f.told[n.account]
		if !told && max(f.after, after) < min(f.before, n.before) {
			l.woke(&f.wakes, n)
			f.join(n, after)
			return
		}
	}
	f := &foreign{before: unbounded, told: map[*account]struct{}{}}
	l.woke(&f.wakes, n)
	f.join(n, after)
	l.strays[c] = append(l.strays[c], f)
}

func (f *foreign) join(n *note, after int64) {
	f.after, f.before = max(f.after, after), min(f.before, n.before)
	f.told[n.account] = struct{}{}
}
