package claim

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// Put adds an item to dir: a sequential node named GUID-label and its suffix,
// which others may take as soon as it is there. It costs one write, and one read
// more if the reply is lost.
//
// ErrInDoubt if the reply was lost and the item is not there: it was never
// added, or has been taken already. After any other error it may be there too.
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
	_, there, err := line{dir, label}.find(ctx, c, guid)
	if err == nil && !there {
		err = fmt.Errorf("put %s: %w", guid, drivers.ErrInDoubt)
	}
	return err
}

// Take reads an item and removes it, one read and one write. Once it has begun
// to remove, it sees that through, whether or not the context ends, since an
// item that is gone and was given to nobody would be lost.
//
// ErrNoNode if somebody else has taken the item; ErrInDoubt, with the item, if
// the reply was lost and the item is gone.
func Take(ctx context.Context, c drivers.Conn, item string) ([]byte, error) {
	data, gone, err := remove(ctx, c, item)
	if gone {
		err = fmt.Errorf("take %s: %w", path.Base(item), drivers.ErrInDoubt)
	}
	return data, err
}

// TakeAlone is Take for somebody who knows that nobody else takes: if the reply
// was lost and the item is gone, it was this one who removed it.
func TakeAlone(ctx context.Context, c drivers.Conn, item string) ([]byte, error) {
	data, _, err := remove(ctx, c, item)
	return data, err
}

// remove returns the data of an item that was removed or may have been. gone
// says that the reply was lost and the item is not there.
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
