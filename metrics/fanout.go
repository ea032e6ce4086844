package metrics

// Fanout is how those are told who watch a node that is set again and again. The
// zero Fanout is of nobody.
type Fanout struct {
	Watchers int // of each node
	// Writes are those of which every watcher has been told, or never will be;
	// the rest is of these.
	Writes        int64
	Notifications int64
	// Missed are the changes that a watcher was not told of: they came between a
	// notification and the next watch, or while its session was disturbed.
	Missed int64
	// When notifications came, after the write's acknowledgement: of each write
	// the first, the one with which half of those were told who ever were, and the
	// last; and all.
	First, Median, Last, Each Signed
}

// Clone is a copy that later records do not change.
func (f Fanout) Clone() *Fanout {
	f.First, f.Median, f.Last, f.Each = f.First.Clone(), f.Median.Clone(), f.Last.Clone(), f.Each.Clone()
	return &f
}
