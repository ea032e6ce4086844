package drivers

import (
	"context"
	"sync"
)

// A Feed waits for a watch that fires repeatedly. Give Fire to the call that arms the
// watch, then call Await any number of times. The zero Feed is ready to use. Only one
// goroutine may await.
type Feed struct {
	mu     sync.Mutex
	events []Event // not yet returned by Await
	next   *Wait   // for the next event, if Await waits
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

// Await blocks until there are events or the context ends, and returns all events since
// the last Await, in order. Once the session is lost, Await returns ErrSessionLost.
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
		return nil, ErrSessionLost // and so does every later Await
	}
	f.events = nil
	return events, nil
}

// wait returns a Wait for the next event, or nil if there are events already.
func (f *Feed) wait() *Wait {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.events) > 0 {
		return nil
	}
	f.next = new(Wait)
	return f.next
}
