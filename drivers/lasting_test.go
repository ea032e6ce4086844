package drivers_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A mortal is a session on which only Get, Flush and Close work, until it is lost.
type mortal struct {
	drivers.Conn // nil: nothing else may be called
	number       int32
	lost         chan struct{}
}

func (m *mortal) err() error {
	select {
	case <-m.lost:
		return drivers.ErrSessionLost
	default:
		return nil
	}
}

func (m *mortal) Get(context.Context, string, drivers.Watch) ([]byte, drivers.Stat, error) {
	return nil, drivers.Stat{Version: m.number}, m.err()
}

func (m *mortal) Flush(context.Context) error { return m.err() }

func (m *mortal) Done() <-chan struct{} { return m.lost }

func (m *mortal) Close() error {
	if m.err() == nil {
		close(m.lost)
	}
	return nil
}

// TestLasting loses sessions on a service that opens none for a while: a call waits for the next session,
// and a lost session looks like a broken connection.
func TestLasting(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var open []*mortal
		var refuses atomic.Bool
		refused := errors.New("refused")
		c, err := drivers.Lasting(t.Context(), func(context.Context) (drivers.Conn, error) {
			if refuses.Load() {
				return nil, refused
			}
			open = append(open, &mortal{number: int32(len(open) + 1), lost: make(chan struct{})})
			return open[len(open)-1], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		get := func(limit time.Duration) (int32, error) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, stat, err := c.Get(ctx, "/a", nil)
			return stat.Version, err
		}
		if n, err := get(time.Second); n != 1 || err != nil {
			t.Errorf("first session: %d, %v", n, err)
		}
		if first, ok := drivers.Capability[*mortal](c); !ok || first != open[0] {
			t.Errorf("as the type of its session: %v, %v, want the first session", first, ok)
		}
		if same, ok := drivers.Capability[drivers.Conn](c); !ok || same != c {
			t.Errorf("as any Conn: %v, %v, want the lasting one", same, ok)
		}
		if _, ok := drivers.Capability[drivers.Librarian](c); ok {
			t.Error("its session ships no forms")
		}
		refuses.Store(true)
		open[0].Close()
		if _, err := get(time.Second); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, refused) {
			t.Errorf("no session: %v, want the deadline and why", err)
		}
		if err := c.(drivers.Flusher).Flush(t.Context()); !errors.Is(err, drivers.ErrSessionLost) {
			t.Errorf("flush of a lost session: %v", err)
		}
		time.AfterFunc(time.Minute, func() { refuses.Store(false) })
		if _, err := get(time.Hour); !errors.Is(err, drivers.ErrConnectionLoss) || errors.Is(err, drivers.ErrSessionLost) {
			t.Errorf("a call during which the session was replaced: %v", err)
		}
		if n, err := get(time.Second); n != 2 || err != nil {
			t.Errorf("second session: %d, %v", n, err)
		}
		select {
		case <-c.Done():
			t.Error("Done is closed before Close")
		default:
		}
		if err := errors.Join(c.Close(), c.Close()); err != nil || open[1].err() == nil {
			t.Errorf("close: %v, session %v", err, open[1].err())
		}
		<-c.Done()
		synctest.Wait()
		if _, err := get(time.Hour); !errors.Is(err, drivers.ErrSessionLost) || len(open) != 2 {
			t.Errorf("after Close: %v, %d sessions", err, len(open))
		}
	})
}
