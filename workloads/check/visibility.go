package check

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stampede-bench/stampede/metrics"
)

// Visibility checks what the clients see of values that are updated. Updates are numbered from 1 in the
// order in which they are made, and the number is the data written. The data before the first
// update is 0.
//
// A client must not see an update that was not made, nor an older update after a newer one in the
// same session, and when writes stop every client must see the last one. An update counts as made
// from just before its request is sent, so that an update seen too early is a real finding.
type Visibility struct {
	mu      sync.Mutex
	made    []int64 // by value: the last update
	clients []*View
	steps   *Steps // nil: all clients are in this process
	safety  metrics.Safety
}

// A View is what one client sees in one session.
type View struct {
	Seen []int64     // by value: the last update seen, −1 for none
	At   []time.Time // when it was first seen
	err  error       // why the client sees nothing more
	// moved has an element when one of the fields above has changed.
	moved chan struct{}
}

func NewVisibility(clients, values int) *Visibility {
	v := &Visibility{made: make([]int64, values), clients: make([]*View, clients)}
	for i := range clients {
		v.OpenView(i)
	}
	return v
}

// Record makes the Visibility that of the clients of one process. Whether an update had been made when it
// was seen is judged by the recorded steps: see [JudgeUpdates]. steps is nil if the process has all clients.
func (v *Visibility) Record(steps *Steps) { v.steps = steps }

// OpenView starts a client's view from scratch, with a new session.
func (v *Visibility) OpenView(client int) *View {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := &View{Seen: make([]int64, len(v.made)), At: make([]time.Time, len(v.made)), moved: make(chan struct{}, 1)}
	for i := range w.Seen {
		w.Seen[i] = -1
	}
	v.clients[client] = w
	return w
}

// UpdateData returns the data of the update with this number.
func UpdateData(number int64) []byte { return strconv.AppendInt(nil, number, 10) }

// UpdateBegins records that the update of the value is about to be made.
func (v *Visibility) UpdateBegins(value int, number int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.made[value] = number
	v.steps.Record(Step{Kind: Updating, Client: noOne, Turn: number, Value: int64(value)})
}

// Made records that the update was made, maybe by a client of another process.
func (v *Visibility) Made(value int, number int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.made[value] = max(v.made[value], number)
}

// noOne is the client of steps for which it does not matter which client took them.
const noOne = -1

// Saw records that the client of the view sees this data at the value.
func (v *Visibility) Saw(client int, w *View, value int, data []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.safety.Checked++
	number, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil || number < 0 || number > v.made[value] && v.steps == nil {
		v.addViolation("client %d saw %q, which was never written", client+1, data)
		return
	}
	if number < w.Seen[value] {
		v.addViolation("client %d saw update %d after %d", client+1, number, w.Seen[value])
	}
	if number != w.Seen[value] {
		w.Seen[value], w.At[value] = number, time.Now()
		v.steps.RecordAt(w.At[value], Step{Kind: Saw, Client: client, Turn: number, Value: int64(value)})
	}
	w.move()
}

// Stopped records that the view will see nothing more.
func (v *Visibility) Stopped(w *View, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w.err = err
	w.move()
}

func (w *View) move() {
	select {
	case w.moved <- struct{}{}:
	default:
	}
}

// Await returns when the update, or a newer one, was first seen in the view.
func (v *Visibility) Await(ctx context.Context, w *View, value int, number int64) (time.Time, error) {
	for {
		v.mu.Lock()
		seen, at, err := w.Seen[value], w.At[value], w.err
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

// CheckClient checks a client that does not see the last update although writes have stopped.
func (v *Visibility) CheckClient(client int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.checkLast(client)
}

// CheckAll checks that every client sees the last update of every value.
func (v *Visibility) CheckAll() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for client := range v.clients {
		v.checkLast(client)
	}
}

func (v *Visibility) checkLast(client int) {
	for value, made := range v.made {
		v.safety.Checked++
		if seen := v.clients[client].Seen[value]; seen < made {
			v.addViolation("client %d never saw update %d; the last one it saw is %d", client+1, made, seen)
		}
	}
}

func (v *Visibility) addViolation(format string, args ...any) {
	v.safety.Violations++
	if len(v.safety.Details) < MaxDetails {
		v.safety.Details = append(v.safety.Details, "violation: "+fmt.Sprintf(format, args...))
	}
}

func (v *Visibility) Verdict() metrics.Safety {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.safety
}
