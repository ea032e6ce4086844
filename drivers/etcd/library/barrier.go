package library

import (
	"context"

	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
)

// A Barrier is [recipe.Barrier]: one key, the node itself, without a lease. Wait reads
// it, watches from the next revision, and takes the end of its watch for the opening. If etcd
// has compacted that revision after a reconnect, Wait lets its caller pass a closed barrier.
type Barrier struct {
	*canceler
	path    string
	barrier *recipe.Barrier
}

func newBarrier(s *Session, path string) *Barrier {
	c := newCanceler(s)
	return &Barrier{c, path, recipe.NewBarrier(c.client, s.Keys.Node(path))}
}

// Set closes the barrier.
func (b *Barrier) Set(ctx context.Context) error { return b.try(ctx, "set", b.barrier.Hold) }

// Wait blocks until the barrier is open.
func (b *Barrier) Wait(ctx context.Context) error { return b.try(ctx, "wait", b.barrier.Wait) }

// Open releases all clients that wait.
func (b *Barrier) Open(ctx context.Context) error {
	return b.try(ctx, "open", b.barrier.Release)
}

func (b *Barrier) try(ctx context.Context, what string, call func() error) error {
	if err := b.do(ctx, call); err != nil {
		return b.session.Failed(what+" barrier", b.path, err)
	}
	return nil
}
