package proxy

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// analysis gives what the lines carry to the decoders, in one order for all of them: each piece
// enters the queue before its bytes are passed on, so that no reply or notification is analysed
// before the request that caused it.
type analysis struct {
	options  Options
	observed func(address string) bool // whether connections to the address pass the proxy
	queue    queue
	over     chan struct{} // closed when the queue has been worked off
	dropped  atomic.Int64
	failed   atomic.Int64
	failure  atomic.Pointer[error]
}

func newAnalysis(o Options, observed func(address string) bool) *analysis {
	a := &analysis{options: o, observed: observed, over: make(chan struct{})}
	a.queue.limit, a.queue.ready = cmp.Or(o.Queue, DefaultQueue), make(chan struct{}, 1)
	go a.work()
	return a
}

// open hands over the beginning of a connection.
func (a *analysis) open(l *relay) { a.queue.put(piece{line: l, event: opened}, nil) }

// owned hands over the owner of the line.
func (a *analysis) owned(l *relay) { a.queue.put(piece{line: l, event: owned}, nil) }

// end hands over the end of a connection, and how many of its last bytes were dropped.
func (a *analysis) end(l *relay, lost int64) {
	a.queue.put(piece{line: l, event: closed, lost: lost}, nil)
}

// offer hands over bytes, or counts them as lost if the queue is full. It never waits.
func (a *analysis) offer(l *relay, d *direction, data []byte) {
	p := piece{line: l, event: d.event, lost: d.lost}
	if d.framer != nil {
		p.first = d.framer.Advance(data)
	}
	if a.queue.put(p, data) {
		d.lost = 0
		return
	}
	a.dropped.Add(int64(len(data)))
	d.lost += int64(len(data))
}

// flush returns when everything handed over before has been analysed.
func (a *analysis) flush() {
	done := make(chan struct{})
	a.queue.put(piece{event: flushed, done: done}, nil)
	select {
	case <-done:
	case <-a.over:
	}
}

func (a *analysis) close() {
	a.queue.finish()
	<-a.over
}

// gathering is how long pieces gather until they are analysed, so that not every piece wakes the
// analysis.
const gathering = time.Millisecond

func (a *analysis) work() {
	defer close(a.over)
	var b batch
	for last := false; !last; {
		<-a.queue.ready
		time.Sleep(gathering)
		b, last = a.queue.take(b)
		data := b.data
		for i := range b.pieces {
			p := &b.pieces[i]
			a.analyse(p, data[:p.size])
			data = data[p.size:]
		}
		clear(b.pieces)
	}
}

// analyse gives a piece to its connection's decoder. A panic ends the analysis of the connection.
func (a *analysis) analyse(p *piece, data []byte) {
	l := p.line
	defer func() {
		if cause := recover(); cause != nil {
			err := fmt.Errorf("analysis of connection %d failed: %v", l.connection.ID, cause)
			a.failure.CompareAndSwap(nil, &err)
			a.failed.Add(1)
			u := traffic.Undecoded{Cause: traffic.Failed, Bytes: int64(len(data)), Connections: 1}
			a.options.Observer.Missed(u)
			l.decoder = nil
		}
	}()
	switch {
	case p.event == flushed:
		close(p.done)
	case p.event == opened:
		l.connection.At = p.at
		l.tap = memberTap{a.options.Observer.Open(l.connection), a.observed}
		l.decoder = a.options.Protocol.Open(l.tap, false)
		if a.options.Protocol.ByProcess {
			l.awaitOwner(p.at.Add(ownerWait))
		}
	case p.event == owned:
		if l.tap != nil { // else the observer has failed
			l.tap.Owner(l.owner)
		}
	case l.decoder == nil:
		a.dropped.Add(int64(len(data)))
		if n := int64(len(data)) + p.lost; n > 0 {
			a.options.Observer.Missed(traffic.Undecoded{Cause: traffic.Failed, Bytes: n})
		}
	case p.event == closed:
		if lost := l.missing[fromClient] + l.missing[fromServer] + p.lost; lost > 0 {
			l.decoder.Lost(p.at, false, lost, traffic.Late)
		}
		l.decoder.End(p.at)
	default:
		l.decode(p, data)
	}
}

// ownerWait is how long after the beginning of a connection its analysis waits for its owner, and with it that of
// all others: the owner is looked for a few times a second.
const ownerWait = time.Second

// awaitOwner reports the owner before anything that the connection carries, unless it is not known in time.
func (l *relay) awaitOwner(until time.Time) {
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	select {
	case <-l.looked:
		l.tap.Owner(l.owner)
	case <-late.C:
	}
}

// decode decodes a piece. After a loss it resumes at the next packet, or leaves that to the decoder if the
// protocol has no framer.
func (l *relay) decode(p *piece, data []byte) {
	missing := &l.missing[p.event]
	*missing += p.lost
	if *missing > 0 {
		if p.first < 0 {
			*missing += int64(len(data))
			return
		}
		l.decoder.Lost(p.at, p.event == fromClient, *missing+int64(p.first), traffic.Late)
		data, *missing = data[p.first:], 0
	}
	if p.event == fromClient {
		l.decoder.FromClient(p.at, data)
	} else {
		l.decoder.FromServer(p.at, data)
	}
}

// An event is what a piece of a connection reports to the analysis.
type event uint8

const (
	fromClient event = iota
	fromServer
	opened
	owned
	closed
	flushed
)

// A piece is what the analysis gets of a line at one time.
type piece struct {
	line  *relay
	at    time.Time
	size  int           // of its bytes
	first int           // offset of the first packet that begins in its bytes, or -1; 0 without a framer
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
	if p.event < opened && q.next.size()+pieceSize+len(data) > q.limit {
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
