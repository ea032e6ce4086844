package drivers_test

import (
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
			err := drivers.Repeat(func() error {
				calls++
				return c.answers[calls-1]
			})
			if !errors.Is(err, c.want) || calls != len(c.answers) {
				t.Errorf("%v after %d calls, want %v after %d", err, calls, c.want, len(c.answers))
			}
		})
	}
}
