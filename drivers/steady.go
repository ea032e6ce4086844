package drivers

import (
	"context"
	"errors"
	"slices"
)

// Repeat makes a call again after each [ErrConnectionLoss], or one of the other errors, until it is answered or ctx
// ends; then it returns the cause. It is for a read, or for a write that does no harm if it is
// executed twice and whose caller treats finding it executed already as success.
//
// It looks at ctx, and not only at what the call returns: a call with a context that has ended returns the
// cause at once, and that may match ErrConnectionLoss too, because another client with the same context
// has lost its connection.
func Repeat(ctx context.Context, call func() error, others ...error) error {
	for {
		err := call()
		matches := func(target error) bool { return errors.Is(err, target) }
		if !matches(ErrConnectionLoss) && !slices.ContainsFunc(others, matches) {
			return err
		}
		if cause := context.Cause(ctx); matches(cause) {
			return err
		} else if cause != nil {
			return cause
		}
	}
}

// Steady returns c with reads that survive a broken connection: after [ErrConnectionLoss]
// it repeats a read or a Sync, until it is answered, the context ends or the session is
// lost. It does not repeat writes, because a write whose reply was lost may have been
// executed.
func Steady(c Conn) Conn { return steady{c} }

type steady struct{ Conn }

func (s steady) Exists(ctx context.Context, path string, w Watch) (stat Stat, exists bool, err error) {
	err = Repeat(ctx, func() (err error) { stat, exists, err = s.Conn.Exists(ctx, path, w); return err })
	return stat, exists, err
}

func (s steady) Get(ctx context.Context, path string, w Watch) (data []byte, stat Stat, err error) {
	err = Repeat(ctx, func() (err error) { data, stat, err = s.Conn.Get(ctx, path, w); return err })
	return data, stat, err
}

func (s steady) Children(ctx context.Context, path string, w Watch) (children []Child, err error) {
	err = Repeat(ctx, func() (err error) { children, err = s.Conn.Children(ctx, path, w); return err })
	return children, err
}

func (s steady) Neighbors(ctx context.Context, path string, seq int64) (children []Child, err error) {
	err = Repeat(ctx, func() (err error) { children, err = Neighbors(ctx, s.Conn, path, seq); return err })
	return children, err
}

// Join is a write, and so not repeated.
func (s steady) Join(ctx context.Context, path string, data []byte, mode Mode) (Child, []Child, error) {
	return Join(ctx, s.Conn, path, data, mode)
}

func (s steady) Sync(ctx context.Context, path string) error {
	return Repeat(ctx, func() error { return s.Conn.Sync(ctx, path) })
}
