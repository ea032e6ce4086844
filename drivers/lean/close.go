package lean

import (
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// closeTime is how long Close tries to reach the service.
const closeTime = 2 * time.Second

// Done is closed when the session is lost or closed.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the session: first for this client, as when it is lost, then at the service. If
// the service cannot be reached within two seconds, its ephemeral nodes stay until the session
// expires.
func (c *Conn) Close() error {
	c.shut()
	late := time.NewTimer(closeTime)
	defer late.Stop()
	select {
	case <-c.gone:
	case <-late.C:
		c.abort()
		<-c.gone
	}
	return nil
}

// shut ends the session and sends a close request, on this connection or the next.
func (c *Conn) shut() {
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return
	}
	c.closing = true
	if c.live != nil {
		c.live.post(c.closeCall())
	}
}

func (c *Conn) closeCall() *call {
	k := c.newCall(request{op: drivers.OpClose, code: wire.OpCloseSession})
	k.server = ""
	return k
}

// abort stops trying to reach the service.
func (c *Conn) abort() {
	c.cancel()
	c.Cut()
}

// Cut cuts the connection, if there is one; see [drivers.Cutter].
func (c *Conn) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live != nil {
		c.live.net.Close()
	}
}

// end ends the session for this client: it calls OnState, closes Done and fires the watches.
func (c *Conn) end() {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return
	}
	c.over = true
	c.link.Store(nil)
	c.changed(drivers.SessionLost)
	close(c.done)
	c.rouse()
	c.mu.Unlock()
	c.watches.end()
}

func (c *Conn) lost() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
