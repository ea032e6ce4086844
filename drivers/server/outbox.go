package server

import (
	"io"
	"slices"
	"sync"
	"time"
)

// An outbox holds the packets that a connection has yet to send. Goroutines fill it under the
// server's lock; the connection's sender empties it and may wait for the client.
type outbox struct {
	mu      sync.Mutex
	changed *sync.Cond
	packets []byte
	unasked int    // bytes of notifications not written yet
	sending int    // bytes of notifications taken for the current write
	shows   int64  // the zxid of the latest state that the packets may show
	spare   []byte // the buffer that was sent last
	ended   bool   // no more packets are added
	broken  bool   // sending failed

	writing time.Time // when the write in progress began; zero if there is none
}

const (
	// crowded is the number of bytes of replies in an outbox above which the server stops reading
	// the connection's requests until some are sent.
	crowded = 1 << 20
	// maxUnasked is the number of bytes of notifications that may wait for a client that has
	// stopped reading. Beyond it, the next transaction drops the client.
	maxUnasked = 1 << 20
	// maxUnread is the number of bytes of notifications that may wait for any client. Beyond it,
	// the next transaction drops the client.
	maxUnread = 16 << 20
	// stalledAfter is the duration of the write of one piece after which the client counts as
	// having stopped reading.
	stalledAfter = 5 * time.Second
	// writtenAtOnce is the size of such a piece in bytes.
	writtenAtOnce = 64 << 10
	// keptBuffer is the size in bytes of the largest buffer that is reused.
	keptBuffer = 64 << 10
)

func newOutbox() *outbox {
	o := &outbox{}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// add queues packets. The notifications among them take unasked bytes, and the packets show no
// state later than the zxid. It returns a buffer to use in place of packets, and whether the client
// has kept up so far. The size of the new packets does not count, as it says nothing about the
// client.
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

// stalled reports whether the current write has waited for the client for stalledAfter or longer.
// Time in which the disk holds the packets back does not count.
func (o *outbox) stalled() bool {
	return !o.writing.IsZero() && time.Since(o.writing) >= stalledAfter
}

// roomy waits until the outbox is not crowded with replies. Notifications do not count: the server
// still reads the heartbeats of a client that reads notifications slowly.
func (o *outbox) roomy() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.packets)-(o.unasked-o.sending) > crowded && !o.broken {
		o.changed.Wait()
	}
}

// end marks the outbox as complete: no more packets are added.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.changed.Broadcast()
}

// sendTo writes queued packets until the outbox ends or an error occurs. Before each write it waits
// until the state that the packets show is durable.
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

// write writes in pieces, so that a slow client's progress is visible.
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

// take waits for packets and returns all of them with the zxid of the state that they show. It
// returns nil when the outbox has ended.
func (o *outbox) take() (packets []byte, zxid int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unasked -= o.sending // these have been written
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
