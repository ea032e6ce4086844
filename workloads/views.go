package workloads

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// views checks what the clients see of values that are updated. Updates are numbered from 1 in the
// order in which they are made, and the number is the data written. The data before the first
// update is 0.
//
// A client must not see an update that was not made, nor an older update after a newer one in the
// same session, and when writes stop every client must see the last one. An update counts as made
// from just before its request is sent, so that an update seen too early is a real finding.
type views struct {
	mu      sync.Mutex
	made    []int64 // by value: the last update
	clients []*view
	safety  metrics.Safety
}

// A view is what one client sees in one session.
type view struct {
	seen []int64     // by value: the last update seen, −1 for none
	at   []time.Time // when it was first seen
	err  error       // why the client sees nothing more
	// moved has an element when one of the fields above has changed.
	moved chan struct{}
}

func newViews(clients, values int) *views {
	v := &views{made: make([]int64, values), clients: make([]*view, clients)}
	for i := range clients {
		v.open(i)
	}
	return v
}

// open starts a client's view from scratch, with a new session.
func (v *views) open(client int) *view {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := &view{seen: make([]int64, len(v.made)), at: make([]time.Time, len(v.made)), moved: make(chan struct{}, 1)}
	for i := range w.seen {
		w.seen[i] = -1
	}
	v.clients[client] = w
	return w
}

// update returns the data of the update with this number.
func update(number int64) []byte { return strconv.AppendInt(nil, number, 10) }

// making records that the update of the value is about to be made.
func (v *views) making(value int, number int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.made[value] = number
}

// see records that the client of the view sees this data at the value.
func (v *views) see(client int, w *view, value int, data []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.safety.Checked++
	number, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil || number < 0 || number > v.made[value] {
		v.violation("client %d saw %q, which was never made", client+1, data)
		return
	}
	if number < w.seen[value] {
		v.violation("client %d saw update %d after %d", client+1, number, w.seen[value])
	}
	if number != w.seen[value] {
		w.seen[value], w.at[value] = number, time.Now()
	}
	w.move()
}

// fail records that the view will see nothing more.
func (v *views) fail(w *view, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w.err = err
	w.move()
}

func (w *view) move() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// await returns when the update, or a newer one, was first seen in the view.
func (v *views) await(ctx context.Context, w *view, value int, number int64) (time.Time, error) {
	for {
		v.mu.Lock()
		seen, at, err := w.seen[value], w.at[value], w.err
		v.mu.Unlock()
		if seen >= number {
			return at, nil
		}
		if err != nil {
			return time.Time{}, err
		}
		select {
		case <-w.moved:
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// stale checks a client that does not see the last update although writes have stopped.
func (v *views) stale(client int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.checkLast(client)
}

// converged checks that every client sees the last update of every value.
func (v *views) converged() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for client := range v.clients {
		v.checkLast(client)
	}
}

func (v *views) checkLast(client int) {
	for value, made := range v.made {
		v.safety.Checked++
		if seen := v.clients[client].seen[value]; seen < made {
			v.violation("client %d never saw update %d, the last it saw is %d", client+1, made, seen)
		}
	}
}

func (v *views) violation(format string, args ...any) {
	v.safety.Violations++
	if len(v.safety.Details) < maxDetails {
		v.safety.Details = append(v.safety.Details, "violation: "+fmt.Sprintf(format, args...))
	}
}

func (v *views) verdict() metrics.Safety {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.safety
}
