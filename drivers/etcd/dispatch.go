package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/stampede-bench/stampede/drivers"
)

// own watches for the deletion of the session's own key, which is the end of the session.
func (s *watcher) own(key string, lost func()) {
	w := &watch{in: s, ours: true, node: key, confirmed: make(chan struct{}), phase: armed, read: sight{found: true}}
	w.call = func(drivers.Event) { lost() }
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[w], s.lost = true, lost
}

// begin resumes all armed watches on a new stream.
func (s *watcher) begin(on *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
	if s.ended {
		on.end()
		return
	}
	s.stream = on
	for w := range s.all {
		if w.phase == armed {
			s.resume(w)
		}
	}
	for p := range s.lasting {
		s.ask(p, drivers.OpRearm, drivers.OpRearm)
	}
	go on.receive(func(r *pb.WatchResponse, created int64, size int) { s.handle(on, r, created, size) })
}

// interrupt is called when the connection has broken. Watches that the server has not
// confirmed will be resumed from the revision of their read if it was answered. Calls that arm
// persistent watches fail.
func (s *watcher) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
	for w := range s.all {
		w.confirm(0)
	}
	for p := range s.lasting {
		if p.phase == opening {
			s.decide(p, errCut)
		}
	}
}

func (s *watcher) leave() {
	if s.stream != nil {
		s.stream.end()
	}
	s.stream = nil
	clear(s.byID)
	clear(s.lastingByID)
}

// end fires Lost at every armed watch. Calls that have not returned fail.
func (s *watcher) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.leave()
	for w := range s.all {
		w.confirm(0)
		if w.phase == armed && !w.ours {
			w.call(drivers.Event{Type: drivers.Lost, Path: w.path})
		}
		w.phase = over
	}
	clear(s.all)
	for p := range s.lasting {
		s.lose(p)
	}
}

// handle processes a response of the server. Only the stream's own goroutine calls it. It
// drops what a former stream still delivers: the server sends that again.
func (s *watcher) handle(on *stream, r *pb.WatchResponse, created int64, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != on {
		return
	}
	switch {
	case r.Created:
		s.created(created, r)
	case r.Canceled:
		s.cancelled(r)
	case progress(r):
		s.reached(r.Header.Revision)
	default:
		s.events(r, size)
	}
}

func (s *watcher) created(id int64, r *pb.WatchResponse) {
	w, p := s.byID[id], s.lastingByID[id]
	switch {
	case p != nil && r.Canceled:
		s.deny(p, r)
	case p != nil:
		s.confirmed(p, id, r.Header.Revision)
	case w == nil: // the call has failed, or the watch has fired
	case r.Canceled:
		s.refuse(w, r)
	default:
		w.confirm(r.Header.Revision)
	}
}

// cancelled handles the cancellation of a watch, by this client or by the server.
func (s *watcher) cancelled(r *pb.WatchResponse) {
	if w := s.byID[r.WatchId]; w != nil {
		s.refuse(w, r)
	}
	if p := s.lastingByID[r.WatchId]; p != nil {
		s.deny(p, r)
	}
}

// refuse handles a watch that the server does not serve, or no longer serves. If the server
// has compacted the events, the node is read again. Otherwise the call that waits for the
// watch fails. If the call has already returned, refuse ends the session, since a client that
// waits for the event must not wait forever.
func (s *watcher) refuse(w *watch, r *pb.WatchResponse) {
	switch {
	case w.phase == opening:
		w.refused = status.Error(codes.PermissionDenied, r.CancelReason)
		w.confirm(0)
	case r.CompactRevision > 0 && !w.ours:
		s.rereads++
		go s.behind(w)
	default:
		s.lost()
	}
}

func (s *watcher) events(r *pb.WatchResponse, size int) {
	if p := s.lastingByID[r.WatchId]; p != nil {
		s.deliver(p, r, size)
		return
	}
	w := s.byID[r.WatchId]
	for _, e := range r.Events {
		if w == nil || w.phase == over {
			break
		}
		event, covered := w.event(e)
		switch {
		case !covered:
		case w.phase == opening:
			w.early = append(w.early, early{event, size})
			size = 0
		case event.Pos > w.read.revision:
			s.fire(w, early{event, size})
			size = 0
		}
	}
	if w == nil {
		s.stream.flush()
	}
	if size > 0 {
		s.tap.received(size)
	}
}

// reached records that all events up to a revision have been delivered.
func (s *watcher) reached(revision int64) {
	s.progress = max(s.progress, revision)
	s.advance()
}

func (s *watcher) advance() {
	close(s.advanced)
	s.advanced = make(chan struct{})
}
