package lean

import "runtime"

// send sends the queued requests, if they fit into the connection's buffers. It leaves
// requests that are queued meanwhile to a goroutine.
func (l *link) send() {
	l.mu.Lock()
	if l.unanswered > fits {
		l.mu.Unlock()
		go l.drain()
	} else if l.batch() {
		go l.drain()
	}
}

// handOver makes a goroutine send. The caller holds the lock.
func (l *link) handOver() {
	if !l.busy {
		l.busy = true
		go l.drain()
	}
}

// drain sends until the queue is empty.
func (l *link) drain() {
	for more := true; more; {
		runtime.Gosched()
		l.mu.Lock()
		more = l.batch()
	}
}

// batch sends the queued requests and reports whether there are more; if not, the link is
// idle. The caller holds the lock, which batch releases.
func (l *link) batch() (more bool) {
	out := l.out
	l.out = l.spare[:0]
	l.mu.Unlock()
	if _, err := l.net.Write(out); err != nil {
		l.net.Close() // the reader gets the error
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
