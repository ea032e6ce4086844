package native

import (
	"io"
	"slices"
	"sync"
	"time"
)

// An outbox is what a connection has yet to send. It is filled under the
// server's lock and emptied by a goroutine that may wait for its client.
type outbox struct {
	mu      sync.Mutex
	changed *sync.Cond
	packets []byte
	unasked int    // bytes of notifications that are not written yet
	sending int    // those of them that were taken to be written
	shows   int64  // the zxid of the latest state that they may show
	spare   []byte // the buffer that was sent last
	ended   bool   // nothing is added any more
	broken  bool   // nothing can be sent any more

	writing time.Time // when the write in progress began; zero if there is none
}

const (
	// crowded is how many bytes of replies wait in an outbox when its
	// connection's requests are left unread until some are sent.
	crowded = 1 << 20
	// maxUnasked is how many bytes of notifications may wait for a client that
	// has stopped reading. One more transaction cuts it off.
	maxUnasked = 1 << 20
	// maxUnread is how many bytes of notifications may wait for any client. One
	// more transaction cuts it off.
	maxUnread = 16 << 20
	// stalledAfter is how long a write of one piece takes when the client has
	// stopped reading.
	stalledAfter = 5 * time.Second
	// writtenAtOnce is the size in bytes of such a piece.
	writtenAtOnce = 64 << 10
	// keptBuffer is the size of the largest buffer that is used again.
	keptBuffer = 64 << 10
)

func newOutbox() *outbox {
	o := &outbox{}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// add queues packets. The notifications among them take unasked bytes, and they
// show no state later than that of the zxid. It returns a buffer to use instead
// of the one it took, and whether the client kept up until now: the size of
// these packets says nothing about the client.
func (o *outbox) add(packets []byte, unasked int, zxid int64) (buf []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken || o.ended {
		return packets[:0], true
	}
	ok = o.unasked <= maxUnread && (o.unasked <= maxUnasked || !o.stalled())
	o.unasked += unasked
	o.shows = zxid
	if len(o.packets) == 0 {
		o.packets, packets = packets, o.packets
		o.changed.Broadcast()
	} else {
		o.packets = append(o.packets, packets...)
	}
	return reuse(packets), ok
}

// stalled reports whether the client has not read for long. A time in which the
// disk holds the packets back does not count.
func (o *outbox) stalled() bool {
	return !o.writing.IsZero() && time.Since(o.writing) >= stalledAfter
}

// roomy waits until the outbox is not crowded with replies. Notifications do not
// count: a client that reads them slowly is still heard when it sends a heartbeat.
func (o *outbox) roomy() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.packets)-(o.unasked-o.sending) > crowded && !o.broken {
		o.changed.Wait()
	}
}

// end says that nothing is added any more.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.changed.Broadcast()
}

// sendTo writes what is added, each time when what it shows can no longer be
// lost, which it awaits. It does so until the end or an error.
func (o *outbox) sendTo(w io.Writer, await func(zxid int64) error) {
	for {
		packets, zxid := o.take()
		if packets == nil {
			return
		}
		err := await(zxid)
		if err == nil {
			err = o.write(w, packets)
		}
		if err != nil {
			o.abandon()
			return
		}
		o.spare = reuse(packets)
	}
}

// write writes piece by piece, so that a slow client's progress can be seen.
func (o *outbox) write(w io.Writer, packets []byte) error {
	for piece := range slices.Chunk(packets, writtenAtOnce) {
		o.beginWrite()
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

func (o *outbox) beginWrite() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = time.Now()
}

// take waits for packets and returns them all, with the zxid of what they show,
// or nil at the end.
func (o *outbox) take() (packets []byte, zxid int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unasked -= o.sending // which are written now
	o.sending, o.writing = 0, time.Time{}
	for len(o.packets) == 0 {
		if o.ended {
			return nil, 0
		}
		o.changed.Wait()
	}
	packets = o.packets
	if len(packets) > crowded {
		o.changed.Broadcast()
	}
	o.packets, o.sending = o.spare, o.unasked
	return packets, o.shows
}

func (o *outbox) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken, o.packets = true, nil
	o.changed.Broadcast()
}

func reuse(buf []byte) []byte {
	if cap(buf) > keptBuffer {
		return nil
	}
	return buf[:0]
}
