package native

import (
	"time"

	"github.com/stampede-bench/stampede/drivers/native/tree"
)

// reapEvery is how often nodes that outlived their use are looked for, as often
// as ZooKeeper does.
const reapEvery = time.Minute

// keepHouse ends, at every tick, the sessions that were not heard of, and takes
// away containers and nodes whose time is over.
func (s *Server) keepHouse() {
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
