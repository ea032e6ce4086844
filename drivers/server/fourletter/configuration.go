package fourletter

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"
)

// configuration answers "conf".
func (s State) configuration() string {
	c := s.Configuration()
	return fmt.Sprintf("clientPort=%d\nsecureClientPort=%d\ndataDir=%s\ndataDirSize=%d\ndataLogDir=%s\ndataLogSize=%d\n"+
		"tickTime=%d\nmaxClientCnxns=%d\nminSessionTimeout=%d\nmaxSessionTimeout=%d\n"+
		"clientPortListenBacklog=-1\n", c.Port, c.SecurePort, c.Dir, c.Snapshots, c.Dir, c.Logs,
		c.Tick.Milliseconds(), c.MaxPerHost, c.MinTimeout.Milliseconds(), c.MaxTimeout.Milliseconds()) + s.Ensemble.membership()
}

// membership returns the part of "conf" about the ensemble.
func (e *Ensemble) membership() string {
	if e == nil {
		return "serverId=0\n"
	}
	_, port, _ := net.SplitHostPort(e.Members[e.ID])
	var b strings.Builder
	fmt.Fprintf(&b, "serverId=%d\nquorumPort=%s\npeerType=0\nmembership: \n", e.ID, port)
	for _, id := range slices.Sorted(maps.Keys(e.Members)) {
		fmt.Fprintf(&b, "server.%d=%s:participant\n", id, e.Members[id])
	}
	return b.String()
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
