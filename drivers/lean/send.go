package lean

import "runtime"

// send sends what has gathered, if it fits, and leaves what gathers meanwhile to
// a goroutine.
func (l *line) send() {
	l.mu.Lock()
	if l.unanswered > fits {
		l.mu.Unlock()
		go l.drain()
	} else if l.batch() {
		go l.drain()
	}
}

// handOver has a goroutine send. It must be called with the lock held.
func (l *line) handOver() {
	if !l.busy {
		l.busy = true
		go l.drain()
	}
}

// drain sends until there is no more.
func (l *line) drain() {
	for more := true; more; {
		runtime.Gosched()
		l.mu.Lock()
		more = l.batch()
	}
}

// batch sends what has gathered and tells whether there is more; if not, the
// line is idle. It is called with the lock held, which it lets go of.
func (l *line) batch() (more bool) {
	out := l.out
	l.out = l.spare[:0]
	l.mu.Unlock()
	if _, err := l.net.Write(out); err != nil {
		l.net.Close() // the reader finds out
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = nil
	if cap(out) <= keptBuffer {
		l.spare = out
	}
	l.busy = len(l.out) > 0
	return l.busy
}
