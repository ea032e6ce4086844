package drivers

import "errors"

// The errors of the contract. A driver wraps what its client library returned,
// so that both match.
var (
	ErrNoNode                  = errors.New("no such node")
	ErrNodeExists              = errors.New("node exists")
	ErrBadVersion              = errors.New("version does not match")
	ErrNotEmpty                = errors.New("node has children")
	ErrNoChildrenForEphemerals = errors.New("ephemeral nodes have no children")
	// ErrConnectionLoss: the connection broke; the session may live on, and
	// what was asked may have been done.
	ErrConnectionLoss = errors.New("connection lost")
	// ErrSessionLost: the session has ended, by expiry or by Close; its
	// ephemeral nodes are gone or will go.
	ErrSessionLost = errors.New("session lost")
	// ErrUnsupported: this backend, or this client of it, cannot do that.
	ErrUnsupported = errors.New("not supported here")
	// ErrInDoubt: a write was done or not, and nothing can tell, because what
	// it made or removed may have been removed by somebody else as well. Doing
	// it again could do it twice.
	ErrInDoubt = errors.New("done or not, and no way to tell")
	// ErrRefused: the service does not let these credentials do that.
	ErrRefused = errors.New("not permitted")
)
