package workloads

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/history"
)

// A mixClient makes one operation after the other.
type mixClient struct {
	*mixWorkload
	seat *Seat
	conn drivers.Conn
	*sight
	draw func() int // a key
	own  int        // the number of its fresh nodes among those of all clients' lanes
}

func (w *mixWorkload) join(s *Seat, seen *sight) *mixClient {
	return &mixClient{mixWorkload: w, seat: s, conn: drivers.Steady(s.Conn), sight: seen, draw: w.drawer(s.Rand)}
}

// A mixSession is the lanes of one client that has several requests in flight.
type mixSession []*mixClient

// Turn is one operation of the first lane.
func (s mixSession) Turn(ctx context.Context) (rounds int64, err error) { return s[0].Turn(ctx) }

func (s mixSession) lanes() []lane {
	all := make([]lane, len(s))
	for i, c := range s {
		all[i] = lane{c, c.seat}
	}
	return all
}

// zipfExponent must be above 1.
const zipfExponent = 1.1

func (w *mixWorkload) drawer(r *rand.Rand) func() int {
	if w.KeysBy != Zipfian {
		return func() int { return r.IntN(w.Keys) }
	}
	z := rand.NewZipf(r, zipfExponent, 1, uint64(w.Keys-1))
	return func() int { return int(z.Uint64()) }
}

// Turn is one operation.
func (c *mixClient) Turn(ctx context.Context) (rounds int64, err error) {
	due, ok := c.seat.Arrive(ctx, c.think)
	if !ok {
		return 0, nil
	}
	began := c.seat.begins(due)
	kind, err := c.operate(ctx)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	c.timed[kind].Record(now.Sub(began), now.Sub(due))
	c.seat.cycle.ends(now)
	return 1, nil
}

// operate makes an operation of a kind that it draws.
func (c *mixClient) operate(ctx context.Context) (kind int, err error) {
	random := c.seat.Rand
	if random.Float64() < c.Reads {
		if c.Lists > 0 && random.Float64() < c.Lists {
			return mixList, c.list(ctx, c.draw())
		}
		_, err := c.read(ctx, c.draw())
		return mixRead, err
	}
	nodes := &c.made[c.own]
	switch u := random.Float64(); {
	case u >= 2*c.Creates:
		return mixWrite, c.set(ctx, c.draw())
	case u < c.Creates && !nodes.full() || nodes.none():
		return mixCreate, makeNode(ctx, c.conn, c.ownPath(nodes.add()), c.value, 0)
	}
	err = remove(ctx, c.conn, c.ownPath(nodes.drop()))
	if errors.Is(err, drivers.ErrNoNode) { // made or not with a session that was lost
		err = nil
	}
	return mixDelete, err
}

// read returns the version that it was shown.
func (c *mixClient) read(ctx context.Context, key int) (version int32, err error) {
	asked, before := c.recallsRead(key), c.known(key)
	_, stat, err := c.conn.Get(ctx, c.paths[key], nil)
	if err == nil {
		if asked != nil {
			c.recalled.answer(asked, history.Read{Version: int64(stat.Version)})
		}
		c.shown(key, before, stat.Version)
	}
	return stat.Version, err
}

// recallsRead recalls a read in a run in which things are broken, where it may only
// show what was there while it was made.
func (c *mixClient) recallsRead(key int) *history.Op {
	if c.seat.harm == nil || !c.readsFresh {
		return nil
	}
	return c.recalled.ask(key, c.seat.Index, history.Unread())
}

// recallsWrite recalls a write in a run in which things are broken.
func (c *mixClient) recallsWrite(key int, over int32) *history.Op {
	if c.seat.harm == nil {
		return nil
	}
	return c.recalled.ask(key, c.seat.Index, history.Write{Over: int64(over)}.Unanswered())
}

// list lists the folder in which a key is.
func (c *mixClient) list(ctx context.Context, key int) error {
	folder := c.keys.folder(key)
	children, err := c.conn.Children(ctx, c.keys.at(folder), nil)
	if err == nil {
		c.listed(len(children), c.keys.in(folder))
	}
	return err
}

// set sets a key, again if that may not have been done.
func (c *mixClient) set(ctx context.Context, key int) error {
	for {
		over := drivers.AnyVersion
		if c.Conditional {
			var err error
			if over, err = c.read(ctx, key); err != nil {
				return err
			}
		}
		asked, before := c.recallsWrite(key, over), c.known(key)
		stat, err := c.conn.Set(ctx, c.paths[key], c.value, over)
		switch {
		case err == nil:
			if asked != nil {
				c.recalled.answer(asked, history.Write{Over: int64(over), Version: int64(stat.Version)})
			}
			c.wrote(key, before, stat.Version, over)
			return nil
		case c.Conditional && errors.Is(err, drivers.ErrBadVersion):
			c.recalled.answer(asked, history.Write{Over: int64(over), Refused: true})
			c.retries.Add(1)
		case !errors.Is(err, drivers.ErrConnectionLoss):
			return err
		}
	}
}

// ownNodes are the fresh nodes of one lane, which has made them in the order of
// their numbers and deletes them in the same.
type ownNodes struct{ first, next int64 }

// mostOwn is how many a lane has at most.
const mostOwn = 16

func (n *ownNodes) none() bool { return n.first == n.next }
func (n *ownNodes) full() bool { return n.next-n.first == mostOwn }

func (n *ownNodes) add() (number int64) {
	n.next++
	return n.next - 1
}

func (n *ownNodes) drop() (number int64) {
	n.first++
	return n.first - 1
}

func (c *mixClient) ownPath(number int64) string {
	return c.folder + "/" + strconv.Itoa(c.own) + "-" + strconv.FormatInt(number, 10)
}
