package drivers

import (
	"context"
	"errors"
)

// A Call is one call of a [Conn], without a watch, as a value.
type Call struct {
	Op      Op // OpGet, OpChildren, OpSet, OpCreate or OpDelete
	Path    string
	Data    []byte // of a Set or Create
	Version int32  // of a Set or Delete
	Mode    Mode   // of a Create
}

// An Answer is the result of a Call.
type Answer struct {
	Stat     Stat // of a Get or Set
	Children int  // number of children that a Children listed
	Err      error
}

// Do makes the call and waits for its answer.
func (c Call) Do(ctx context.Context, conn Conn) (a Answer) {
	switch c.Op {
	case OpGet:
		_, a.Stat, a.Err = conn.Get(ctx, c.Path, nil)
	case OpChildren:
		var all []Child
		all, a.Err = conn.Children(ctx, c.Path, nil)
		a.Children = len(all)
	case OpSet:
		a.Stat, a.Err = conn.Set(ctx, c.Path, c.Data, c.Version)
	case OpCreate:
		_, a.Err = conn.Create(ctx, c.Path, c.Data, c.Mode)
	case OpDelete:
		a.Err = conn.Delete(ctx, c.Path, c.Version)
	default:
		a.Err = ErrUnsupported
	}
	return a
}

// A Pipeliner is a Conn on which one goroutine can keep several calls in flight. The
// goroutine begins the calls and awaits them in the same order, which is the order of
// their answers.
type Pipeliner interface {
	Conn
	// Begin begins a call. While the session is disconnected, Begin waits, as any call
	// does. A call that has begun may not be sent before a call is awaited. Each call
	// that has begun must be awaited exactly once.
	Begin(ctx context.Context, c Call) Pending
}

// A Pending is a call that has begun.
type Pending interface {
	// Await waits for the answer, as the call would. It must be called only once.
	Await(ctx context.Context) Answer
}

// Failed returns a Pending whose answer is err.
func Failed(err error) Pending { return failedCall{err} }

type failedCall struct{ err error }

func (f failedCall) Await(context.Context) Answer { return Answer{Err: f.err} }

// A CallError is the error of a call. It has what was attempted, the sentinel of the
// contract that the error stands for, and the client library's own error. Both errors
// match with errors.Is.
type CallError struct {
	Call     string // what was attempted: "create"
	Path     string
	Sentinel error // nil where the contract has none for it
	Cause    error
}

func (e *CallError) Error() string {
	why := e.Cause
	if e.Sentinel != nil {
		why = e.Sentinel
	}
	return e.Call + " " + e.Path + ": " + why.Error()
}

// Unwrap returns the sentinel, if there is one, and the cause.
func (e *CallError) Unwrap() []error {
	if e.Sentinel == nil {
		return []error{e.Cause}
	}
	return []error{e.Sentinel, e.Cause}
}

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
