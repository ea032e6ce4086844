package targets

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// Read returns drivers.ErrNoNode if there is no such node.
func (s Sessions) Read(ctx context.Context, path string) error {
	return ensemble.Read(ctx, s.Servers, s.Dial, path)
}

// Rewrite writes the data of a node to it once more, and returns the position of the change.
func (s Sessions) Rewrite(ctx context.Context, path string) (pos int64, err error) {
	return ensemble.Rewrite(ctx, s.Servers, s.Dial, path)
}

// Read returns drivers.ErrNoNode if there is no such key.
func (l Leases) Read(ctx context.Context, key string) error {
	found, err := l.Client.Get(ctx, key, clientv3.WithCountOnly())
	if err == nil && found.Count == 0 {
		err = drivers.ErrNoNode
	}
	return err
}

// Rewrite puts the value of a key once more, with the lease that it has, and returns the revision.
func (l Leases) Rewrite(ctx context.Context, key string) (revision int64, err error) {
	done, err := l.Client.Put(ctx, key, "", clientv3.WithIgnoreValue(), clientv3.WithIgnoreLease())
	switch {
	case errors.Is(err, rpctypes.ErrKeyNotFound):
		return 0, drivers.ErrNoNode
	case err != nil:
		return 0, err
	}
	return done.Header.Revision, nil
}

// Bar keeps new connections waiting, those that try to come back, until Admit has been called as often.
func (p *Program) Bar() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bars++; p.bars == 1 {
		p.opens.Pause()
	}
}

// Admit ends the effect of Bar.
func (p *Program) Admit() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bars--; p.bars == 0 {
		p.opens.Resume()
	}
}
