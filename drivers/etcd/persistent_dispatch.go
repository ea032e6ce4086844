package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/stampede-bench/stampede/drivers"
)

// persist asks for the watch; what becomes of it is decided later.
func (s *watcher) persist(p *persistent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		s.decide(p, drivers.ErrSessionLost)
	case s.stream == nil:
		s.decide(p, errCut)
	default:
		s.lasting[p] = true
		s.ask(p, drivers.OpOther, p.op)
	}
}

// ask asks for all that it takes. The server answers in order, so that the last
// answer is that to the call.
func (s *watcher) ask(p *persistent, others, last drivers.Op) {
	requests := p.requests(s.keys)
	p.ids, p.whole = nil, false
	for i, r := range requests {
		s.last++
		r.WatchId = s.last
		p.ids = append(p.ids, r.WatchId)
		s.lastingByID[r.WatchId] = p
		op := others
		if i == len(requests)-1 {
			op = last
		}
		s.stream.create(r, op, p.path)
	}
}

// decide says what becomes of the call. The caller has the lock.
func (s *watcher) decide(p *persistent, err error) {
	p.phase, p.err = armed, err
	if err != nil {
		s.discard(p)
	}
	close(p.decided)
}

// giveUp fails the call, unless that has been decided.
func (s *watcher) giveUp(p *persistent, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.phase == opening {
		s.decide(p, why)
	}
}

func (s *watcher) stop(p *persistent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.phase == armed {
		s.discard(p)
	}
}

// discard ends what etcd does for the watch. It must not be called any more.
func (s *watcher) discard(p *persistent) {
	p.phase = over
	delete(s.lasting, p)
	s.release(p)
}

// release ends etcd's watches for it.
func (s *watcher) release(p *persistent) {
	for _, id := range p.ids {
		delete(s.lastingByID, id)
	}
	if s.stream != nil {
		s.stream.cancel(p.ids)
	}
}

// confirmed takes in that the server watches a part, from a revision on. When it
// was the last one the watch is armed, or armed again.
func (s *watcher) confirmed(p *persistent, id, from int64) {
	p.after = max(p.after, from)
	if id != p.ids[len(p.ids)-1] {
		return
	}
	p.whole = true
	if p.phase == opening {
		s.decide(p, nil)
	} else {
		p.rearmed()
	}
}

func (p *persistent) rearmed() { p.call(drivers.Event{Type: drivers.Rearmed, Path: p.path}) }

// tell hands on what the watch covers. What came before all its parts were
// confirmed can be read, and so can what was before that.
//
// The parts are served in one order as long as the server keeps up with each. If
// one has fallen behind the other, its events come late: then all must be read.
func (s *watcher) tell(p *persistent, r *pb.WatchResponse, size int) {
	late := false
	for _, e := range r.Events {
		event, covered := p.event(s.keys, e)
		switch {
		case !covered:
		case !p.whole:
			p.after = max(p.after, event.Pos)
		case event.Pos <= p.after:
		case event.Pos < p.told:
			late = true
		default:
			p.told = event.Pos
			s.tap.notified(drivers.Message{Path: []byte(event.Path), Event: event.Type, Pos: event.Pos, Size: size})
			size = 0
			p.call(event)
		}
	}
	if late {
		p.rearmed()
	}
	s.tap.received(size)
}

// deny: the server does not watch, or not any more. If it has compacted what it
// was to tell, for it was far behind, the watch goes on from now; otherwise it is
// as in refuse.
func (s *watcher) deny(p *persistent, r *pb.WatchResponse) {
	switch {
	case p.phase == opening:
		s.decide(p, status.Error(codes.PermissionDenied, r.CancelReason))
	case r.CompactRevision > 0:
		s.release(p)
		s.ask(p, drivers.OpRearm, drivers.OpRearm)
	default:
		s.lost()
	}
}

// lose says that the session has ended.
func (s *watcher) lose(p *persistent) {
	if p.phase == opening {
		s.decide(p, drivers.ErrSessionLost)
		return
	}
	s.discard(p)
	p.call(drivers.Event{Type: drivers.Lost, Path: p.path})
}
