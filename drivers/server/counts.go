package server

// Stats are a server's current state, and its counters since the start or the last "srst".
type Stats struct {
	Connections, Sessions             int64
	Nodes, Ephemerals, Watches, Bytes int64 // Bytes: total length of paths and data
	PacketsReceived, PacketsSent      int64
	Reads, Writes                     int64 // requests; heartbeats are reads, failed writes are writes
	Notifications                     int64 // fired watches
}

// Stats returns the current statistics. It is safe for concurrent use and waits for the batch in
// progress.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, st := s.tree.Size(), &s.stats
	return Stats{
		Connections: int64(len(s.conns)), Sessions: int64(size.Sessions),
		Nodes: int64(s.nodeCount()), Ephemerals: int64(size.Ephemerals), Watches: int64(s.watches.Len()), Bytes: size.Bytes,
		PacketsReceived: st.Received, PacketsSent: st.Sent, Reads: st.Reads, Writes: st.Writes,
		Notifications: st.Created.Sum + st.Deleted.Sum + st.Changed.Sum + st.Children.Sum,
	}
}
