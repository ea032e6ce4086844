package server

import (
	"iter"
	"net"
	"slices"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/fourletter"
	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/tree"
)

// answerWord queues the answer if the first bytes of a connection are a four-letter word.
func (c *conn) answerWord(word string) bool {
	if !fourletter.Known(word) {
		return false
	}
	s := c.server
	s.mu.Lock()
	defer s.unlock()
	s.stats.Received++
	s.queued = append(s.queued, c)
	answer := fourletter.Refusal
	if s.words == nil || slices.Contains(s.words, word) {
		answer = func(word string) string { return fourletter.Answer(word, s.state()) }
	}
	c.packets = append(c.packets, answer(word)...)
	return true
}

// state returns what four-letter words show. The caller holds the lock until the answer is written.
func (s *Server) state() fourletter.State {
	size := s.tree.Size()
	syncs, syncTime := s.syncs()
	return fourletter.State{
		Start: s.start, Zxid: s.tree.Zxid(), Nodes: int64(s.nodeCount()), Ephemerals: int64(size.Ephemerals), Bytes: size.Bytes,
		Watches: int64(s.watches.Len()), Connections: int64(len(s.conns)), Sessions: int64(size.Sessions),
		Outstanding: s.outstanding(), Syncs: syncs, SyncTime: syncTime, Counters: &s.stats, Clients: s.clients, OpenSessions: s.openSessions,
		DataWatches: s.dataWatches, Configuration: s.configuration, ResetConnections: s.resetConnections, Ensemble: s.ensemble.state(),
	}
}

// nodeCount counts as ZooKeeper does, which has two entries for the root.
func (s *Server) nodeCount() int { return s.tree.Size().Nodes + 1 }

// outstanding returns the number of transactions that wait for the disk or for other members.
func (s *Server) outstanding() int64 {
	switch {
	case s.ensemble != nil:
		count, _ := s.ensemble.member.Pending()
		return int64(count)
	case s.journal == nil:
		return 0
	}
	_, transactions := s.journal.Pending()
	return int64(transactions)
}

// directory returns the data directory, nil if there is none.
func (s *Server) directory() *logfile.Directory {
	switch {
	case s.ensemble != nil:
		return s.ensemble.log.Dir()
	case s.journal == nil:
		return nil
	}
	return s.journal.Dir()
}

// syncs returns how often the log was synced, and how long that took.
func (s *Server) syncs() (count int64, took time.Duration) {
	if d := s.directory(); d != nil {
		return d.Syncs()
	}
	return 0, 0
}

func (s *Server) clients() []fourletter.Client {
	var all []fourletter.Client
	for c := range s.conns {
		w := fourletter.Client{Address: c.net.RemoteAddr().String(), Expires: c.traffic.Opened.Add(handshakeTime), Traffic: &c.traffic}
		if c.session != nil {
			session := s.shown(c.session)
			w.Session, w.Expires = &session, session.Expires
		}
		all = append(all, w)
	}
	return all
}

func (s *Server) openSessions() []fourletter.Session {
	var all []fourletter.Session
	for _, x := range s.sessions {
		all = append(all, s.shown(x))
	}
	return all
}

func (s *Server) shown(x *session) fourletter.Session {
	expires := s.start.Add(time.Duration(x.expires) * s.tick)
	if s.ensemble != nil {
		expires = s.ensemble.expires(x)
	}
	return fourletter.Session{ID: x.id, Timeout: x.timeout, Expires: expires, Ephemerals: s.tree.Ephemerals(x.id)}
}

func (s *Server) dataWatches() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for path, w := range s.watches.All(tree.DataWatch) {
			if !yield(path, w.Session) {
				return
			}
		}
	}
}

func (s *Server) configuration() fourletter.Configuration {
	c := fourletter.Configuration{Port: -1, SecurePort: -1, Tick: s.tick, MaxPerHost: s.maxPerHost,
		MinTimeout: s.timeouts[0], MaxTimeout: s.timeouts[1]}
	for l, secure := range s.listeners {
		a, ok := l.Addr().(*net.TCPAddr)
		switch {
		case ok && secure:
			c.SecurePort = a.Port
		case ok:
			c.Port = a.Port
		}
	}
	if d := s.directory(); d != nil {
		c.Dir = d.Path
		c.Snapshots, c.Logs, _ = d.Size() // 0 if they are unknown
	}
	return c
}

func (s *Server) resetConnections() {
	for c := range s.conns {
		c.traffic.Reset()
	}
}

// state returns what four-letter words show of the ensemble, nil without one. The caller holds the lock.
func (e *ensemble) state() *fourletter.Ensemble {
	if e == nil {
		return nil
	}
	x := e.member.Status()
	return &fourletter.Ensemble{Serving: e.serving(), ID: x.ID, Role: x.Role, Leader: x.Leader, Term: x.Term, Version: x.Version,
		Committed: x.Committed, Applied: x.Applied, Elections: x.Elections, Followers: x.Followers, Synced: x.Synced,
		Members: e.settings.Addresses}
}

// expires returns when a session expires. Only the leader knows that; others know how long it has at
// most.
func (e *ensemble) expires(x *session) time.Time {
	left, ok := e.member.Expires(x.id)
	if !ok {
		left = x.timeout
	}
	return time.Now().Add(left)
}
