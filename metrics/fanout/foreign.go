package fanout

import "github.com/stampede-bench/stampede/drivers"

// A changeKey is the content of a notification without a position.
type changeKey struct {
	path  string
	event drivers.EventType
}

// A foreignTrigger is a trigger that no session of this Meter is known to have made: an expiry, a
// write of another process, or a write whose reply was cut off. Its position is known only to
// satisfy after < position <= before. Two notifications of one change can belong to the same
// trigger if these bounds are compatible and if the notifications went to two sessions, since a
// watch fires once.
type foreignTrigger struct {
	trigger
	serial        int64 // in the order of their first notifications
	after, before int64
	notified      map[*sessionState]struct{}
}

// assignForeign adds the notification to the first foreign trigger that it can belong to, or to a new
// one.
func (l *ledger) assignForeign(n *notification) {
	c := changeKey{n.path, n.event}
	after := max(n.after, n.since)
	for _, f := range l.foreign[c] {
		_, again := f.notified[n.state]
		if !again && max(f.after, after) < min(f.before, n.before) {
			l.notify(&f.trigger, n)
			f.include(n, after)
			return
		}
	}
	l.foreigners++
	f := &foreignTrigger{serial: l.foreigners, before: unbounded, notified: map[*sessionState]struct{}{}}
	l.notify(&f.trigger, n)
	f.include(n, after)
	l.foreign[c] = append(l.foreign[c], f)
	if limit := int64(l.bounds.limit); limit > 0 && l.foreigners%limit == 0 { // no write may come that prunes
		l.boundForeign()
	}
}

func (f *foreignTrigger) include(n *notification, after int64) {
	f.after, f.before = max(f.after, after), min(f.before, n.before)
	f.notified[n.state] = struct{}{}
}
