package zookeeper

import (
	"context"
	"time"

	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// closeTime is how long Close tries to reach the service, after the second for which the
// library waits for an answer.
const closeTime = time.Second

// Close ends the session: first for this client, as when it is lost, then at the service. If
// the service cannot be reached within a few seconds, its ephemeral nodes stay until the
// session expires.
func (c *Conn) Close() error {
	c.end()
	select {
	case <-c.session.opened:
		c.shutdown(true)
	default:
		c.shutdown(false)
	}
	return nil
}

// shutdown ends the library and waits for its goroutines. If sure is set, it also makes sure
// that the session has ended at the service.
func (c *Conn) shutdown(sure bool) {
	if !c.closing.CompareAndSwap(false, true) {
		<-c.gone
		return
	}
	defer close(c.gone)
	c.watches.imminent.Wait()
	if !sure || c.gate.isShut() {
		c.dialer.stop()
		<-c.dialer.arrived // otherwise the library would not send a request that needs an answer
	}
	c.endLibrary()
	c.locks.close()
	c.calls.close()
	if !sure {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	for tries := 0; !c.closed.Load() && ctx.Err() == nil; tries++ {
		c.closeAnew(ctx, tries)
	}
}

// endLibrary closes the library and waits until its goroutines have ended.
func (c *Conn) endLibrary() {
	c.library.Close()
	c.dialer.stop() // if the service did not answer
	for range c.over {
	}
}

// closeAnew resumes the session on a new connection and ends it there. The library does not
// reconnect once it is closed.
func (c *Conn) closeAnew(ctx context.Context, tries int) {
	select {
	case <-time.After(ensemble.Backoff(tries)):
	case <-ctx.Done():
		return
	}
	conn, err := c.connect(ctx, c.dialer.servers[tries%len(c.dialer.servers)])
	if err != nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	ensemble.TakeOver(conn, c.session.granted) // the tap reports the result
}

// Cut cuts the connection, if there is one; see [drivers.Cutter].
func (c *Conn) Cut() {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	if c.session.tap != nil {
		c.session.tap.Close()
	}
}
