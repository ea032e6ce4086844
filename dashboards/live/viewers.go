package live

import (
	"net/http"
	"time"
)

// A viewer is a browser that has the page open. The channel holds the next event for it.
type viewer chan []byte

// put replaces an event that the viewer has not read. Only the holder of the page's lock calls
// put, so the channel has room.
func (v viewer) put(event []byte) {
	select {
	case <-v:
	default:
	}
	v <- event
}

// mostViewers protects the run's memory against a script that opens too many connections by
// mistake.
const mostViewers = 200

// join adds a viewer. It returns nil if there are too many.
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

// readTime is the longest time that a viewer may take to read an event.
const readTime = 10 * time.Second

// events sends the page's events as server-sent events until the command is over or the viewer
// stops reading.
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
			_ = control.SetWriteDeadline(time.Now().Add(readTime)) // supported by network connections
			if _, err := w.Write(event); err != nil || control.Flush() != nil {
				return
			}
		}
	}
}
