package native

import (
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/stampede-bench/stampede/internal/printable"
)

// Version is the version that the server reports: the ZooKeeper version of its protocol and the
// name of the implementation.
const Version = "3.9.0-stampede-native"

// answers maps the four-letter words to the functions that answer them.
var answers = map[string]func(*Server) string{
	"ruok": func(*Server) string { return "imok" },
	"isro": func(*Server) string { return "rw" },
	"srvr": func(s *Server) string { return s.version() + s.overview() },
	"stat": func(s *Server) string { return s.version() + "Clients:\n" + s.clients((*conn).brief) + s.overview() },
	"cons": func(s *Server) string { return s.clients((*conn).full) },
	"mntr": (*Server).metrics,
	"conf": (*Server).configuration,
	"envi": func(*Server) string { return environment() },
	"wchs": (*Server).watchSummary,
	"wchc": (*Server).watchesBySession,
	"wchp": (*Server).watchesByPath,
	"dump": (*Server).dump,
	"srst": (*Server).resetStats,
	"crst": (*Server).resetTraffic,
}

// Words returns the four-letter words that a server can answer, sorted.
func Words() []string { return slices.Sorted(maps.Keys(answers)) }

// answerWord queues the answer if the first bytes of a connection are a four-letter word. A
// disabled word gets ZooKeeper's refusal. Answers go to terminals, so control characters in watched
// paths are escaped.
func (c *conn) answerWord(word string) bool {
	say, known := answers[word]
	if !known {
		return false
	}
	s := c.server
	s.mu.Lock()
	defer s.unlock()
	s.stats.received++
	s.queued = append(s.queued, c)
	if s.words != nil && !slices.Contains(s.words, word) {
		c.packets = append(c.packets, word+" is not executed because it is not in the whitelist.\n"...)
	} else {
		c.packets = append(c.packets, printable.Text(say(s))...)
	}
	return true
}

func (s *Server) resetStats() string {
	s.stats = stats{}
	return "Server stats reset.\n"
}

func (s *Server) resetTraffic() string {
	for c := range s.conns {
		c.traffic.reset()
	}
	return "Connection stats reset.\n"
}

// built returns the commit time of the running binary's source, or 1970 if it is unknown.
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

// nodeCount counts as ZooKeeper does, which has two entries for the root.
func (s *Server) nodeCount() int { return s.tree.Size().Nodes + 1 }
