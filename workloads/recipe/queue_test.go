package recipe_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
	"github.com/stampede-bench/stampede/recipes"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/recipe"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

func cachedList(c drivers.Conn, items string, mode drivers.Mode) recipe.Queue {
	return recipes.NewQueue(c, items, mode)
}

func queuePlan(s drivers.Service, newWorkload workloads.Constructor) workloads.Plan {
	return workloads.Plan{Service: s, Clients: 6, Seed: 1, Duration: 200 * time.Millisecond,
		Form:     workloads.Form{Recipe: "queue", Name: "test", Family: workloads.Recipe, New: newWorkload},
		Settings: workloads.Settings{Hold: time.Millisecond}}
}

// TestRunDrainsTheQueue checks that producers stop first, and that consumers take what is left.
func TestRunDrainsTheQueue(t *testing.T) {
	for _, clients := range []int{1, 2, 3, 8} {
		runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
			p := queuePlan(s, recipe.Queues(cachedList))
			p.Clients = clients
			p.Settings.Queue.Backlog = 20
			r := runtest.Measure(t, p)
			if r.Disturbed || r.Rounds == 0 || r.Safety.Violations != 0 {
				t.Errorf("%d clients: disturbed %v, %d rounds, violations %q", clients, r.Disturbed, r.Rounds, r.Safety.Details)
			}
			if r.Safety.Checked != r.WholeRounds || r.Whole.Writes != 2*r.WholeRounds+r.Whole.FailedWrites {
				t.Errorf("%d clients: %d takes in %d rounds, %d writes, %d of them failed", clients,
					r.Safety.Checked, r.WholeRounds, r.Whole.Writes, r.Whole.FailedWrites)
			}
		})
	}
}

// TestRunWithEphemeralItemsSurvivesALostSession checks that an item is removed with the session of
// its producer and that the run continues.
func TestRunWithEphemeralItemsSurvivesALostSession(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var once sync.Once
		p := queuePlan(s, recipe.Queues(func(c drivers.Conn, items string, mode drivers.Mode) recipe.Queue {
			return losesSession{recipes.NewQueue(c, items, mode), c, &once}
		}))
		p.Settings.Queue.EphemeralItems = true
		r := runtest.Measure(t, p)
		if n := r.Errors[drivers.ErrSessionLost.Error()]; n != 1 {
			t.Errorf("%d lost sessions counted, want 1", n)
		}
		abandoned := slices.ContainsFunc(r.Warnings, func(w metrics.Warning) bool { return w.Code == metrics.Abandoned })
		if r.Safety.Violations != 0 || r.Rounds == 0 || abandoned {
			t.Errorf("violations %q, %d rounds, warnings %v", r.Safety.Details, r.Rounds, r.Warnings)
		}
	})
}

// losesSession closes its session once, after it has put an item.
type losesSession struct {
	recipe.Queue
	conn drivers.Conn
	once *sync.Once
}

func (q losesSession) Put(ctx context.Context, item []byte) error {
	err := q.Queue.Put(ctx, item)
	q.once.Do(func() { q.conn.Close() })
	return err
}

func TestRunCatchesABrokenQueue(t *testing.T) {
	for what, broken := range map[string]workloads.Constructor{
		"loses an item":      recipe.Queues(mutant(func(q *fake) { q.lose = true })),
		"doubles an item":    recipe.Queues(mutant(func(q *fake) { q.double = true })),
		"takes the last":     recipe.Queues(mutant(func(q *fake) { q.last = true })),
		"ignores priorities": recipe.PriorityQueues(unordered),
	} {
		wantCaught(t, what, func(t *testing.T, s drivers.Service) *metrics.Record {
			p := queuePlan(s, broken)
			p.Settings.Queue.Backlog = 10
			return runtest.Measure(t, p)
		})
	}
}

// unordered returns a queue that ignores priorities.
func unordered(c drivers.Conn, items string, mode drivers.Mode) recipe.PriorityQueue {
	return flat{recipes.NewQueue(c, items, mode)}
}

type flat struct{ *recipes.Queue }

func (q flat) Put(ctx context.Context, _ int, item []byte) error { return q.Queue.Put(ctx, item) }

// A fake is an in-memory queue with one defect.
type fake struct {
	lose, double, last bool

	mu    sync.Mutex
	items [][]byte
	puts  int
}

// mutant creates one fake that all clients share.
func mutant(wrong func(*fake)) func(c drivers.Conn, items string, mode drivers.Mode) recipe.Queue {
	q := &fake{}
	wrong(q)
	return func(drivers.Conn, string, drivers.Mode) recipe.Queue { return q }
}

func (q *fake) Put(_ context.Context, item []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.puts++
	switch {
	case q.lose && q.puts == 5:
		return nil
	case q.double && q.puts == 5:
		q.items = append(q.items, item)
	}
	q.items = append(q.items, item)
	return nil
}

func (q *fake) Take(ctx context.Context) ([]byte, error) {
	for {
		if item := q.next(); item != nil {
			return item, nil
		}
		if err := drivers.Pause(ctx, time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (q *fake) next() []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return nil
	}
	i := 0
	if q.last {
		i = len(q.items) - 1
	}
	item := q.items[i]
	q.items = append(q.items[:i:i], q.items[i+1:]...)
	return item
}
