package fourletter

import (
	"fmt"
	"os"
	"os/user"
	"runtime"
	"strings"
)

// configuration answers "conf".
func (s State) configuration() string {
	c := s.Configuration()
	return fmt.Sprintf("clientPort=%d\nsecureClientPort=%d\ndataDir=%s\ndataDirSize=%d\ndataLogDir=%s\ndataLogSize=%d\n"+
		"tickTime=%d\nmaxClientCnxns=%d\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n"+
		"clientPortListenBacklog=-1\nserverId=0\n", c.Port, c.SecurePort, c.Dir, c.Snapshots, c.Dir, c.Logs,
		c.Tick.Milliseconds(), c.MaxPerHost, c.MinTimeout.Milliseconds(), c.MaxTimeout.Milliseconds())
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
		{"zookeeper.version", fmt.Sprintf("%s, built on %s", Version, Built())},
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
