package zookeeper

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// introduce tells the server who we are. The library repeats it on every
// further connection, before anything else is sent there. ZooKeeper does not
// say whether it knows the user: what the user may not do is refused.
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

// unimplemented tells whether a server does not do what was asked, for which
// the library has no error of its own.
func unimplemented(err error) bool {
	return strings.HasSuffix(err.Error(), " "+strconv.Itoa(int(wire.ErrUnimplemented)))
}
