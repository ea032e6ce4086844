package native

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/stampede-bench/stampede/drivers/native/journal"
)

// Run serves on a free port of the loopback interface, which it announces,
// until the context ends, in a process of its own. The durability is Memory or
// Fsync; what is on disk is in a temporary directory (TMPDIR says where), which
// is removed at the end.
func Run(ctx context.Context, o Options, durability string, announce func(address string)) error {
	BoundGarbage()
	switch durability {
	case Memory:
		return run(ctx, o, announce)
	case Fsync:
		return runOnDisk(ctx, o, announce)
	}
	return fmt.Errorf("durability %q: want %s or %s", durability, Memory, Fsync)
}

func runOnDisk(ctx context.Context, o Options, announce func(address string)) error {
	dir, err := os.MkdirTemp("", "stampede-native-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.Journal, err = journal.Open(dir); err != nil {
		return err
	}
	return errors.Join(run(ctx, o, announce), o.Journal.Close())
}

func run(ctx context.Context, o Options, announce func(address string)) error {
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
