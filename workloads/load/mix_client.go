package load

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/check"
	"github.com/stampede-bench/stampede/workloads/history"
	"github.com/stampede-bench/stampede/workloads/namespace"
)

// A mixClient performs one operation after the other. An operation is one call, or several where
// the answer requires it.
type mixClient struct {
	*mixWorkload
	slot  *workloads.Slot
	turns *workloads.Slot // whose turns the operations are: another, if one client takes those of all streams
	*check.SessionVersions
	draw   func() int // draw chooses a key
	size   func() int // size chooses the size of a value
	stream int        // the number that names its fresh nodes, unique among all streams of all clients

	// The fields below belong to the operation in progress.
	kind     int
	key      int
	data     []byte // that it writes
	losses   int    // connections that were lost while it was made
	call     drivers.Call
	pending  drivers.Pending // the call, if it was begun ahead
	due      time.Time
	began    time.Time
	before   int32       // the version that was known before the call
	recorded *history.Op // the recorded call for the history check, or nil
	transaction
}

func (w *mixWorkload) join(s *workloads.Slot, seen *check.SessionVersions) *mixClient {
	return &mixClient{mixWorkload: w, slot: s, turns: s, SessionVersions: seen, draw: w.KeysBy.Keys(w.Keys, s.Rand), size: w.SizeBy.Sizes(w.Size, s.Rand)}
}

// Turn performs one operation.
func (c *mixClient) Turn(ctx context.Context) (rounds int64, err error) {
	due, ok := c.slot.Arrive(ctx, c.think)
	if !ok {
		return 0, nil
	}
	c.start(due)
	for done := false; !done; {
		if done, err = c.answered(c.call.Do(ctx, c.slot.Conn)); err != nil {
			return 0, unlessGivenUp(err)
		}
	}
	c.record()
	return 1, nil
}

// start chooses an operation at random and sets its first call.
func (c *mixClient) start(due time.Time) {
	c.due, c.began, c.losses = due, c.slot.StartOf(due), 0
	random := c.slot.Rand
	if random.Float64() < c.Reads {
		c.kind = mixRead
		if c.Lists > 0 && random.Float64() < c.Lists {
			c.kind = mixList
		}
		c.key = c.draw()
		c.look()
		return
	}
	nodes := &c.made[c.stream]
	switch u := random.Float64(); {
	case u >= c.changes()+c.Txns:
		c.kind, c.key, c.data = mixWrite, c.draw(), c.newValue()
		c.write()
	case u >= c.changes():
		c.kind = mixTransaction
		c.choose()
		c.transact()
	case c.Grow || u < c.Creates && !nodes.full() || nodes.none():
		c.kind, c.data = mixCreate, c.newValue()
		c.call = drivers.Call{Op: drivers.OpCreate, Path: c.freshPath(nodes.add()), Data: c.data}
	default:
		c.kind = mixDelete
		c.call = drivers.Call{Op: drivers.OpDelete, Path: c.freshPath(nodes.drop()), Version: drivers.AnyVersion}
	}
}

// look reads the key, or lists the key's folder.
func (c *mixClient) look() {
	if c.kind == mixList {
		c.call = drivers.Call{Op: drivers.OpChildren, Path: c.keys.FolderPath(c.keys.FolderOf(c.key))}
		return
	}
	c.recorded, c.before = c.recordRead(c.key), c.Known(c.key)
	c.call = drivers.Call{Op: drivers.OpGet, Path: c.paths[c.key]}
}

// write sets the key. A conditional set reads the key first.
func (c *mixClient) write() {
	if c.Conditional {
		c.look()
		return
	}
	c.set(drivers.AnyVersion)
}

func (c *mixClient) set(over int32) {
	c.recorded, c.before = c.recordWrite(c.key, over), c.Known(c.key)
	c.call = drivers.Call{Op: drivers.OpSet, Path: c.paths[c.key], Data: c.data, Version: over}
}

func (c *mixClient) newValue() []byte { return c.value[:c.size()] }

// record records that the operation has ended, and returns when, and whether that lies in the window.
func (c *mixClient) record() (now time.Time, inWindow bool) {
	now = time.Now()
	c.turns.Operated(c.timed[c.kind].Name(), now)
	return now, c.turns.RecordLast(c.timed[c.kind], now.Sub(c.began), now.Sub(c.due), now)
}

