package recovery

import "testing"

// BenchmarkMessages is the cost of a request with its reply.
func BenchmarkMessages(b *testing.B) {
	s := newScript("zookeeper")
	m := s.members(1, 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		m.watch("/app/config")
	}
}
