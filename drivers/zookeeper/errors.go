package zookeeper

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/drivers"
)

// failed wraps an error of the library, or of the latch, with the caller's path.
func (c *Conn) failed(op, path string, err error) error {
	return &drivers.CallError{Call: op, Path: path, Sentinel: c.sentinel(err), Cause: err}
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

// broken reports whether an error means that the connection has ended.
func broken(err error) bool {
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) ||
		errors.Is(err, zk.ErrClosing) || errors.Is(err, zk.ErrSessionMoved)
}
