package drivers_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

func TestRepeat(t *testing.T) {
	lost := fmt.Errorf("create: %w", drivers.ErrConnectionLoss)
	for _, c := range []struct {
		name    string
		answers []error
		want    error
	}{
		{"answered at once", []error{nil}, nil},
		{"two replies are lost", []error{lost, lost, nil}, nil},
		{"the answer is an error", []error{lost, drivers.ErrNoNode}, drivers.ErrNoNode},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls := 0
			err := drivers.Repeat(t.Context(), func() error {
				calls++
				return c.answers[calls-1]
			})
			if !errors.Is(err, c.want) || calls != len(c.answers) {
				t.Errorf("%v after %d calls, want %v after %d", err, calls, c.want, len(c.answers))
			}
		})
	}
}

// Once the context has ended, Repeat makes no other attempt and returns the cause, also one that is itself
// a lost connection.
func TestRepeatEndsWithItsContext(t *testing.T) {
	stop := errors.New("stop")
	another := fmt.Errorf("another client: %w", drivers.ErrConnectionLoss)
	for _, c := range []struct {
		name   string
		cause  error
		answer error
	}{
		{"a connection is lost", stop, drivers.ErrConnectionLoss},
		{"an error is answered after which calls are repeated", stop, drivers.ErrNodeExists},
		{"the cause is a lost connection", another, another},
	} {
		ctx, end := context.WithCancelCause(t.Context())
		calls := 0
		err := drivers.Repeat(ctx, func() error {
			calls++
			end(c.cause)
			return c.answer
		}, drivers.ErrNodeExists)
		if !errors.Is(err, c.cause) || calls != 1 {
			t.Errorf("%s: %v after %d calls, want %v after 1", c.name, err, calls, c.cause)
		}
	}
}
