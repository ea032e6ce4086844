package protected

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

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
	_, there, err := line{dir: dir, label: label}.find(ctx, c, guid)
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
	lost := false
	for {
		switch err := c.Delete(ctx, item, drivers.AnyVersion); {
		case err == nil:
			return data, false, nil
		case errors.Is(err, drivers.ErrConnectionLoss):
			lost = true
		case errors.Is(err, drivers.ErrNoNode) && lost:
			return data, true, nil
		case errors.Is(err, drivers.ErrNoNode):
			return nil, false, err
		default:
			return data, false, fmt.Errorf("take %s: %w: %w", path.Base(item), drivers.ErrInDoubt, err)
		}
	}
}
