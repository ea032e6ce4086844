package server

import (
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/server/wal"
)

// The durability of a change before the server shows it to any client.
const (
	Memory = "memory" // the change is in memory and is lost when the process ends
	Fsync  = "fsync"  // the change is on disk
)

// restore starts from the journal's state. Every session in it gets its whole timeout, so that its
// client can reconnect.
func (s *Server) restore() {
	s.tree = s.journal.Tree()
	for x := range s.tree.Sessions() {
		restored := &session{id: x.ID, timeout: time.Duration(x.Timeout) * time.Millisecond}
		s.heardOf(restored)
		s.sessions[x.ID] = restored
		s.lastID = max(s.lastID, x.ID)
	}
}

// await returns nil when the state of the zxid is durable.
func (s *Server) await(zxid int64) error {
	if s.journal == nil {
		return nil
	}
	return s.journal.Await(zxid)
}

// keepSnapshots saves a snapshot each time the journal requests one.
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

// pieceOfSnapshot is the number of nodes that a snapshot copies while it holds the lock.
const pieceOfSnapshot = 256

func (s *Server) saveSnapshot() {
	s.mu.Lock()
	shot := s.tree.Snapshot()
	s.mu.Unlock()
	s.journal.SaveSnapshot(shot, func(images []tree.Image) (_ []tree.Image, more bool, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			return nil, false, wal.ErrAbandoned
		}
		images, more = shot.Next(images, pieceOfSnapshot)
		return images, more, nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	shot.End()
}

// endWithJournal closes the server if its journal fails, because later changes cannot become
// durable.
func (s *Server) endWithJournal() {
	select {
	case <-s.journal.Done():
		s.shut()
	case <-s.done:
	}
}

// failure returns the error that closed the server, or nil.
func (s *Server) failure() error {
	switch {
	case s.ensemble != nil:
		return s.ensemble.failed
	case s.journal == nil:
		return nil
	}
	return s.journal.Err()
}
