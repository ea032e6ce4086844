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

// add queues packets, of which unasked bytes are notifications. It returns a
// buffer to use instead of the one it took, and whether the client keeps up.
func (o *outbox) add(packets []byte, unasked int) (buf []byte, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken || o.ended {
		return packets[:0], true
	}
	o.unasked += unasked
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

// sendTo writes what is added, until the end or an error.
func (o *outbox) sendTo(w io.Writer) {
	for {
		packets := o.take()
		if packets == nil {
			return
		}
		if _, err := w.Write(packets); err != nil {
			o.abandon()
			return
		}
		o.spare = reuse(packets)
	}
}

// take waits for packets and returns them all, or nil at the end.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.packets) == 0 {
		if o.ended {
			return nil
		}
		o.changed.Wait()
	}
	packets := o.packets
	if len(packets) > crowded {
		o.changed.Broadcast()
	}
	o.packets, o.unasked = o.spare, 0
	return packets
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
