package drivers

import (
	"context"
	"errors"
	"slices"
)

// Together returns an error, ErrNotOneService, if the servers of a service do not keep the same nodes, as far as their
// positions show. It opens a session on each, and waits until each has caught up with the others. One more session then moves
// the position of a server that is not of the same ensemble, lest it was the same by chance. A service that does not answer in order,
// etcd, asks its endpoints by itself when a session is opened.
func Together(ctx context.Context, s Service, o Options) (err error) {
	n := s.Info().Servers
	if n < 2 || !s.Info().Ordered() {
		return nil
	}
	var open []Conn
	defer func() {
		for _, c := range open {
			err = errors.Join(err, c.Close())
		}
	}()
	for len(open) <= n {
		c, err := s.Dial(ctx, o)
		if err != nil {
			return err
		}
		if open = append(open, c); len(open) < n {
			continue
		}
		for _, c := range slices.Concat(open, open) { // first each shows its position, then each must have reached the highest
			if err := Flush(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}
