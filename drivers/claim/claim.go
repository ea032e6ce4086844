package claim

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
)

// A Claim is an ephemeral node of this session. Every one that is made carries
// a GUID of its own, by which the session knows it again after a write whose
// outcome it never learnt. A Claim serves one goroutine, and can be made and
// removed any number of times.
type Claim struct {
	kind
	conn  drivers.Conn
	guid  string // of the last node asked for
	child drivers.Child
	there bool
	doubt bool // the last write may or may not have been done
}

// A kind is where a claim's node is and how it carries the GUID.
type kind interface {
	parent() string
	// create asks for the node once.
	create(ctx context.Context, c drivers.Conn, guid string) (drivers.Child, error)
	// find looks for the node that carries the GUID.
	find(ctx context.Context, c drivers.Conn, guid string) (drivers.Child, bool, error)
}

// InLine claims a place in the line of dir's children, with a sequential node
// named GUID-label and its suffix.
func InLine(c drivers.Conn, dir, label string) *Claim {
	return &Claim{kind: line{dir, label}, conn: drivers.Steady(c)}
}

// Sole claims the one node at path, whose data is the GUID.
func Sole(c drivers.Conn, path string) *Claim {
	return &Claim{kind: sole{path}, conn: drivers.Steady(c)}
}

// Create makes the node, unless it is there already. It costs one write, and
// for each lost reply one read and, if nothing had been done, another write.
//
// ErrNodeExists if somebody else has a Sole node; ErrNoNode without a parent.
// After any other error the node may be there: Remove or Abandon it.
func (c *Claim) Create(ctx context.Context) error {
	return c.until(ctx, true, func() error {
		c.guid = rand.Text()
		child, err := c.kind.create(ctx, c.conn, c.guid)
		if err == nil {
			c.child = child
		}
		return err
	})
}

// Remove deletes the node if it is there. It costs one write, and for each lost
// reply one read and, if nothing had been done, another write.
//
// ErrNoNode if somebody else has removed it. After any other error the node may
// still be there, and Remove can be called again.
func (c *Claim) Remove(ctx context.Context) error {
	return c.until(ctx, false, func() error {
		err := c.conn.Delete(ctx, c.Path(), drivers.AnyVersion)
		if errors.Is(err, drivers.ErrNoNode) {
			c.there = false
		}
		return err
	})
}

// Abandon is Remove for somebody who gives up: it works under a context that
// has ended too, and finds nothing wrong with a lost session, which takes the
// node with it. It waits for a broken connection no longer than the service
// keeps a session that does not come back.
func (c *Claim) Abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drivers.DefaultSessionTimeout)
	defer cancel()
	if err := c.Remove(ctx); err != nil && !errors.Is(err, drivers.ErrSessionLost) {
		return fmt.Errorf("give up %s in %s: %w", c.guid, c.parent(), err)
	}
	return nil
}

// Path is where the node is.
func (c *Claim) Path() string { return path.Join(c.parent(), c.child.Name) }

// Seq is the node's place in the line, NoSeq if it has none.
func (c *Claim) Seq() int64 { return c.child.Seq }

// Ahead returns the name of the sibling right in front of this one in the line,
// or "" if it is the first.
//
// ErrNoNode if it is not among the siblings: somebody else has removed it.
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

// Names are those of the siblings.
func Names(siblings []drivers.Child) []string {
	names := make([]string, len(siblings))
	for i, s := range siblings {
		names[i] = s.Name
	}
	return names
}

// First returns the name of the sibling that is the first in the line, or "" if
// that is this one.
//
// ErrNoNode if it is not among the siblings: somebody else has removed it.
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

// until writes until the node is known to be there, or known not to be.
func (c *Claim) until(ctx context.Context, there bool, write func() error) error {
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

// look settles a doubt. The sync comes first because the session may be back
// on another server of an ensemble, which may not have caught up with the write.
func (c *Claim) look(ctx context.Context) error {
	if err := c.conn.Sync(ctx, c.parent()); err != nil {
		return err
	}
	child, found, err := c.find(ctx, c.conn, c.guid)
	if err != nil {
		return err
	}
	child.Name = strings.Clone(child.Name) // not a part of the listing
	c.child, c.there, c.doubt = child, found, false
	return nil
}
