package main

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

// sessionTTL is in seconds, and so long that no lease is renewed while the program runs.
const sessionTTL = 600

// An etcdRecipe takes each turn in a new session: both recipes name a key after its session, so
// that a key of an earlier turn would be one that another client may still watch.
type etcdRecipe struct {
	client  *clientv3.Client
	enter   func(context.Context, *concurrency.Session) (leave func(context.Context) error, err error)
	session *concurrency.Session
	leave   func(context.Context) error
}

func newEtcdMutex(address string, waits func()) (turnTaker, error) {
	return newEtcdRecipe(address, waits, func(ctx context.Context, s *concurrency.Session) (func(context.Context) error, error) {
		m := concurrency.NewMutex(s, "recipe")
		return m.Unlock, m.Lock(ctx)
	})
}

func newEtcdElection(address string, waits func()) (turnTaker, error) {
	return newEtcdRecipe(address, waits, func(ctx context.Context, s *concurrency.Session) (func(context.Context) error, error) {
		e := concurrency.NewElection(s, "recipe")
		return e.Resign, e.Campaign(ctx, "leader")
	})
}

func newEtcdRecipe(address string, waits func(), enter func(context.Context, *concurrency.Session) (func(context.Context) error, error)) (turnTaker, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}})
	if err != nil {
		return nil, err
	}
	client.Watcher = watcher{client.Watcher, waits}
	return &etcdRecipe{client: client, enter: enter}, nil
}

func (r *etcdRecipe) acquire() (err error) {
	if r.session, err = concurrency.NewSession(r.client, concurrency.WithTTL(sessionTTL)); err != nil {
		return err
	}
	r.leave, err = r.enter(r.client.Ctx(), r.session)
	return err
}

func (r *etcdRecipe) release() error {
	return errors.Join(r.leave(r.client.Ctx()), r.session.Close())
}

func (r *etcdRecipe) close() error { return r.client.Close() }

// A watcher calls waits when the server has created a watch, the last request of a client of
// either recipe before it waits.
type watcher struct {
	clientv3.Watcher
	waits func()
}

func (w watcher) Watch(ctx context.Context, key string, options ...clientv3.OpOption) clientv3.WatchChan {
	events := w.Watcher.Watch(ctx, key, options...)
	w.waits()
	return events
}
