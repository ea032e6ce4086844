package etcd

import (
	"context"
	"math"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/etcd/calls"
)

// A stream is the watch stream of a session on one connection. All watches of the session
// share it, so one progress request proves that the events of all of them have arrived, and a
// watch needs no goroutine.
type stream struct {
	wire   pb.Watch_WatchClient
	tap    *tap
	breaks uint64          // number of breaks when the stream began
	ended  <-chan struct{} // closed when the session no longer uses the stream
	end    context.CancelFunc

	mu       sync.Mutex
	queue    []outgoing
	more     chan struct{} // has room for one signal
	creating []outgoing    // queued or sent, and unanswered; the server answers in order

	left bool // what it still carries is not reported; the tap's lock guards it
}

// outgoing is a request and what to report to the probe about it.
type outgoing struct {
	request *pb.WatchRequest
	op      drivers.Op
	path    string
}

// begin opens a stream, which lasts until the context ends or the connection breaks. A member
// that has had no leader for three election timeouts ends it, so that the session moves to
// another member, as ZooKeeper's servers disconnect their clients.
func (t *tap) begin(ctx context.Context, watches pb.WatchClient) (*stream, error) {
	s := &stream{tap: t, breaks: t.broke(), more: make(chan struct{}, 1)}
	ctx, s.end = context.WithCancel(context.WithValue(ctx, ownStream{}, true))
	s.ended = ctx.Done()
	wire, err := watches.Watch(clientv3.WithRequireLeader(ctx), grpc.MaxCallRecvMsgSize(math.MaxInt32))
	if err != nil {
		s.end()
		return nil, err
	}
	s.wire = wire
	go s.send()
	return s, nil
}

// create requests a watch.
func (s *stream) create(r *pb.WatchCreateRequest, op drivers.Op, path string) {
	o := outgoing{&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: r}}, op, path}
	s.mu.Lock()
	s.queue = append(s.queue, o)
	s.creating = append(s.creating, o)
	s.mu.Unlock()
	s.flush()
}

// cancel queues the cancellation of watches. They are not urgent: they are sent with the next
// request, or when a cancelled watch gets an event.
func (s *stream) cancel(ids []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		r := &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{WatchId: id}}
		s.queue = append(s.queue, outgoing{request: &pb.WatchRequest{RequestUnion: r}})
	}
}

// progress sends a progress request.
func (s *stream) progress() {
	r := &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}
	s.mu.Lock()
	s.queue = append(s.queue, outgoing{request: &pb.WatchRequest{RequestUnion: r}, op: drivers.OpFlush})
	s.mu.Unlock()
	s.flush()
}

// flush leaves the queue to the goroutine that sends. The goroutine that fires watches must
// not block on a server that waits for that goroutine to receive.
func (s *stream) flush() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *stream) send() {
	for {
		select {
		case <-s.more:
		case <-s.wire.Context().Done():
			return
		}
		s.mu.Lock()
		queue := s.queue
		s.queue = nil
		s.mu.Unlock()
		for _, o := range queue {
			s.tap.reportRequest(drivers.Message{Op: o.op, Path: []byte(o.path), Watch: o.op.IsWatch(), Size: size(o.request)})
			if s.wire.Send(o.request) != nil {
				return // the receiving goroutine gets the error
			}
		}
	}
}

// receive reports every response other than events to the tap, and passes all of them to
// handle.
func (s *stream) receive(handle func(r *pb.WatchResponse, created int64, size int)) {
	for {
		r, err := s.wire.Recv()
		if err == nil {
			err = s.handle(r, handle)
		}
		select {
		case <-s.ended:
			return
		default:
		}
		if err != nil {
			s.end()
			s.tap.cut(s.breaks)
			return
		}
	}
}

func (s *stream) handle(r *pb.WatchResponse, handle func(r *pb.WatchResponse, created int64, size int)) error {
	var created int64
	bytes := size(r)
	s.tap.streamed(r, s)
	if len(r.Events) == 0 {
		m := drivers.Message{Size: bytes, Pos: r.Header.GetRevision()}
		if r.Created {
			o := s.confirmed()
			created = o.request.GetCreateRequest().GetWatchId()
			m.Op, m.Path, m.Watch = o.op, []byte(o.path), o.op.IsWatch()
		}
		if progress(r) {
			m.Op = drivers.OpFlush
		}
		if err := s.tap.answered(m, s.breaks); err != nil {
			return err
		}
	}
	handle(r, created, bytes)
	return nil
}

// nextCreating returns the creation request that the server answers next.
func (s *stream) nextCreating() outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.creating[0]
}

// streamed reports what a response says of the stream's watches, as the server sends it.
func (t *tap) streamed(r *pb.WatchResponse, s *stream) {
	probe, ok := t.probe.(drivers.StreamProbe)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.left || t.breaks != s.breaks {
		return
	}
	e := drivers.StreamEvent{Watch: r.WatchId, Pos: r.Header.GetRevision()}
	switch {
	case r.Created && !r.Canceled:
		o := s.nextCreating()
		c := o.request.GetCreateRequest()
		e.Kind, e.Watch, e.Path, e.Pos = drivers.StreamArmed, c.WatchId, o.path, max(c.StartRevision, 0)
		if e.Pos == 0 {
			// The server reads this revision after it has begun to watch.
			e.Pos, e.Now = r.Header.GetRevision()+1, true
		}
		switch {
		case o.path == "":
		case len(c.RangeEnd) == 0:
			e.Covers = drivers.CoversNode
		case string(c.Key) == t.keys.ChildPrefix(o.path):
			e.Covers = drivers.CoversChildren
		}
		probe.Stream(e)
	case r.Canceled:
		e.Kind = drivers.StreamDisarmed
		probe.Stream(e)
	case progress(r):
		e.Kind = drivers.StreamProgress
		probe.Stream(e)
	}
	for _, change := range r.Events {
		probe.Stream(drivers.StreamEvent{Kind: drivers.StreamChanged, Watch: r.WatchId, Path: t.keys.Path(string(change.Kv.Key)),
			Event: calls.Change(change), Pos: change.Kv.ModRevision})
	}
}

// leaves reports that the session no longer uses the stream.
func (t *tap) leaves(s *stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	probe, ok := t.probe.(drivers.StreamProbe)
	if ok && !s.left && t.breaks == s.breaks {
		probe.Stream(drivers.StreamEvent{Kind: drivers.StreamEnded})
	}
	s.left = true
}

// confirmed returns the creation request that the server has just answered.
func (s *stream) confirmed() outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.creating[0]
	s.creating = s.creating[1:]
	return o
}

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
		s.again(p)
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
		s.tap.leaves(s.stream)
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
