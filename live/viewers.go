package live

import (
	"net/http"
	"time"
)

// A viewer is somebody who has the page open: the event to be read next.
type viewer chan []byte

// put replaces what has not been read. Only who holds the page's lock puts, so
// there is room.
func (v viewer) put(event []byte) {
	select {
	case <-v:
	default:
	}
	v <- event
}

// mostViewers keeps a slip of somebody's script from taking the memory of the run.
const mostViewers = 200

// join returns nil if there are too many.
func (p *Page) join() viewer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.viewers) >= mostViewers {
		return nil
	}
	v := make(viewer, 1)
	if p.over {
		v <- p.last
		close(v)
		return v
	}
	p.viewers[v] = struct{}{}
	select {
	case p.sooner <- struct{}{}:
	default:
	}
	return v
}

func (p *Page) leave(v viewer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.viewers, v)
}

// readTime is how long somebody may take to read an event.
const readTime = 10 * time.Second

// events sends what there is to show as server-sent events until it is over or
// nobody reads any more.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	v := p.join()
	if v == nil {
		http.Error(w, "too many are watching: close a page", http.StatusServiceUnavailable)
		return
	}
	defer p.leave(v)
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	for {
		select {
		case <-r.Context().Done():
			return
		case event, more := <-v:
			if !more {
				return
			}
			_ = control.SetWriteDeadline(time.Now().Add(readTime)) // of a connection it can be set
			if _, err := w.Write(event); err != nil || control.Flush() != nil {
				return
			}
		}
	}
}
