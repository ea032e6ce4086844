package native

import (
	"context"
	"fmt"
	"net"
)

// Run serves on a free port of the loopback interface, which it announces,
// until the context ends.
func Run(ctx context.Context, o Options, announce func(address string)) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("native server: %w", err)
	}
	s := New(o)
	defer s.Close()
	stop := context.AfterFunc(ctx, s.Close)
	defer stop()
	announce(l.Addr().String())
	return s.Serve(l)
}
