package server

// Stats are a server's current state, and its counters since the start or the last "srst".
type Stats struct {
	Connections, Sessions             int64
	Nodes, Ephemerals, Watches, Bytes int64 // Bytes: total length of paths and data
	PacketsReceived, PacketsSent      int64
	Reads, Writes                     int64        // requests; heartbeats are reads, failed writes are writes
	Notifications                     int64        // fired watches
	Member                            *MemberStats // nil for a server that is alone
}

// MemberStats are the state of a member of an ensemble.
type MemberStats struct {
	Leads             bool
	Lag               int64 // committed entries that the member has not applied
	Proposals         int64 // transactions of the member's clients that are not applied
	Elections         int64 // leaders that the member has seen since its start
	Followers, Synced int64 // of a leader: members that it hears of, and those that have all but the latest entries
}

// Stats returns the current statistics. It is safe for concurrent use and waits for the batch in
// progress.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, st := s.tree.Size(), &s.stats
	return Stats{
		Member:      s.ensemble.stats(),
		Connections: int64(len(s.conns)), Sessions: int64(size.Sessions),
		Nodes: int64(s.nodeCount()), Ephemerals: int64(size.Ephemerals), Watches: int64(s.watches.Len()), Bytes: size.Bytes,
		PacketsReceived: st.Received, PacketsSent: st.Sent, Reads: st.Reads, Writes: st.Writes,
		Notifications: st.Created.Sum + st.Deleted.Sum + st.Changed.Sum + st.Children.Sum,
	}
}

func (e *ensemble) stats() *MemberStats {
	if e == nil {
		return nil
	}
	x := e.member.Status()
	return &MemberStats{
		Leads: x.Leader == x.ID, Lag: int64(x.Committed - x.Applied), Proposals: int64(x.Pending), Elections: x.Elections,
		Followers: int64(x.Followers), Synced: int64(x.Synced),
	}
}
