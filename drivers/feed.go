package drivers

import (
	"context"
	"sync"
)

// A Feed waits for a watch that fires again and again: give Fire to the call
// that arms it, then Await, any number of times. The zero Feed is ready. One
// goroutine awaits.
type Feed struct {
	mu     sync.Mutex
	events []Event // that nobody has taken
	next   *Wait   // for the next one, if somebody waits
}

// Fire is the [Watch] of this feed.
func (f *Feed) Fire(e Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = append(f.events, e)
	if f.next != nil {
		f.next.Fire(e)
		f.next = nil
	}
}

// Await blocks until there are events or the context ends, and returns all that
// came since the last Await, in order. Once the session is lost it is
// ErrSessionLost.
func (f *Feed) Await(ctx context.Context) ([]Event, error) {
	if wait := f.wait(); wait != nil {
		if _, err := wait.Await(ctx); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	events := f.events
	if events[len(events)-1].Type == Lost {
		return nil, ErrSessionLost // and again, whoever asks
	}
	f.events = nil
	return events, nil
}

// wait returns nil if there is nothing to wait for.
func (f *Feed) wait() *Wait {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.events) > 0 {
		return nil
	}
	f.next = new(Wait)
	return f.next
}
