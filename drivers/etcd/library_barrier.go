package etcd

import (
	"context"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
)

// A libraryBarrier is [recipe.Barrier]: one key, the node itself, without a lease. Wait reads
// it, watches from the next revision, and takes the end of its watch for the opening. If etcd
// has compacted that revision after a reconnect, Wait lets its caller pass a closed barrier.
type libraryBarrier struct {
	*loan
	path    string
	barrier *recipe.Barrier
}

func (c *Conn) libraryBarrier(path string) *libraryBarrier {
	l := c.lend()
	return &libraryBarrier{l, path, recipe.NewBarrier(l.client, c.keys.node(path))}
}

// Set closes the barrier.
func (b *libraryBarrier) Set(ctx context.Context) error { return b.try(ctx, "set", b.barrier.Hold) }

// Wait blocks until the barrier is open.
func (b *libraryBarrier) Wait(ctx context.Context) error { return b.try(ctx, "wait", b.barrier.Wait) }

// Open releases all clients that wait.
func (b *libraryBarrier) Open(ctx context.Context) error {
	return b.try(ctx, "open", b.barrier.Release)
}

func (b *libraryBarrier) try(ctx context.Context, what string, call func() error) error {
	if err := b.do(ctx, call); err != nil {
		return failed(what+" barrier", b.path, err)
	}
	return nil
}
