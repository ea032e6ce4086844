package native

import (
	"time"

	"github.com/stampede-bench/stampede/drivers/native/journal"
	"github.com/stampede-bench/stampede/drivers/native/tree"
)

// What a server has done with a change before it shows it to anybody.
const (
	Memory = "memory" // it is known: it ends with the process
	Fsync  = "fsync"  // it is on disk
)

// restore begins with the state of the journal. The sessions in it are as good
// as just heard of: their clients have the whole time-out to come back.
func (s *Server) restore() {
	s.tree = s.journal.Tree()
	for x := range s.tree.Sessions() {
		restored := &session{id: x.ID, timeout: time.Duration(x.Timeout) * time.Millisecond}
		s.heardOf(restored)
		s.sessions[x.ID] = restored
		s.lastID = max(s.lastID, x.ID)
	}
}

// await returns nil when the state of the zxid can no longer be lost.
func (s *Server) await(zxid int64) error {
	if s.journal == nil {
		return nil
	}
	return s.journal.Await(zxid)
}

// keepSnapshots saves a snapshot each time the journal wants one.
func (s *Server) keepSnapshots() {
	for {
		select {
		case <-s.journal.Due():
			s.saveSnapshot()
		case <-s.done:
			return
		}
	}
}

// pieceOfSnapshot is how many nodes are looked at while all requests wait.
const pieceOfSnapshot = 256

func (s *Server) saveSnapshot() {
	s.mu.Lock()
	shot := s.tree.Snapshot()
	s.mu.Unlock()
	s.journal.SaveSnapshot(shot, func(images []tree.Image) (_ []tree.Image, more bool, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			return nil, false, journal.ErrAbandoned
		}
		images, more = shot.Next(images, pieceOfSnapshot)
		return images, more, nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	shot.End()
}

// endWithJournal ends the server where its journal fails: it has shown all that
// it could promise.
func (s *Server) endWithJournal() {
	select {
	case <-s.journal.Done():
		s.shut()
	case <-s.done:
	}
}

// failure is why a server that was closed was not meant to be, or nil.
func (s *Server) failure() error {
	if s.journal == nil {
		return nil
	}
	return s.journal.Err()
}
