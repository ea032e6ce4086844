package drivers

import "context"

// A Call is one call of a [Conn], without a watch, as a value.
type Call struct {
	Op      Op // OpGet, OpChildren, OpSet, OpCreate or OpDelete
	Path    string
	Data    []byte // of a Set or Create
	Version int32  // of a Set or Delete
	Mode    Mode   // of a Create
}

// An Answer is what a Call comes to.
type Answer struct {
	Stat     Stat // of a Get or Set
	Children int  // how many a Children listed
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

// A Pipeliner is a Conn on which one goroutine can keep several calls in flight: it begins
// them, and awaits them in the same order, which is that of their answers.
type Pipeliner interface {
	Conn
	// Begin makes a call. While the session is disconnected it waits, as any call
	// does. What was begun may be sent only when something is awaited. Each call
	// that was begun must be awaited, once.
	Begin(ctx context.Context, c Call) Pending
}

// A Pending call has been begun.
type Pending interface {
	// Await waits for its answer, as the call would. It must not be used again.
	Await(ctx context.Context) Answer
}

// Failed is the Pending of a call that came to nothing.
func Failed(err error) Pending { return failedCall{err} }

type failedCall struct{ err error }

func (f failedCall) Await(context.Context) Answer { return Answer{Err: f.err} }
