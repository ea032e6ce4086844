package recipetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/drivers"
)

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
		if err := drivers.Pause(ctx, upTo(rng, time.Millisecond)); err != nil {
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
		if err := drivers.Pause(ctx, upTo(rng, time.Millisecond)); err != nil {
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
