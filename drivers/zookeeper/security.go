package zookeeper

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// introduce sends the session's credentials. The library repeats them on every further
// connection, before it sends anything else there. ZooKeeper does not say whether it knows the
// user: it refuses the operations that the user is not permitted.
func (c *Conn) introduce(ctx context.Context) error {
	if c.ensemble.User.IsZero() {
		return nil
	}
	err := c.insist(ctx, request{op: drivers.OpOther})
	var f *drivers.CallError
	if errors.As(err, &f) {
		f.Call, f.Path = "give", "credentials"
	}
	return err
}

// unimplemented reports whether the server does not implement the request. The library has no
// error of its own for that.
func unimplemented(err error) bool {
	return strings.HasSuffix(err.Error(), " "+strconv.Itoa(int(wire.ErrUnimplemented)))
}
