package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// A SequentialDoubleBarrier lets clients in as a [DoubleBarrier] does, and out
// along the line in which they came: each watches only the next one down, and
// goes when nobody below it is left. That is weaker: a client may be out while
// those above it are still in. One SequentialDoubleBarrier serves one goroutine,
// and one path serves one round.
// Cost: N clients that enter and then leave, the last one first: 2N−1
// notifications, 5N−2 reads, 2N+1 writes; the last to enter wakes N, a process
// that goes wakes 1.
type SequentialDoubleBarrier struct{ *DoubleBarrier }

// NewSequentialDoubleBarrier returns the double barrier at dir, an existing
// node, for size clients.
func NewSequentialDoubleBarrier(conn drivers.Conn, dir string, size int) SequentialDoubleBarrier {
	return SequentialDoubleBarrier{NewDoubleBarrier(conn, dir, size)}
}

// Place returns this client's sequence number: Leave waits for the clients with
// lower ones.
func (b SequentialDoubleBarrier) Place() int64 { return b.node.Seq() }

// Leave cancels the context that Enter returned and waits until all clients
// with a lower sequence number have left or lost their sessions. If Leave
// fails, it removes its node, so that no client waits for this one.
func (b SequentialDoubleBarrier) Leave(ctx context.Context) error {
	b.end()
	if err := b.leave(ctx); err != nil {
		return fmt.Errorf("leave double barrier %s: %w", b.dir, errors.Join(err, b.node.Abandon(ctx)))
	}
	return nil
}

func (b SequentialDoubleBarrier) leave(ctx context.Context) error {
	for {
		// 1. Get the children (the processes), without a watch.
		children, err := b.conn.Children(ctx, b.dir, nil)
		if err != nil {
			return err
		}
		// 2. If no node is below this process's, or another client has deleted
		// it, delete the node, if it exists, and exit.
		below, err := b.node.Ahead(children)
		if err != nil || below == "" {
			return b.remove(ctx)
		}
		// 3. Wait for the node right below, which has the next lower sequence
		// number, to be deleted, then go to step 1.
		var gone drivers.Wait
		_, there, err := b.conn.Exists(ctx, path.Join(b.dir, below), gone.Fire)
		if err == nil && there {
			_, err = gone.Await(ctx)
		}
		if err != nil {
			return err
		}
	}
}
