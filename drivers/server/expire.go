package server

import (
	"time"

	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// reapEvery is the interval at which the server looks for unused containers and expired nodes. It
// is ZooKeeper's default.
const reapEvery = time.Minute

// keepExpiring expires sessions at every tick, and deletes unused containers and nodes whose TTL has
// passed.
func (s *Server) keepExpiring() {
	tick, reap := time.NewTicker(s.tick), time.NewTicker(reapEvery)
	defer tick.Stop()
	defer reap.Stop()
	for {
		select {
		case <-tick.C:
			s.expire(int64(time.Since(s.start) / s.tick))
		case now := <-reap.C:
			s.reap(now.UnixMilli())
		case <-s.done:
			return
		}
	}
}

func (s *Server) reap(now int64) {
	s.mu.Lock()
	defer s.unlock()
	for _, path := range s.tree.Idle(now) {
		s.apply(tree.Txn{Time: now, Op: tree.Op{Kind: tree.Reap, Path: path}})
	}
}
