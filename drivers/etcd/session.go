package etcd

import (
	"context"
	"errors"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/library"
)

// open opens the session.
func (c *Conn) open(ctx context.Context) error {
	if !c.options.NoEphemerals {
		if err := c.somewhere(ctx, c.grant); err != nil {
			return err
		}
	}
	c.key = c.keys.Session(c.lease.id)
	c.forms = &library.Session{Conn: c, Client: c.library, Lease: clientv3.LeaseID(c.lease.id), Keys: c.keys,
		Ready:    func(ctx context.Context) error { return c.latch.Wait(ctx, c.done) },
		Revision: c.tap.seen.Load, Failed: failed}
	var breaks uint64
	if err := c.somewhere(ctx, func(ctx context.Context) error {
		breaks = c.tap.broke()
		return c.anchor(ctx, drivers.OpOther)
	}); err != nil {
		return err
	}
	if c.leased() {
		c.watches.own(c.key, func() { go c.lose(drivers.SessionLost) })
	}
	if err := c.connect(breaks); err != nil {
		return err
	}
	if c.leased() {
		c.leaving.Go(c.keep)
	}
	return nil
}

// leased reports whether the session has a lease, and a key on it.
func (c *Conn) leased() bool { return c.lease.id != 0 }

// anchor writes the session's key, which only succeeds while the lease exists. After that, no
// write sent on an earlier connection succeeds. A session without a lease only finds out whether the service answers.
func (c *Conn) anchor(ctx context.Context, op drivers.Op) error {
	if !c.leased() {
		q := c.look(op, "/")
		if err := c.lookUp(q.attach(clientv3.WithRequireLeader(ctx)), q); err != nil {
			return failed(op.String(), c.key, err)
		}
		return nil
	}
	q := &query{op: op}
	put := clientv3.OpPut(c.key, "", clientv3.WithLease(clientv3.LeaseID(c.lease.id)))
	resp, err := c.library.Txn(q.attach(clientv3.WithRequireLeader(ctx))).Then(put, clientv3.OpGet(c.key, clientv3.WithKeysOnly())).Commit()
	if err != nil {
		return failed(op.String(), c.key, err)
	}
	c.version.Store(first((*pb.TxnResponse)(resp), 1).Version)
	return nil
}

// errBroken reports that the connection broke again while the session reconnected.
var errBroken = errors.New("the connection broke again")

// connect resumes the watches and lets calls pass, unless the number of breaks differs from
// breaks, which means that the connection has broken again.
func (c *Conn) connect(breaks uint64) error {
	s, err := c.tap.begin(c.library.Ctx(), pb.NewWatchClient(c.library.ActiveConnection()))
	if err != nil {
		return err
	}
	c.watches.begin(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tap.broke() != breaks {
		return errBroken
	}
	if c.over {
		return drivers.ErrSessionLost
	}
	c.connected = true
	if c.opened {
		c.reportState(drivers.Connected)
	}
	c.opened = true
	c.latch.SetConnected(true)
	return nil
}

// broken is called by the tap each time the connection has broken.
func (c *Conn) broken() {
	c.watches.interrupt()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.connected || c.over {
		return
	}
	c.connected = false
	c.latch.SetConnected(false)
	c.reportState(drivers.Disconnected)
	c.leaving.Go(c.reconnect)
}

const (
	firstPause = 10 * time.Millisecond
	maxPause   = time.Second
)

// reconnect retries until the session is connected again or has ended. The library opens the
// connection as soon as there is something to send.
func (c *Conn) reconnect() {
	for pause := time.Duration(0); ; pause = min(max(2*pause, firstPause), maxPause) {
		select {
		case <-time.After(pause):
		case <-c.done:
			return
		}
		breaks := c.tap.broke()
		err := c.anchor(c.library.Ctx(), drivers.OpOpen)
		if errors.Is(err, drivers.ErrSessionLost) {
			c.lose(drivers.SessionLost)
			return
		}
		if err == nil {
			err = c.connect(breaks)
		}
		if err == nil {
			return
		}
		c.leave(err)
	}
}

// somewhere makes a call that needs a leader. It tries the members in turn until one has a
// leader.
func (c *Conn) somewhere(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if !c.leave(err) {
			return err
		}
		select {
		case <-time.After(firstPause):
		case <-ctx.Done():
			return err
		}
	}
}

// leave makes the library connect to the next server if the error says that the connected
// server has no leader, and reports whether it does.
func (c *Conn) leave(err error) bool {
	if !errors.Is(err, rpctypes.ErrNoLeader) {
		return false
	}
	c.turn()
	return true
}

// turn makes the next endpoint the first one that the library connects to.
func (c *Conn) turn() {
	all := c.library.Endpoints()
	c.library.SetEndpoints(append(all[1:], all[0])...)
}

func (c *Conn) reportState(s drivers.State) {
	if c.options.OnState != nil {
		c.options.OnState(s)
	}
}

// end ends the session for this client: it calls OnState, closes Done and fires the watches.
// It returns whether this call ended the session, and whether the session was connected.
func (c *Conn) end(why drivers.State) (here, connected bool) {
	c.mu.Lock()
	if c.over {
		c.mu.Unlock()
		return false, false
	}
	c.over = true
	if c.opened {
		c.reportState(why)
	}
	close(c.done)
	connected = c.connected
	c.mu.Unlock()
	c.watches.end()
	return true, connected
}

// lose is called when the session is lost, from any goroutine.
func (c *Conn) lose(why drivers.State) {
	if here, _ := c.end(why); here {
		go c.shutdown(false)
	}
}

// Close ends the session: first for this client, as when it is lost, then at the service. A
// disconnected session is left to expire at the service.
func (c *Conn) Close() error {
	_, connected := c.end(drivers.SessionClosed)
	c.shutdown(connected)
	return nil
}

// closeTime is how long Close waits for the service.
const closeTime = 2 * time.Second

// shutdown closes the library's client, and first revokes the lease if revoke is set.
func (c *Conn) shutdown(revoke bool) {
	c.closing.Do(func() {
		if revoke && c.leased() {
			ctx, cancel := context.WithTimeout(c.library.Ctx(), closeTime)
			defer cancel()
			c.revoke(ctx)
		}
		c.library.Close()
		c.leaving.Wait()
	})
}
