package metrics

import "github.com/stampede-bench/stampede/drivers"

// A change is what a notification without a position says.
type change struct {
	path  string
	event drivers.EventType
}

// A foreign is a trigger that no session of this Meter made: an expiry, another
// process, or a write whose reply was cut off. All that is known of its position
// is after < position <= before; two notifications of one change can be of the
// same trigger if these bounds leave room for both, and if they went to two
// sessions, since a watch fires once.
type foreign struct {
	wakes
	after, before int64
	told          map[*account]struct{}
}

// group adds the notification to the first foreign trigger it can belong to.
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
