package delivery

import (
	"maps"
	"slices"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics/pathname"
)

// A streamed is a watch of a stream.
type streamed struct {
	covers   drivers.Cover
	path     string
	from     int64    // first revision of which it must report events
	first    int64    // first revision of which it may report events
	last     int64    // revision of the latest event
	at       []string // paths of the events at that revision
	early    []event  // that came, and whose write is not known
	expected []event  // that have not come, and whose write is known
	forgot   int64    // highest revision of an early event that is no longer kept
}

// An event is a change as a stream reports it.
type event struct {
	path string
	pos  int64
	what drivers.EventType
}

// take removes the event of the same change from the list, and reports whether it was there.
func take(list *[]event, is event) (taken event, found bool) {
	i := slices.IndexFunc(*list, func(o event) bool { return o.pos == is.pos && o.path == is.path })
	if i < 0 {
		return event{}, false
	}
	taken = (*list)[i]
	*list = slices.Delete(*list, i, i+1)
	return taken, true
}

// match reports an event that says of a deletion that it was none, or the other way round. Whether a key was created
// is not known of each write.
func (s *Session) match(is event, write drivers.EventType) {
	if (is.what == drivers.Deleted) != (write == drivers.Deleted) {
		s.misses(WrongType, is)
	}
}

// includes reports whether the watch reports changes of the path.
func (w *streamed) includes(path string) bool {
	switch w.covers {
	case drivers.CoversNode:
		return path == w.path
	case drivers.CoversChildren:
		return pathname.Parent(path) == w.path
	}
	return false
}

// Stream checks what a watch stream of the session carries.
func (s *Session) Stream(e drivers.StreamEvent) {
	if s == nil {
		return
	}
	w := s.streams[e.Watch]
	switch e.Kind {
	case drivers.StreamArmed:
		if s.streams == nil {
			s.streams = map[int64]*streamed{}
		}
		w = &streamed{covers: e.Covers, path: e.Path, from: e.Pos, first: e.Pos}
		if e.Now { // it has begun after the server confirmed the one before
			w.first, s.now = s.now, e.Pos
		}
		s.streams[e.Watch] = w
		s.checker.streaming[s] = struct{}{}
		if !e.Now {
			s.checker.catchUp(w)
		}
	case drivers.StreamDisarmed:
		s.endStream(e.Watch)
	case drivers.StreamEnded:
		s.endStreams()
	case drivers.StreamProgress:
		for _, w := range s.streams {
			s.advance(w, e.Pos+1)
		}
	case drivers.StreamChanged:
		switch is := (event{e.Path, e.Pos, e.Event}); {
		case s.streams == nil: // left over from a stream that has ended
			return
		case w == nil:
			s.misses(Unasked, is)
		default:
			s.streamed(w, is)
		}
		s.checker.checked++
	}
}

// streamed checks an event of a watch.
func (s *Session) streamed(w *streamed, is event) {
	switch {
	case is.pos < w.first || w.covers != 0 && !w.includes(is.path):
		s.misses(Unasked, is)
		return
	case is.pos < w.last:
		s.misses(OutOfOrder, is)
		return
	case is.pos == w.last && slices.Contains(w.at, is.path):
		s.misses(Twice, is)
		return
	}
	if is.pos > w.last {
		w.last, w.at = is.pos, w.at[:0]
	}
	w.at = append(w.at, is.path)
	if known, found := take(&w.expected, is); found {
		s.match(is, known.what)
	} else if is.pos >= w.from {
		if len(w.early) == maxEarly {
			w.forgot = w.early[maxEarly/2-1].pos
			w.early = slices.Delete(w.early, 0, maxEarly/2)
		}
		w.early = append(w.early, is)
	}
	s.advance(w, is.pos)
}

// advance reports the events that are missing although a later one has come, or progress has been reported.
func (s *Session) advance(w *streamed, pos int64) {
	w.expected = slices.DeleteFunc(w.expected, func(is event) bool {
		missing := is.pos < pos
		if missing {
			s.misses(Missing, is)
		}
		return missing
	})
}

// stream makes the watches of streams expect the event of a write.
func (c *Checker) stream(op drivers.Op, path []byte, pos int64) {
	if op.Change() == 0 || len(c.streaming) == 0 {
		return
	}
	is := event{string(path), pos, op.Change()}
	for s := range c.streaming {
		for _, w := range s.streams {
			if pos < w.from || pos <= w.forgot || !w.includes(is.path) {
				continue
			}
			if came, found := take(&w.early, is); found {
				s.match(came, is.what)
				continue
			}
			w.expected = append(w.expected, is)
			s.advance(w, w.last)
		}
	}
}

// catchUp makes a watch from an earlier revision expect the latest change of each path that it covers: the server sends
// from that revision what was written before the watch.
func (c *Checker) catchUp(w *streamed) {
	expect := func(n *node) {
		if n != nil && n.changed[data] >= w.from {
			w.expected = append(w.expected, event{n.path, n.changed[data], n.latest(data)})
		}
	}
	switch w.covers {
	case drivers.CoversNode:
		expect(c.nodes[w.path])
	case drivers.CoversChildren:
		for path, n := range c.nodes {
			if w.includes(path) {
				expect(n)
			}
		}
	}
}

func (s *Session) misses(k Kind, is event) {
	s.checker.report(Violation{Kind: k, Session: s, Path: is.path, Event: is.what, Pos: is.pos})
}

// endStreams ends all watches of streams.
func (s *Session) endStreams() {
	for _, number := range slices.Sorted(maps.Keys(s.streams)) {
		s.endStream(number)
	}
	s.streams, s.now = nil, 0
	delete(s.checker.streaming, s)
}

// endStream ends a watch of a stream. Whether what it owes was on its way is not known.
func (s *Session) endStream(number int64) {
	if w := s.streams[number]; w != nil {
		for _, is := range w.expected {
			s.misses(Undecided, is)
		}
	}
	delete(s.streams, number)
}
