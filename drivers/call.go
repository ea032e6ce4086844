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
