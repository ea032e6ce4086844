package recipes

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/stampede-bench/stampede/drivers"
)

// A SequentialDoubleBarrier lets clients in as a [DoubleBarrier] does, and out
// in the order of their sequence numbers: each client watches only the node
// with the next lower number, and leaves when no lower node is left. The
// guarantee is weaker: a client may be out while clients with higher numbers
// are still in. One SequentialDoubleBarrier serves one goroutine, and one path
// serves one round.
// Cost: N clients that enter and then leave, the last to enter leaving first:
// 2N−1 notifications, 5N−2 reads, 2N+1 writes; the last to enter wakes N, a
// client that leaves wakes 1.
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
		// 1. Get the children (the processes), without a watch. Step 2 needs
		// only this process's node and the one right below.
		children, err := b.node.Neighbors(ctx)
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
