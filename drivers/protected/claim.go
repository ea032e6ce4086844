package protected

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A Claim is an ephemeral node of this session. Each node that it makes carries a GUID of
// its own, by which the session recognises the node after a write whose outcome it did
// not learn. A Claim serves one goroutine. Its node can be made and removed any number of
// times.
type Claim struct {
	kind
	conn  drivers.Conn
	guid  string // of the last node requested
	child drivers.Child
	// neighbors were listed with the node's creation; nil if they were not, or were used.
	neighbors []drivers.Child
	there     bool
	doubt     bool // the last write may or may not have been executed
}

// A kind defines where a claim's node is and how it carries the GUID.
type kind interface {
	parent() string
	// create requests the node once. It may list the node's neighbors too.
	create(ctx context.Context, c drivers.Conn, guid string) (made drivers.Child, neighbors []drivers.Child, err error)
	// find looks for the node that carries the GUID.
	find(ctx context.Context, c drivers.Conn, guid string) (drivers.Child, bool, error)
}

// NewPlace returns the claim to a place in the line of dir's children, with a sequential
// node named GUID-label and its suffix.
func NewPlace(c drivers.Conn, dir, label string) *Claim {
	return &Claim{kind: placeInLine{dir: dir, label: label}, conn: drivers.Steady(c)}
}

// NewPlaceWithNeighbors is NewPlace for a client that calls Neighbors after each Create. If the Conn can,
// Create then lists the neighbors too, and the two calls take one round trip.
func NewPlaceWithNeighbors(c drivers.Conn, dir, label string) *Claim {
	return &Claim{kind: placeInLine{dir: dir, label: label, joins: true}, conn: drivers.Steady(c)}
}

// NewSingleNode returns the claim to the one node at path, whose data is the GUID.
func NewSingleNode(c drivers.Conn, path string) *Claim {
	return &Claim{kind: singleNode{path}, conn: drivers.Steady(c)}
}

// Create makes the node, unless it has made it already. It costs one write; each lost
// reply costs one read more and, if the write was not executed, another write.
//
// ErrNodeExists means that another client has the single node; ErrNoNode means that there is
// no parent. After any other error the node may exist: Remove or Abandon it.
func (c *Claim) Create(ctx context.Context) error {
	return c.writeUntil(ctx, true, func() error {
		c.guid, c.neighbors = rand.Text(), nil
		child, neighbors, err := c.kind.create(ctx, c.conn, c.guid)
		if err == nil {
			c.child, c.neighbors = child, neighbors
		}
		return err
	})
}

// Remove deletes the node if it exists. It costs one write; each lost reply costs one
// read more and, if the write was not executed, another write.
//
// ErrNoNode means that another client has removed the node. After any other error the
// node may still exist, and Remove can be called again.
func (c *Claim) Remove(ctx context.Context) error {
	return c.writeUntil(ctx, false, func() error {
		err := c.conn.Delete(ctx, c.Path(), drivers.AnyVersion)
		if errors.Is(err, drivers.ErrNoNode) {
			c.there = false
		}
		return err
	})
}

// Abandon is Remove for a caller that gives up: it works even if ctx has ended, and
// treats a lost session as success, because the node ends with it. It waits for a broken
// connection no longer than the service keeps a session that does not reconnect.
func (c *Claim) Abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drivers.DefaultSessionTimeout)
	defer cancel()
	if err := c.Remove(ctx); err != nil && !errors.Is(err, drivers.ErrSessionLost) {
		return fmt.Errorf("give up %s in %s: %w", c.guid, c.parent(), err)
	}
	return nil
}

// Path returns the node's path.
func (c *Claim) Path() string { return path.Join(c.parent(), c.child.Name) }

// Seq returns the node's place in the line, NoSeq if it has none.
func (c *Claim) Seq() int64 { return c.child.Seq }

