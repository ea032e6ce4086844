package drivers

import "errors"

// Repeat calls write until it is answered: again after each
// [ErrConnectionLoss]. It is for a write that does no harm if it is done twice,
// and that takes finding it done already for success.
func Repeat(write func() error) error {
	for {
		if err := write(); !errors.Is(err, ErrConnectionLoss) {
			return err
		}
	}
}
