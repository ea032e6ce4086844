package drivers

import "errors"

// The errors of the contract. A driver wraps the error of its client library, so that
// both match with errors.Is.
var (
	ErrNoNode                  = errors.New("no such node")
	ErrNodeExists              = errors.New("node exists")
	ErrBadVersion              = errors.New("version does not match")
	ErrNotEmpty                = errors.New("node has children")
	ErrNoChildrenForEphemerals = errors.New("ephemeral nodes have no children")
	// ErrConnectionLoss: the connection broke. The session may live on, and the request
	// may have been executed.
	ErrConnectionLoss = errors.New("connection lost")
	// ErrSessionLost: the session has ended, by expiry or by Close; its
	// ephemeral nodes are gone or will go.
	ErrSessionLost = errors.New("session lost")
	// ErrUnsupported: this backend, or this client of it, does not support the operation.
	ErrUnsupported = errors.New("not supported here")
	// ErrInDoubt: a write was executed or not, and the client cannot find out, because
	// another client may have removed the node that the write made or removed. Repeating
	// the write could execute it twice.
	ErrInDoubt = errors.New("done or not, and no way to tell")
	// ErrRefused: the service does not permit this with the given credentials.
	ErrRefused = errors.New("not permitted")
)