// Neighbors lists this node and the sibling right ahead of it in the line. On a Conn that
// is no [drivers.NeighborLister] it lists all siblings. It costs one read.
//
// ErrNoNode if there is no parent.
func (c *Claim) Neighbors(ctx context.Context) ([]drivers.Child, error) {
	if listed := c.neighbors; listed != nil {
		c.neighbors = nil
		return listed, nil
	}
	return drivers.Neighbors(ctx, c.conn, c.parent(), c.child.Seq)
}

// Ahead returns the name of the sibling right ahead of this node in the line, or "" if
// this node is the first.
//
// ErrNoNode means that this node is not among the siblings: another client has removed
// it.
func (c *Claim) Ahead(siblings []drivers.Child) (string, error) {
	found, ahead := false, drivers.Child{Seq: drivers.NoSeq}
	for _, s := range siblings {
		switch {
		case s.Name == c.child.Name:
			found = true
		case s.Seq < c.child.Seq && s.Seq > ahead.Seq:
			ahead = s
		}
	}
	if !found {
		return "", fmt.Errorf("%s is no longer in the line of %s: %w", c.child.Name, c.parent(), drivers.ErrNoNode)
	}
	return ahead.Name, nil
}

// Names returns the names of the siblings.
func Names(siblings []drivers.Child) []string {
	names := make([]string, len(siblings))
	for i, s := range siblings {
		names[i] = s.Name
	}
	return names
}

// First returns the name of the first sibling in the line, or "" if this node is the
// first.
//
// ErrNoNode means that this node is not among the siblings: another client has removed
// it.
func (c *Claim) First(siblings []drivers.Child) (string, error) {
	if ahead, err := c.Ahead(siblings); err != nil || ahead == "" {
		return "", err
	}
	first := c.child
	for _, s := range siblings {
		if s.Seq != drivers.NoSeq && s.Seq < first.Seq {
			first = s
		}
	}
	return first.Name, nil
}

// writeUntil writes until the node is known to exist, or known not to exist.
func (c *Claim) writeUntil(ctx context.Context, there bool, write func() error) error {
	for c.doubt || c.there != there {
		if c.doubt {
			if err := c.look(ctx); err != nil {
				return err
			}
			continue
		}
		err := write()
		lost := errors.Is(err, drivers.ErrConnectionLoss)
		c.doubt = lost || err != nil && ctx.Err() != nil
		switch {
		case err == nil:
			c.there = there
		case !lost:
			return err
		}
	}
	return nil
}

// look finds out whether a write in doubt was executed. It calls Sync first because the
// session may have reconnected to another server of an ensemble, which may not have the
// write yet.
func (c *Claim) look(ctx context.Context) error {
	if err := c.conn.Sync(ctx, c.parent()); err != nil {
		return err
	}
	child, found, err := c.find(ctx, c.conn, c.guid)
	if err != nil {
		return err
	}
	child.Name = strings.Clone(child.Name) // a copy, which does not keep the listing in memory
	c.child, c.there, c.doubt = child, found, false
	return nil
}

// Put adds an item to dir: a sequential node named GUID-label and its suffix. Other
// clients may take it as soon as it exists. Put costs one write, and one read more if the
// reply is lost.
//
// ErrInDoubt means that the reply was lost and the item does not exist: it was never
// added, or another client has taken it already. After any other error the item may exist
// too.
func Put(ctx context.Context, c drivers.Conn, dir, label string, data []byte, mode drivers.Mode) error {
	c = drivers.Steady(c)
	guid := rand.Text()
	_, err := c.Create(ctx, path.Join(dir, guid+"-"+label), data, mode|drivers.Sequential)
	if !errors.Is(err, drivers.ErrConnectionLoss) {
		return err
	}
	if err := c.Sync(ctx, dir); err != nil {
		return err
	}
	_, there, err := placeInLine{dir: dir, label: label}.find(ctx, c, guid)
	if err == nil && !there {
		err = fmt.Errorf("put %s: %w", guid, drivers.ErrInDoubt)
	}
	return err
}

