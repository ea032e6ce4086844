package workloads

import (
	"fmt"

	"github.com/stampede-bench/stampede/drivers"
)

// An opener makes one session's handle on what is at a path, or says why it
// cannot.
type opener[H any] = func(c drivers.Conn, path string) (H, error)

// at makes an opener of a form's constructor. That returns a type of its own and
// says by its parameter what kind of session it needs: any drivers.Conn, or one
// with more powers.
func at[H any, S drivers.Conn, F any](open func(S, string) F) opener[H] {
	return func(c drivers.Conn, path string) (H, error) {
		return handle[H](c, func(session S) F { return open(session, path) })
	}
}

// handle is what the constructor makes of the session. ErrUnsupported if the
// session is not of the kind that it needs, or if it returns nil: what one client
// library ships another may not.
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
