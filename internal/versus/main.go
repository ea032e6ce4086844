package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/stampede-bench/stampede/drivers/child"
)

func main() {
	child.Dispatch(roles())
	// What a load generator spends on its garbage it takes from the servers.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, full(), os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "versus:", err)
		os.Exit(1)
	}
}

// roles are what this program starts itself again as.
func roles() map[string]child.Role {
	return map[string]child.Role{"keeper": keep, "crowd": crowd}
}

// run measures everything and writes the tables; what it does meanwhile goes to
// progress, a line each.
func run(ctx context.Context, sc scale, out, progress io.Writer) (err error) {
	b, err := open(ctx, sc)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	r, err := measure(ctx, b, progress)
	if err != nil {
		return err
	}
	return r.write(out)
}

// measure runs the parts, one after the other: nothing else runs meanwhile.
func measure(ctx context.Context, b *bench, progress io.Writer) (r report, err error) {
	r.scale, r.busy = b.scale, b.busy
	servers := table{left: "native", right: "ZooKeeper"}
	libraries := table{left: "lean client", right: "go-zookeeper"}
	for _, part := range []struct {
		title string
		rows  func(context.Context, *bench) ([]row, error)
		into  *table
	}{
		{"operations", operations, &servers},
		{"a write that many watch", fanout, &servers},
		{"many sessions", sessions, &servers},
		{"many nodes", nodes, &servers},
		{"clients", clients, &libraries},
	} {
		fmt.Fprintf(progress, "measuring %s\n", part.title)
		rows, err := part.rows(ctx, b)
		if err := errors.Join(err, b.stop()); err != nil {
			return r, fmt.Errorf("%s: %w", part.title, err)
		}
		part.into.rows = append(part.into.rows, rows...)
	}
	r.server, r.tables = b.release, []table{servers, libraries}
	return r, nil
}
