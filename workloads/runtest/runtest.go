package runtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/load"
	"github.com/stampede-bench/stampede/workloads/namespace"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// InBubble runs a test with a fake clock and a service in this process. After the test no node of a run
// may be left.
func InBubble(t *testing.T, test func(t *testing.T, s drivers.Service)) {
	bubble.Test(t, func(t *testing.T) {
		s, err := backends.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s)
		WantNothingLeft(t, s)
	})
}

// Measure runs a plan, and fails the test if that fails.
func Measure(t testing.TB, p workloads.Plan) *metrics.Record {
	t.Helper()
	r, err := workloads.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// WantNothingLeft fails the test if the default namespace exists.
func WantNothingLeft(t *testing.T, s drivers.Service) {
	t.Helper()
	c, err := s.Dial(context.Background(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, there, err := c.Exists(context.Background(), namespace.Default, nil); err != nil || there {
		t.Errorf("after the run %s is there: %v, %v", namespace.Default, there, err)
	}
}

// LockForm returns a form of lock.
func LockForm(open func(c drivers.Conn, path string) recipe.Lock) workloads.Form {
	return workloads.Form{Recipe: "lock", Name: "test", Family: workloads.Recipe, New: recipe.Locks(open)}
}

// Predecessor opens a lock that avoids the herd.
func Predecessor(c drivers.Conn, path string) recipe.Lock {
	return recipes.NewLock(c, path)
}

// LockPlan returns a plan of five clients that share a lock.
func LockPlan(s drivers.Service, open func(c drivers.Conn, path string) recipe.Lock) workloads.Plan {
	return workloads.Plan{Service: s, Form: LockForm(open), Clients: 5,
		Settings: workloads.Settings{Hold: time.Millisecond},
		// Rounds end at whole milliseconds. The window opens and closes halfway between two of
		// them.
		Warmup: 20500 * time.Microsecond, Duration: 300 * time.Millisecond, Seed: 1}
}

// Hooked returns a service that passes each session that it opens through a hook, one session at a time.
func Hooked(s drivers.Service, hook func(drivers.Conn) drivers.Conn) drivers.Service {
	return &hookedService{Service: s, hook: hook}
}

// A hookedService passes each session that it opens through a hook.
type hookedService struct {
	drivers.Service
	mu   sync.Mutex // the hook is called for one session at a time
	hook func(drivers.Conn) drivers.Conn
}

func (h *hookedService) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c, err := h.Service.Dial(ctx, o)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hook(c), nil
}

// Slow returns a service on which a read takes 5 ms longer.
func Slow(s drivers.Service) drivers.Service { return slowService{s} }

type slowService struct{ drivers.Service }

func (s slowService) Dial(ctx context.Context, o drivers.Options) (drivers.Conn, error) {
	c, err := s.Service.Dial(ctx, o)
	if err != nil {
		return nil, err
	}
	return slowConn{c, c.(drivers.Flusher)}, nil
}

type slowConn struct {
	drivers.Conn
	drivers.Flusher
}

func (c slowConn) Get(ctx context.Context, path string, w drivers.Watch) ([]byte, drivers.Stat, error) {
	if err := drivers.Pause(ctx, 5*time.Millisecond); err != nil {
		return nil, drivers.Stat{}, err
	}
	return c.Conn.Get(ctx, path, w)
}

// MixPlan returns a plan of five clients that perform raw operations.
func MixPlan(s drivers.Service, m workloads.MixSettings) workloads.Plan {
	return workloads.Plan{Service: s, Clients: 5, Form: workloads.Form{Recipe: "mix", Name: "operations", Family: workloads.Load, New: load.Mixes},
		Settings: workloads.Settings{Think: time.Millisecond, Mix: m},
		Warmup:   20500 * time.Microsecond, Duration: 300 * time.Millisecond, Seed: 1}
}

// PhaseNames returns the names of the phases, each followed by a space.
func PhaseNames(phases []metrics.Phase) (s string) {
	for _, p := range phases {
		s += p.Name + " "
	}
	return s
}

// BarrierPlan returns a plan of five clients that wait at a barrier.
func BarrierPlan(s drivers.Service, open func(c drivers.Conn, path string) recipe.Barrier) workloads.Plan {
	return workloads.Plan{Service: s, Clients: 5, Seed: 1,
		Form:     workloads.Form{Recipe: "barrier", Name: "test", Family: workloads.Recipe, New: recipe.Barriers(open)},
		Settings: workloads.Settings{Hold: time.Millisecond},
		Warmup:   20 * time.Millisecond, Duration: 300 * time.Millisecond}
}

// DeleteHolder deletes the node of the client that holds the lock of the only run in the namespace.
func DeleteHolder(ctx context.Context, s drivers.Service, space string) error {
	c, err := s.Dial(ctx, drivers.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	found, err := namespace.Clean(ctx, c, space, true)
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%v, %w; want one run", found, err)
	}
	lock := found[0].Path + "/lock"
	queue, err := c.Children(ctx, lock, nil)
	if err != nil || len(queue) == 0 {
		return fmt.Errorf("the queue is %v, %w", queue, err)
	}
	first := slices.MinFunc(queue, func(a, b drivers.Child) int { return int(a.Seq - b.Seq) })
	return c.Delete(ctx, lock+"/"+first.Name, drivers.AnyVersion)
}
