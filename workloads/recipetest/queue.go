package recipetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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

const (
	producers   = 3
	consumers   = 4
	itemsOfEach = 15
	ordinary    = 4  // number of priorities of the items
	endOfAll    = 99 // priority of the item that makes a consumer stop
	tradeRounds = producers*itemsOfEach + consumers
)

// A trade records the outcomes of the items that some clients put and others took.
type trade struct {
	mu     sync.Mutex
	put    map[string]bool // by item; false if the put is in doubt
	taken  map[string]int
	maybe  map[string]bool // by item; true if a take is in doubt
	wrong  []string
	failed error
}

// trade has new clients put and take items, with random pauses. lose, if set, returns for each
// client which replies to lose.
func (x *queueTrial) trade(ctx context.Context, seed uint64, lose func(*rand.Rand) func(drivers.Message) bool) *trade {
	x.Helper()
	tr := &trade{put: map[string]bool{}, taken: map[string]int{}, maybe: map[string]bool{}}
	var putting, taking sync.WaitGroup
	start := func(group *sync.WaitGroup, i int, do func(*worker, *rand.Rand) error) {
		w, rng := x.worker(ctx), rand.New(rand.NewPCG(seed, uint64(i)))
		if lose != nil {
			w.lose(lose(rng))
		}
		group.Go(func() { tr.note(do(w, rng)) })
	}
	for i := range consumers {
		start(&taking, i, func(w *worker, rng *rand.Rand) error { return tr.consume(ctx, w, rng, x.form.Recipe) })
	}
	for i := range producers {
		start(&putting, consumers+i, func(w *worker, rng *rand.Rand) error { return tr.produce(ctx, w, rng, i) })
	}
	putting.Wait()
	last := x.worker(ctx)
	for range consumers {
		last.puts(ctx, endOfAll, "end")
	}
	taking.Wait()
	if tr.failed != nil {
		x.Fatalf("seed %d: %v", seed, tr.failed)
	}
	return tr
}

func (tr *trade) note(err error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.failed = errors.Join(tr.failed, err)
}

// produce puts items whose names contain their producer, priority and number.
func (tr *trade) produce(ctx context.Context, w *worker, rng *rand.Rand, producer int) error {
	for n := range itemsOfEach {
		if err := pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		priority := rng.IntN(ordinary)
		item := fmt.Sprintf("%d/%d/%d", producer, priority, n)
		err := w.queue.Put(ctx, priority, []byte(item))
		if err != nil && !errors.Is(err, drivers.ErrInDoubt) {
			return err
		}
		tr.mu.Lock()
		tr.put[item] = err == nil
		tr.mu.Unlock()
	}
	return nil
}

// consume takes items until it takes an end marker.
func (tr *trade) consume(ctx context.Context, w *worker, rng *rand.Rand, recipe string) error {
	newest := map[string]int{} // the number of the last item, by its origin
	for {
		if err := pause(ctx, upTo(rng, time.Millisecond)); err != nil {
			return err
		}
		item, err := w.queue.Take(ctx)
		if err != nil && !errors.Is(err, drivers.ErrInDoubt) {
			return err
		}
		if string(item) == "end" {
			return nil
		}
		tr.got(string(item), err != nil)
		tr.checkOrder(string(item), newest, recipe)
	}
}

func (tr *trade) got(item string, doubt bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if doubt {
		tr.maybe[item] = true
		return
	}
	tr.taken[item]++
}

// checkOrder compares an item's number with that of the last item that this consumer took from
// the same origin.
func (tr *trade) checkOrder(item string, newest map[string]int, recipe string) {
	from, number, _ := strings.Cut(item, "/")
	priority, number, _ := strings.Cut(number, "/")
	if recipe == "priority-queue" {
		from += "/" + priority
	}
	n, _ := strconv.Atoi(number)
	if last, ok := newest[from]; ok && n < last {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		tr.wrong = append(tr.wrong, fmt.Sprintf("%s came after %d", item, last))
	}
	newest[from] = n
}

// allTaken fails the case unless each item was taken once, apart from items in doubt, and in
// order.
func (tr *trade) allTaken(x *queueTrial) {
	x.Helper()
	if len(tr.put) != producers*itemsOfEach {
		x.Errorf("%d items were put, want %d", len(tr.put), producers*itemsOfEach)
	}
	for item, certain := range tr.put {
		if tr.taken[item] == 0 && certain && !tr.maybe[item] {
			x.Errorf("item %s was never taken", item)
		}
	}
	for item, times := range tr.taken {
		if _, known := tr.put[item]; !known || times > 1 {
			x.Errorf("item %q was taken %d times; it was put: %v", item, times, known)
		}
	}
	for _, wrong := range tr.wrong {
		x.Errorf("%s", wrong)
	}
}