// answered handles the answer to the call. It reports whether the operation is done; if not, there
// is another call to make.
func (c *mixClient) answered(a drivers.Answer) (done bool, err error) {
	if a.Err != nil {
		return c.refused(a.Err)
	}
	switch c.call.Op {
	case drivers.OpGet:
		if c.recorded != nil {
			c.operations.Returned(c.recorded, history.Read{Version: int64(a.Stat.Version)})
		}
		c.ReadReturned(c.key, c.before, a.Stat.Version)
		switch c.kind {
		case mixWrite:
			c.set(a.Stat.Version)
			return false, nil
		case mixTransaction:
			c.hasRead(a.Stat.Version)
			return false, nil
		}
	case drivers.OpChildren:
		c.ListReturned(a.Children, c.keys.NodesIn(c.keys.FolderOf(c.key)))
	case drivers.OpSet:
		over := c.call.Version
		if c.recorded != nil {
			c.operations.Returned(c.recorded, history.Write{Over: int64(over), Version: int64(a.Stat.Version)})
		}
		c.SetReturned(c.key, c.before, a.Stat.Version, over)
	case drivers.OpMulti:
		c.committed(a.Stats)
	}
	return true, nil
}

// refused handles an answer with an error. An operation that may not have been executed is
// repeated. That is harmless, except that a set may create two versions.
func (c *mixClient) refused(err error) (done bool, _ error) {
	op := c.call.Op
	switch {
	case errors.Is(err, drivers.ErrConnectionLoss) && c.givesUp():
		return false, errGivenUp
	case errors.Is(err, drivers.ErrConnectionLoss):
		switch op {
		case drivers.OpSet:
			c.write()
		case drivers.OpMulti:
			c.transact()
		}
		return false, nil
	case op == drivers.OpSet && c.Conditional && errors.Is(err, drivers.ErrBadVersion):
		c.operations.Returned(c.recorded, history.Write{Over: int64(c.call.Version), Refused: true})
		c.turns.Count(&c.retries, 1)
		c.write()
		return false, nil
	case op == drivers.OpMulti && c.Conditional && errors.Is(err, drivers.ErrBadVersion):
		c.rejectedAll()
		c.turns.Count(&c.rejected, 1)
		c.transact()
		return false, nil
	case op == drivers.OpCreate && errors.Is(err, drivers.ErrNodeExists), // the reply to the first attempt was lost
		op == drivers.OpDelete && errors.Is(err, drivers.ErrNoNode): // never created, or already deleted
		return true, nil
	}
	return false, err
}

// mostLosses is how many lost connections in a row do not show that it is the operation that the service hangs up on.
const mostLosses = 10

// givesUp counts a lost connection, and reports whether the run is over and the operation, which the service does not
// take, is to end with it. Until then it is repeated: a client does not know why it lost the connection.
func (c *mixClient) givesUp() bool {
	if c.losses++; c.losses <= mostLosses {
		return false
	}
	select {
	case <-c.turns.Stopping:
		return true
	default:
		return false
	}
}

// errGivenUp ends an operation that never ended otherwise, which is no error of the run.
var errGivenUp = errors.New("given up")

func unlessGivenUp(err error) error {
	if errors.Is(err, errGivenUp) {
		return nil
	}
	return err
}

// recordRead records a read in a run with faults, if reads must return data that was current
// during the call.
func (c *mixClient) recordRead(key int) *history.Op {
	if !c.slot.HasFaults() || !c.readsFresh {
		return nil
	}
	return c.operations.Called(key, c.slot.Index, history.Unread())
}

// recordWrite records a write in a run with faults.
func (c *mixClient) recordWrite(key int, over int32) *history.Op {
	if !c.slot.HasFaults() {
		return nil
	}
	return c.operations.Called(key, c.slot.Index, history.Write{Over: int64(over)}.Unanswered())
}

// freshNodes are the fresh nodes of one stream. The stream creates them in the order of their numbers
// and deletes them in the same order, unless the set grows.
type freshNodes struct{ first, next int64 }

// maxFresh is the maximum number of fresh nodes of a stream.
const maxFresh = 16

func (n *freshNodes) none() bool { return n.first == n.next }
func (n *freshNodes) full() bool { return n.next-n.first == maxFresh }

func (n *freshNodes) add() (number int64) {
	n.next++
	return n.next - 1
}

func (n *freshNodes) drop() (number int64) {
	n.first++
	return n.first - 1
}

func (c *mixClient) freshPath(number int64) string {
	return c.folder + "/" + namespace.Pad(strconv.Itoa(c.stream)+"-"+strconv.FormatInt(number, 10), c.NameLength)
}
