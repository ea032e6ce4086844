package proxy

import (
	"sync"
	"time"
	"unsafe"
)

// An event is what a piece of a connection reports to the analysis.
type event uint8

const (
	fromClient event = iota
	fromServer
	opened
	closed
	flushed
)

// A piece is what the analysis gets of a line at one time.
type piece struct {
	line  *line
	at    time.Time
	size  int           // of its bytes
	first int           // offset of the first packet that begins in its bytes, or -1
	lost  int64         // bytes of the direction that were dropped right before this piece
	done  chan struct{} // of flushed
	event event
}

const pieceSize = int(unsafe.Sizeof(piece{}))

// A batch is a sequence of pieces and the bytes of all of them.
type batch struct {
	pieces []piece
	data   []byte
}

func (b *batch) size() int { return len(b.pieces)*pieceSize + len(b.data) }

// A queue holds the pieces of all lines in one order, up to a limit in bytes.
type queue struct {
	limit int
	ready chan struct{} // has an element if there may be pieces

	mu       sync.Mutex
	next     batch
	finished bool
}

// put appends a piece and a copy of its bytes. It returns false if the queue is full. It never
// waits for the analysis. There is always room for the end of a connection and for a flush.
func (q *queue) put(p piece, data []byte) bool {
	q.mu.Lock()
	if p.event <= opened && q.next.size()+pieceSize+len(data) > q.limit {
		q.mu.Unlock()
		return false
	}
	p.at, p.size = time.Now(), len(data)
	q.next.pieces = append(q.next.pieces, p)
	q.next.data = append(q.next.data, data...)
	q.mu.Unlock()
	q.wake()
	return true
}

// finish says that nothing more comes.
func (q *queue) finish() {
	q.mu.Lock()
	q.finished = true
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take exchanges the queue's pieces for an empty batch. Last reports that nothing more comes.
func (q *queue) take(empty batch) (full batch, last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	full, q.next = q.next, batch{pieces: empty.pieces[:0], data: empty.data[:0]}
	return full, q.finished
}
