package native

import (
	"io"
	"sync"
)

// An outbox is what a connection has yet to send. It is filled under the
// server's lock and emptied by a goroutine that may wait for its client.
type outbox struct {
	mu      sync.Mutex
	changed *sync.Cond
	packets []byte
	unasked int    // bytes of notifications among them
	shows   int64  // the zxid of the latest state that they may show
	spare   []byte // the buffer that was sent last
	ended   bool   // nothing is added any more
	broken  bool   // nothing can be sent any more
}

const (
	// crowded is how many bytes wait in an outbox when its connection's
	// requests are left unread until some are sent.
	crowded = 1 << 20
	// maxUnasked is how many bytes of notifications, which nobody can leave
	// unread, may wait before the client is cut off.
	maxUnasked = 1 << 20
	// keptBuffer is the size of the largest buffer that is used again.
	keptBuffer = 64 << 10
)

func newOutbox() *outbox {
	o := &outbox{}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// add queues packets, of which unasked bytes are notifications, and which show
// no state later than that of the zxid. It returns a buffer to use instead of
// the one it took, and whether the client keeps up.
func (o *outbox) add(packets []byte, unasked int, zxid int64) (buf []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken || o.ended {
		return packets[:0], true
	}
	o.unasked += unasked
	o.shows = zxid
	if len(o.packets) == 0 {
		o.packets, packets = packets, o.packets
		o.changed.Broadcast()
	} else {
		o.packets = append(o.packets, packets...)
	}
	return reuse(packets), o.unasked <= maxUnasked
}

// roomy waits until the outbox is not crowded.
func (o *outbox) roomy() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.packets) > crowded && !o.broken {
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
			_, err = w.Write(packets)
		}
		if err != nil {
			o.abandon()
			return
		}
		o.spare = reuse(packets)
	}
}

// take waits for packets and returns them all, with the zxid of what they show,
// or nil at the end.
func (o *outbox) take() (packets []byte, zxid int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
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
	o.packets, o.unasked = o.spare, 0
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
