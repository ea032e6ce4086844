package recipetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads"
)

// A QueueForm is a form of a queue or of a priority queue under test.
type QueueForm struct {
	Recipe string // "queue", whose handles ignore priorities, or "priority-queue"
	Name   string // the form's name in package cost
	New    func(c drivers.Conn, at workloads.QueueSite) workloads.PriorityQueue
	Library
}

// Queue checks a form on a service that all cases share, and that others may use too. It
// returns before the last case has finished, as parallel tests do.
func Queue(t *testing.T, service drivers.Service, form QueueForm) {
	playAll(t, service, queueCases(form), form.Library)
}

// QueueBubbled checks a form with a bubble and a service of its own for each case. It calls
// open within the bubble.
func QueueBubbled(t *testing.T, open func(t testing.TB) drivers.Service, form QueueForm) {
	playBubbled(t, open, queueCases(form))
}

// queueCases returns the cases that apply to a form.
func queueCases(form QueueForm) []sceneCase {
	var cases []sceneCase
	for _, c := range slices.Concat(queueTakes(), queueLosses(), queueCosts()) {
		cases = append(cases, sceneCase{c.name, c.why, func(ctx context.Context, s *scene) {
			s.library = form.shipped()
			x := &queueTrial{scene: s, form: form, site: workloads.QueueSite{Items: s.dir + "/items", Consumers: s.dir + "/consumers"}}
			x.put(ctx, "/items", nil)
			x.put(ctx, "/consumers", nil)
			c.run(ctx, x)
		}})
	}
	return cases
}

// A queueCase is one requirement of a queue.
type queueCase struct {
	name string
	why  string
	run  func(ctx context.Context, x *queueTrial)
}

// A queueTrial is the state of a queue's case.
type queueTrial struct {
	*scene
	form QueueForm
	site workloads.QueueSite
}

// A worker is a session with its handle on the queue.
type worker struct {
	*member
	queue  workloads.PriorityQueue
	taking *call
	item   string // the last item that it took
}

func (x *queueTrial) worker(ctx context.Context) *worker {
	x.Helper()
	w := &worker{member: x.member(ctx)}
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
	w.taking = w.begin(ctx, func(ctx context.Context) error {
		item, err := w.queue.Take(ctx)
		w.item = string(item)
		return err
	})
}

// takes takes an item, and fails the case unless it is the wanted one.
func (w *worker) takes(ctx context.Context, want string) {
	w.x.Helper()
	w.take(ctx)
	w.failed(ctx, w.taking, nil)
	if w.item != want {
		w.x.Fatalf("took %q, want %q", w.item, want)
	}
}

// has reports whether the last take has returned an item.
func (w *worker) has() bool {
	select {
	case <-w.taking.done:
		return w.taking.err == nil
	default:
		return false
	}
}

// puts puts an item.
func (w *worker) puts(ctx context.Context, priority int, item string) {
	w.x.Helper()
	if err := w.queue.Put(ctx, priority, []byte(item)); err != nil {
		w.x.Fatalf("put: %v", err)
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
			x.Fatalf("%d of %d who wait have got the item", len(waiting)-len(left), len(waiting))
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
		if err := x.admin.Sync(ctx, dir); err != nil {
			x.Fatalf("catching up with %s: %v", dir, err)
		}
		children, err := x.admin.Children(ctx, dir, nil)
		if err != nil {
			x.Fatalf("listing %s: %v", dir, err)
		}
		children = slices.DeleteFunc(children, func(c drivers.Child) bool {
			return x.library && strings.HasPrefix(c.Name, "__") // the library's own nodes
		})
		return len(children)
	}
	if got := count(x.site.Items); got != items {
		x.Fatalf("%d items are in the queue, want %d", got, items)
	}
	if got := count(x.site.Consumers); got != 0 && got != waiting {
		x.Fatalf("%d nodes of consumers are there, and %d consumers wait", got, waiting)
	}
}