// Take reads an item and removes it, with one read and one write. Once it has begun to
// remove the item, it completes the removal even if the context ends, because an item
// that is removed but not returned to a caller would be lost.
//
// ErrNoNode means that another client has taken the item. ErrInDoubt, with the item,
// means that the reply was lost and the item is gone, or that the removal failed
// otherwise, for instance because the session was lost.
func Take(ctx context.Context, c drivers.Conn, item string) ([]byte, error) {
	data, gone, err := remove(ctx, c, item)
	if gone {
		err = fmt.Errorf("take %s: %w", path.Base(item), drivers.ErrInDoubt)
	}
	return data, err
}

// TakeAlone is Take for a caller that knows that no other client takes items: if the
// reply was lost and the item is gone, this client has removed it.
func TakeAlone(ctx context.Context, c drivers.Conn, item string) ([]byte, error) {
	data, _, err := remove(ctx, c, item)
	return data, err
}

// remove returns the data of an item that was removed or may have been. gone reports that
// the reply was lost and the item does not exist.
func remove(ctx context.Context, c drivers.Conn, item string) (data []byte, gone bool, err error) {
	data, _, err = drivers.Steady(c).Get(ctx, item, nil)
	if err != nil {
		return nil, false, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drivers.DefaultSessionTimeout)
	defer cancel()
	attempts := 0
	err = drivers.Repeat(ctx, func() error {
		attempts++
		return c.Delete(ctx, item, drivers.AnyVersion)
	})
	switch {
	case err == nil:
		return data, false, nil
	case errors.Is(err, drivers.ErrNoNode) && attempts > 1: // an attempt whose reply was lost may have removed it
		return data, true, nil
	case errors.Is(err, drivers.ErrNoNode):
		return nil, false, err
	default:
		return data, false, fmt.Errorf("take %s: %w: %w", path.Base(item), drivers.ErrInDoubt, err)
	}
}

// A placeInLine is the kind of claim that has siblings. The node's name begins with the GUID.
type placeInLine struct {
	dir, label string
	joins      bool // the neighbors are listed with the creation
}

func (l placeInLine) parent() string { return l.dir }

func (l placeInLine) create(ctx context.Context, c drivers.Conn, guid string) (made drivers.Child, neighbors []drivers.Child, err error) {
	name, mode := path.Join(l.dir, guid+"-"+l.label), drivers.Ephemeral|drivers.Sequential
	if l.joins {
		return drivers.Join(ctx, c, name, nil, mode)
	}
	made, err = c.Create(ctx, name, nil, mode)
	return made, nil, err
}

func (l placeInLine) find(ctx context.Context, c drivers.Conn, guid string) (drivers.Child, bool, error) {
	children, err := c.Children(ctx, l.dir, nil)
	if err != nil {
		return drivers.Child{}, false, err
	}
	for _, child := range children {
		if strings.HasPrefix(child.Name, guid) {
			return child, true, nil
		}
	}
	return drivers.Child{}, false, nil
}

// A singleNode is the kind of claim to a node that only one client can have. The node's data is
// the GUID.
type singleNode struct{ path string }

func (s singleNode) parent() string { return path.Dir(s.path) }

func (s singleNode) create(ctx context.Context, c drivers.Conn, guid string) (made drivers.Child, neighbors []drivers.Child, err error) {
	made, err = c.Create(ctx, s.path, []byte(guid), drivers.Ephemeral)
	return made, nil, err
}

func (s singleNode) find(ctx context.Context, c drivers.Conn, guid string) (drivers.Child, bool, error) {
	data, _, err := c.Get(ctx, s.path, nil)
	if errors.Is(err, drivers.ErrNoNode) {
		return drivers.Child{}, false, nil
	}
	mine := err == nil && string(data) == guid
	return drivers.Child{Name: path.Base(s.path), Seq: drivers.NoSeq}, mine, err
}
