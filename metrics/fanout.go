package metrics

// Fanout describes the notifications of watchers of nodes that are set repeatedly. The zero
// Fanout has no watchers.
type Fanout struct {
	Watchers int // per node
	// Writes counts the writes whose notifications are complete: each watcher was notified or
	// never will be. All fields below describe these writes.
	Writes        int64
	Notifications int64
	// Missed counts changes for which a watcher got no notification: they came between a
	// notification and the next watch, or while the watcher's session was disturbed.
	Missed int64
	// Times of notifications after the write's acknowledgement: the first of each write, the
	// one that completed half of the write's notifications, the last, and all of them.
	First, Median, Last, Each Signed
}

// Clone returns a copy that later records do not change.
func (f Fanout) Clone() *Fanout {
	f.First, f.Median, f.Last, f.Each = f.First.Clone(), f.Median.Clone(), f.Last.Clone(), f.Each.Clone()
	return &f
}
