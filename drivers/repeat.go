package drivers

import "errors"

// Repeat calls write again after each [ErrConnectionLoss], until it is answered. It is
// for a write that does no harm if it is executed twice, and whose caller treats finding
// it executed already as success.
func Repeat(write func() error) error {
	for {
		if err := write(); !errors.Is(err, ErrConnectionLoss) {
			return err
		}
	}
}
