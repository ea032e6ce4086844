package zookeeper

import (
	"context"
	"time"
)

// closeTime is how long Close waits for the library to reconnect. The library then tries to send
// its request for as long again.
const closeTime = 2 * time.Second

// Close ends the session: first for this client, as when it is lost, then at the service. If
// the connection is broken meanwhile, the library may not end the session at the service: its
// ephemeral nodes then stay until the session expires. Close does not wait for the library where
// the session was lost, or never established: the library then takes up to 2 s to end.
func (c *Conn) Close() error {
	if c.isOpen() && !c.lost() {
		c.alive.Store(true)
	}
	c.end()
	if c.alive.Load() {
		c.shutdown()
	} else {
		go c.shutdown()
	}
	return nil
}

// shutdown ends the library, and the session at the service if it is alive, and waits for the
// library's goroutines.
func (c *Conn) shutdown() {
	if !c.closing.CompareAndSwap(false, true) {
		<-c.gone
		return
	}
	defer close(c.gone)
	c.watches.imminent.Wait()
	if c.alive.Load() {
		c.reconnected()
	} else {
		c.dialer.stop()
	}
	c.library.Close()
	c.dialer.stop() // if the service did not answer
	for range c.over {
	}
	c.locks.close()
	c.calls.close()
}

// reconnected waits until requests can be sent: as other requests, that which ends the session
// comes after those that arm watches again; see hasSession.
func (c *Conn) reconnected() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	c.latch.Wait(ctx, nil)
}

// Cut cuts the connection, if there is one; see [drivers.Cutter].
func (c *Conn) Cut() {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	if c.session.tap != nil {
		c.session.tap.Close()
	}
}
