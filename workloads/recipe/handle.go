package recipe

import (
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// An opener creates one session's handle on the object at a path, or returns an error if it
// cannot.
type opener[H any] = func(c drivers.Conn, path string) (H, error)

// at makes an opener from a form's constructor. The constructor returns its own type, and its
// parameter says which kind of session it needs: any drivers.Conn, or one with more capabilities.
func at[H any, S drivers.Conn, F any](open func(S, string) F) opener[H] {
	return func(c drivers.Conn, path string) (H, error) {
		return handle[H](c, func(session S) F { return open(session, path) })
	}
}

// handle calls the constructor with the session. It returns ErrUnsupported if the session is not
// of the kind that the constructor needs, or if the constructor returns nil: not every client
// library ships every form.
func handle[H any, S drivers.Conn, F any](c drivers.Conn, open func(S) F) (h H, err error) {
	session, ok := c.(S)
	if ok {
		h, ok = any(open(session)).(H)
	}
	if !ok {
		return h, fmt.Errorf("this form by the session's client library: %w", drivers.ErrUnsupported)
	}
	return h, nil
}
