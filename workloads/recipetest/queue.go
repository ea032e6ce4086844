package recipetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/recipe"
)

// A QueueForm is a form of a queue or of a priority queue under test.
type QueueForm struct {
	Recipe string // "queue", whose handles ignore priorities, or "priority-queue"
	Name   string // the form's name in package costmodel
	New    func(c drivers.Conn, at recipe.QueueSite) recipe.PriorityQueue
	Library
}

// String implements [Form].
func (f QueueForm) String() string { return f.Recipe + "/" + f.Name }

func (f QueueForm) cases() []testCase {
	begin := func(ctx context.Context, x *trial) *queueTrial {
		x.library = f.Library != nil
		x.put(ctx, "/items", nil)
		x.put(ctx, "/consumers", nil)
		return &queueTrial{trial: x, form: f, site: recipe.QueueSite{Items: x.dir + "/items", Consumers: x.dir + "/consumers"}}
	}
	return append(casesOf(begin, slices.Concat(queueTakes(), queueLosses())), f.costCases(begin)...)
}

// A queueCase is one requirement of a queue.
type queueCase = caseOf[*queueTrial]

// A queueTrial is the state of a queue's case.
type queueTrial struct {
	*trial
	form QueueForm
	site recipe.QueueSite
}

// A worker is a session with its handle on the queue.
type worker struct {
	*client
	queue recipe.PriorityQueue
	item  string // the last item that it took
}

func (x *queueTrial) worker(ctx context.Context) *worker {
	x.Helper()
	w := &worker{client: x.client(ctx)}
	w.queue = x.form.New(w.conn, x.site)
	return w
}

// waiting opens n sessions. Each in turn starts to take and comes to rest.
func (x *queueTrial) waiting(ctx context.Context, n int) []*worker {
	x.Helper()
	workers := make([]*worker, n)
	for i := range workers {
		workers[i] = x.worker(ctx)
		workers[i].take(ctx)
		x.rest(ctx)
	}
	return workers
}

// take starts to take an item.
func (w *worker) take(ctx context.Context) {
	w.begin(ctx, func(ctx context.Context) error {
		item, err := w.queue.Take(ctx)
		w.item = string(item)
		return err
	})
}

// takes takes an item, and fails the case unless it is the wanted one.
func (w *worker) takes(ctx context.Context, want string) {
	w.trial.Helper()
	w.take(ctx)
	w.last().fails(ctx, nil)
	if w.item != want {
		w.trial.Fatalf("took %q, want %q", w.item, want)
	}
}

// has reports whether the last take has returned an item.
func (w *worker) has() bool { return w.last().succeeded() }

// puts puts an item.
func (w *worker) puts(ctx context.Context, priority int, item string) {
	w.trial.Helper()
	if err := w.queue.Put(ctx, priority, []byte(item)); err != nil {
		w.trial.Fatalf("put: %v", err)
	}
}

// serve puts an item for each waiting worker, one at a time, and fails the case unless exactly
// one of them gets it.
func (x *queueTrial) serve(ctx context.Context, waiting []*worker) {
	x.Helper()
	producer := x.worker(ctx)
	for waiting = slices.Clone(waiting); len(waiting) > 0; {
		item := fmt.Sprint("for one of ", len(waiting))
		producer.puts(ctx, 0, item)
		x.rest(ctx)
		left := slices.DeleteFunc(slices.Clone(waiting), func(w *worker) bool { return w.has() && w.item == item })
		if len(left) != len(waiting)-1 {
			x.Fatalf("%d of %d waiting consumers got the item, want 1", len(waiting)-len(left), len(waiting))
		}
		waiting = left
		x.expect(ctx, 0, len(waiting))
	}
}

// expect fails the case unless the queue has this number of items. The number of consumer
// nodes must be that of the waiting consumers, or 0 for forms without a line.
func (x *queueTrial) expect(ctx context.Context, items, waiting int) {
	x.Helper()
	count := func(dir string) int {
		nodes := slices.DeleteFunc(x.nodes(ctx, dir), func(c drivers.Child) bool {
			return x.library && strings.HasPrefix(c.Name, "__") // the library's own nodes
		})
		return len(nodes)
	}
	if got := count(x.site.Items); got != items {
		x.Fatalf("%d items in the queue, want %d", got, items)
	}
	if got := count(x.site.Consumers); got != 0 && got != waiting {
		x.Fatalf("%d nodes of consumers exist, and %d consumers wait", got, waiting)
	}
}
