package native

import (
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// Version is what the server says it is: the ZooKeeper whose protocol it
// speaks, and whose it is.
const Version = "3.9.0-stampede-native"

// answerWord queues the answer if the first bytes of a connection are one of
// the words that operators send.
func (c *conn) answerWord(word string) bool {
	s := c.server
	s.mu.Lock()
	defer s.unlock()
	answer, ok := s.say(word)
	if ok {
		s.stats.received++
		s.queued = append(s.queued, c)
		c.packets = append(c.packets, answer...)
	}
	return ok
}

func (s *Server) say(word string) (answer string, ok bool) {
	switch word {
	case "ruok":
		return "imok", true
	case "isro":
		return "rw", true
	case "srvr":
		return s.version() + s.overview(), true
	case "stat":
		return s.version() + "Clients:\n" + s.clients((*conn).brief) + s.overview(), true
	case "cons":
		return s.clients((*conn).full), true
	case "mntr":
		return s.metrics(), true
	case "conf":
		return s.configuration(), true
	case "envi":
		return environment(), true
	case "wchs":
		return s.watchSummary(), true
	case "wchc":
		return s.watchesBySession(), true
	case "wchp":
		return s.watchesByPath(), true
	case "dump":
		return s.dump(), true
	case "srst":
		s.stats = stats{}
		return "Server stats reset.\n", true
	case "crst":
		for c := range s.conns {
			c.traffic.reset()
		}
		return "Connection stats reset.\n", true
	}
	return "", false
}

// built says when the running binary's source was committed, or 1970.
func built() string {
	at := time.Unix(0, 0)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.time" {
				at, _ = time.Parse(time.RFC3339, setting.Value)
			}
		}
	}
	return at.UTC().Format("01/02/2006 15:04 UTC")
}

func (s *Server) version() string {
	return fmt.Sprintf("Zookeeper version: %s, built on %s\n", Version, built())
}

func (s *Server) overview() string {
	var b strings.Builder
	l := &s.stats.latency
	fmt.Fprintf(&b, "Latency min/avg/max: %d/%s/%d\n", l.min, l.mean(), l.max)
	fmt.Fprintf(&b, "Received: %d\nSent: %d\n", s.stats.received, s.stats.sent)
	fmt.Fprintf(&b, "Connections: %d\nOutstanding: 0\n", len(s.conns))
	fmt.Fprintf(&b, "Zxid: 0x%x\nMode: standalone\n", s.tree.Zxid())
	fmt.Fprintf(&b, "Node count: %d\n", s.nodeCount())
	return b.String()
}

// nodeCount is ZooKeeper's, which knows the root by two names.
func (s *Server) nodeCount() int { return s.tree.Size().Nodes + 1 }
