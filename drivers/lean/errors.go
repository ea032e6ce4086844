package lean

import (
	"errors"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// The reasons why this client ends a connection.
var (
	errOrder   = errors.New("the server answered what was not asked, or not in order")
	errMoved   = errors.New("the session is served by another server")
	errLost    = errors.New("reply lost on demand")
	errExpired = errors.New("the service knows of no such session any more")
	errUnarmed = errors.New("the server does not arm the watches again")
	errClosed  = errors.New("the session is closed")
)

var errPath = errors.New("a path begins with a slash and does not end with one")

// valid reports whether a path can follow a chroot.
func valid(path string) bool {
	return path == "/" || strings.HasPrefix(path, "/") && !strings.HasSuffix(path, "/")
}

// failed wraps an error with the caller's path.
func (c *Conn) failed(r *request, err error) error {
	return &drivers.CallError{Call: r.op.String(), Path: r.path, Sentinel: c.sentinel(err), Cause: err}
}

func (c *Conn) sentinel(err error) error {
	var code wire.Err
	switch {
	case errors.As(err, &code):
		if s := code.Sentinel(); s != drivers.ErrUnsupported || code == wire.ErrUnimplemented {
			return s
		}
		return nil
	case errors.Is(err, errBroken) && c.lost():
		return drivers.ErrSessionLost
	case errors.Is(err, errBroken):
		return drivers.ErrConnectionLoss
	}
	return nil
}

// errBroken is the error of a call that was in flight when the connection ended.
var errBroken = errors.New("connection closed")
