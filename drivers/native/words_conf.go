package native

import (
	"fmt"
	"net"
	"os"
	"os/user"
	"runtime"
	"strings"
)

// configuration answers "conf".
func (s *Server) configuration() string {
	port, securePort := -1, -1
	for l, secure := range s.listeners {
		a, ok := l.Addr().(*net.TCPAddr)
		switch {
		case ok && secure:
			securePort = a.Port
		case ok:
			port = a.Port
		}
	}
	tick := s.tick.Milliseconds()
	return fmt.Sprintf("clientPort=%d\nsecureClientPort=%d\n%s"+
		"tickTime=%d\nmaxClientCnxns=%d\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n"+
		"clientPortListenBacklog=-1\nserverId=0\n", port, securePort, s.directories(), tick, s.maxPerHost,
		s.timeouts[0].Milliseconds(), s.timeouts[1].Milliseconds())
}

// directories returns the journal's directory and sizes; they are empty and 0 without a journal.
func (s *Server) directories() string {
	var dir string
	var snapshots, logs int64
	if s.journal != nil {
		dir = s.journal.Dir()
		snapshots, logs, _ = s.journal.Size() // 0 if the sizes are unknown
	}
	return fmt.Sprintf("dataDir=%s\ndataDirSize=%d\ndataLogDir=%s\ndataLogSize=%d\n", dir, snapshots, dir, logs)
}

// environment answers "envi", without the properties of Java.
func environment() string {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	host, _ := os.Hostname()
	dir, _ := os.Getwd()
	name, home := "<NA>", "<NA>"
	if u, err := user.Current(); err == nil {
		name, home = u.Username, u.HomeDir
	}
	var b strings.Builder
	b.WriteString("Environment:\n")
	for _, e := range [][2]string{
		{"zookeeper.version", fmt.Sprintf("%s, built on %s", Version, built())},
		{"host.name", host},
		{"os.name", runtime.GOOS},
		{"os.arch", runtime.GOARCH},
		{"user.name", name},
		{"user.home", home},
		{"user.dir", dir},
		{"os.memory.free", megabytes(memory.HeapIdle)},
		{"os.memory.total", megabytes(memory.Sys)},
	} {
		fmt.Fprintf(&b, "%s=%s\n", e[0], e[1])
	}
	return b.String()
}

func megabytes(n uint64) string { return fmt.Sprintf("%dMB", n>>20) }
