package drivers

import (
	"context"
	"errors"
)

// Steady returns c with reads that survive a broken connection: after [ErrConnectionLoss]
// it repeats a read or a Sync, until it is answered, the context ends or the session is
// lost. It does not repeat writes, because a write whose reply was lost may have been
// executed.
func Steady(c Conn) Conn { return steady{c} }

type steady struct{ Conn }

func (s steady) Exists(ctx context.Context, path string, w Watch) (Stat, bool, error) {
	for {
		stat, exists, err := s.Conn.Exists(ctx, path, w)
		if !errors.Is(err, ErrConnectionLoss) {
			return stat, exists, err
		}
	}
}

func (s steady) Get(ctx context.Context, path string, w Watch) ([]byte, Stat, error) {
	for {
		data, stat, err := s.Conn.Get(ctx, path, w)
		if !errors.Is(err, ErrConnectionLoss) {
			return data, stat, err
		}
	}
}

func (s steady) Children(ctx context.Context, path string, w Watch) ([]Child, error) {
	for {
		children, err := s.Conn.Children(ctx, path, w)
		if !errors.Is(err, ErrConnectionLoss) {
			return children, err
		}
	}
}

func (s steady) Neighbors(ctx context.Context, path string, seq int64) ([]Child, error) {
	for {
		children, err := Neighbors(ctx, s.Conn, path, seq)
		if !errors.Is(err, ErrConnectionLoss) {
			return children, err
		}
	}
}

// Join is a write, and so not repeated.
func (s steady) Join(ctx context.Context, path string, data []byte, mode Mode) (Child, []Child, error) {
	return Join(ctx, s.Conn, path, data, mode)
}

func (s steady) Sync(ctx context.Context, path string) error {
	for {
		if err := s.Conn.Sync(ctx, path); !errors.Is(err, ErrConnectionLoss) {
			return err
		}
	}
}
