package zookeeper

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
)

// failure is an error of a call: what was attempted, the sentinel it comes to,
// and the library's own error, both of which match.
type failure struct {
	op       string
	path     string
	sentinel error // nil where there is none for it
	native   error
}

func (f *failure) Error() string {
	what := f.native
	if f.sentinel != nil {
		what = f.sentinel
	}
	return f.op + " " + f.path + ": " + what.Error()
}

func (f *failure) Unwrap() []error {
	if f.sentinel == nil {
		return []error{f.native}
	}
	return []error{f.sentinel, f.native}
}

// failed wraps an error of the library, or of the gate, on the caller's path.
func (c *Conn) failed(op, path string, err error) error {
	return &failure{op: op, path: path, sentinel: c.sentinel(err), native: err}
}

func (c *Conn) sentinel(err error) error {
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return drivers.ErrNoNode
	case errors.Is(err, zk.ErrNodeExists):
		return drivers.ErrNodeExists
	case errors.Is(err, zk.ErrBadVersion):
		return drivers.ErrBadVersion
	case errors.Is(err, zk.ErrNotEmpty):
		return drivers.ErrNotEmpty
	case errors.Is(err, zk.ErrNoChildrenForEphemerals):
		return drivers.ErrNoChildrenForEphemerals
	case errors.Is(err, zk.ErrSessionExpired):
		return drivers.ErrSessionLost
	case errors.Is(err, zk.ErrNoAuth), errors.Is(err, zk.ErrAuthFailed), errors.Is(err, zk.ErrInvalidACL):
		return drivers.ErrRefused
	case unimplemented(err):
		return drivers.ErrUnsupported
	case broken(err) && c.lost():
		return drivers.ErrSessionLost
	case broken(err):
		return drivers.ErrConnectionLoss
	}
	return nil
}

// broken tells whether an error means that the connection is no more.
func broken(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) ||
		errors.Is(err, zk.ErrClosing) || errors.Is(err, zk.ErrSessionMoved)
}
