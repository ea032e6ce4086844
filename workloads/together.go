package workloads

import (
	"context"
	"time"
)

// The topics by which the processes of a run agree. They belong to no instance, except lastTopic.
const (
	lastTopic   = "last"   // the last turn that a process has begun when it stopped
	roundsTopic = "rounds" // rounds that have ended in the window
	windowTopic = "window" // rounds that had ended in a process when its window was to end for the n-th time
)

// noInstance is the instance of topics that belong to none.
const noInstance = -1

// agreeWindow returns when the window opens in all processes.
func (r *runner) agreeWindow(ctx context.Context) time.Time {
	if r.failed() || ctx.Err() != nil {
		return time.Now()
	}
	opens, err := r.plan.Part.Window(ctx)
	if err != nil && ctx.Err() == nil {
		r.fail(err)
	}
	return opens
}

// awaitWindow waits until the window opens.
func (r *runner) awaitWindow(ctx context.Context) {
	if r.plan.AwaitWindow != nil {
		r.plan.AwaitWindow(ctx)
	}
	if r.plan.Part == nil || r.plan.Part.Window == nil {
		return
	}
	if r.opens.IsZero() {
		r.opens = r.agreeWindow(ctx)
	}
	r.wait(ctx, time.Until(r.opens))
}

// agreeTurns makes the processes agree, when they stop, on the last turn that all clients of an instance take:
// the last that any of them has begun.
func (r *runner) agreeTurns() {
	x := r.pool.exchanges
	if x == nil {
		return
	}
	go func() {
		select {
		case <-r.stop:
		case <-r.rounds.Done():
			return
		}
		r.mu.Lock() // no client of this process begins a further turn
		defer r.mu.Unlock()
		for instance, turns := range r.turns {
			x.announce(topic{instance, lastTopic, 0}, turns)
		}
	}()
}

// lastTurn returns how many turns the clients of an instance take. It waits until all processes have stopped.
func (r *runner) lastTurn(instance int) int64 {
	x := r.pool.exchanges
	all, err := x.await(r.rounds, topic{instance, lastTopic, 0}, counted(x.Processes))
	if err != nil {
		return 0
	}
	return all.Most
}

// countEvery is the time between two counts of the rounds of all processes.
const countEvery = 10 * time.Millisecond

// countTogether counts the rounds of all processes in a window that ends after a number of rounds, and stops
// this process when there are so many.
func (r *runner) countTogether(ctx context.Context) {
	x := r.pool.exchanges
	if x == nil || r.plan.Rounds == 0 {
		return
	}
	of := topic{noInstance, roundsTopic, 0}
	go func() {
		for told := int64(0); ctx.Err() == nil && !r.stopping.Load(); r.wait(ctx, countEvery) {
			if done := r.done(); done > told {
				x.announce(of, done-told)
				told = done
			}
		}
	}()
	go func() {
		if _, err := x.await(r.rounds, of, func(t tally) bool { return t.Sum >= r.plan.Rounds }); err == nil {
			r.halt()
		}
	}()
}

// doneTogether returns how many rounds have ended in the windows of all processes when they were to end for
// the n-th time.
func (r *runner) doneTogether(ctx context.Context, n int64) int64 {
	x := r.pool.exchanges
	if x == nil {
		return r.done()
	}
	of := topic{noInstance, windowTopic, n}
	x.announce(of, r.done())
	all, err := x.await(ctx, of, counted(x.Processes))
	if err != nil {
		return r.plan.LeastRounds // the run ends
	}
	return all.Sum
}
