package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/recipes"
)

// A Store is the session of one process with a service, for nodes of few kinds. Each kind has its own write, which
// does no harm if it is executed twice: [Store.Make] a node that any process may make, [Store.Put] the data of one
// that only this process writes, [Store.Claim] one that only one process gets, [Store.Remove] one.
type Store struct {
	Reads
	conn drivers.Conn
}

// Reads are the calls of a session that change nothing.
type Reads interface {
	Exists(ctx context.Context, path string, w drivers.Watch) (drivers.Stat, bool, error)
	Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error)
	Children(ctx context.Context, path string, w drivers.Watch) ([]drivers.Child, error)
	// Done is closed when the session has ended.
	Done() <-chan struct{}
}

// Open opens the session.
func Open(ctx context.Context, s drivers.Service, o drivers.Options) (*Store, error) {
	conn, err := s.Dial(ctx, o)
	if err != nil {
		return nil, err
	}
	conn = drivers.Steady(conn)
	return &Store{conn, conn}, nil
}

// Close ends the session, and with it the ephemeral nodes.
func (s *Store) Close() error { return s.conn.Close() }

// Make creates a node, unless it is there: whoever makes it gives it the same data.
func (s *Store) Make(ctx context.Context, node string, data []byte) error {
	err := s.create(ctx, node, data, 0)
	if errors.Is(err, drivers.ErrNodeExists) {
		return nil
	}
	return err
}

// Put replaces the data of a node that no other process writes, and creates it with the mode if it is not there.
func (s *Store) Put(ctx context.Context, node string, data []byte, mode drivers.Mode) error {
	return drivers.Repeat(ctx, func() error {
		_, err := s.conn.Set(ctx, node, data, drivers.AnyVersion)
		if errors.Is(err, drivers.ErrNoNode) {
			_, err = s.conn.Create(ctx, node, data, mode)
		}
		return err
	}, drivers.ErrNodeExists) // an attempt without an answer has created it
}

// Claim creates a node that only one process gets, with data that no other process writes. It returns whether this
// process has got it, now or earlier.
func (s *Store) Claim(ctx context.Context, node string, data []byte, mode drivers.Mode) (bool, error) {
	for {
		err := s.create(ctx, node, data, mode)
		if !errors.Is(err, drivers.ErrNodeExists) {
			return err == nil, err
		}
		has, _, err := s.Get(ctx, node, nil)
		if !errors.Is(err, drivers.ErrNoNode) { // else its owner has just left
			return err == nil && bytes.Equal(has, data), err
		}
	}
}

// Remove deletes a node without children, if it is there.
func (s *Store) Remove(ctx context.Context, node string) error {
	err := drivers.Repeat(ctx, func() error { return s.conn.Delete(ctx, node, drivers.AnyVersion) })
	if errors.Is(err, drivers.ErrNoNode) {
		return nil
	}
	return err
}

// Meet returns when n processes have come to the node.
func (s *Store) Meet(ctx context.Context, node string, n int) error {
	_, err := recipes.NewDoubleBarrier(s.conn, node, n).Enter(ctx)
	return err
}

func (s *Store) create(ctx context.Context, node string, data []byte, mode drivers.Mode) error {
	return drivers.Repeat(ctx, func() error {
		_, err := s.conn.Create(ctx, node, data, mode)
		return err
	})
}
