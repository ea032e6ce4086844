package zookeeper

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/ensemble"
)

// RunMember runs an Apache ZooKeeper server of this machine's installation at place p, until
// the context ends. It announces the process id of the server when its process runs; [Serves]
// reports when the server serves.
//
// ZooKeeper syncs every write to disk by default.
func RunMember(ctx context.Context, p cluster.Place, announce func(pid string)) error {
	from, err := FindInstallation()
	if err != nil {
		return err
	}
	if err := writeMember(p); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(p.Dir, logName))
	if err != nil {
		return err
	}
	defer log.Close()
	server := from.Command(ctx, p.Dir, log)
	if len(p.Members) > 1 {
		server.Args = slices.Insert(server.Args, slices.Index(server.Args, "-cp"), memberFlags(p)...)
	}
	// The kernel ties a child's death signal to the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := server.Start(); err != nil {
		return err
	}
	announce(strconv.Itoa(server.Process.Pid))
	server.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("ZooKeeper ended (%v): %s", server.ProcessState, lastWords(log.Name()))
}

// memberHeap is the JVM's heap for one of several members: five of them must fit on a machine
// with 4 GB.
const memberHeap = "-Xmx256m"

// memberFlags returns the JVM's flags for one of several members. If there is a proxy, all
// connections that the server makes go through it. That includes those to this machine, which
// Java excludes unless the list of exclusions is empty.
func memberFlags(p cluster.Place) []string {
	flags := []string{memberHeap}
	if p.Proxy == "" {
		return flags
	}
	host, port, err := net.SplitHostPort(p.Proxy)
	if err != nil {
		panic(err) // it is the address of a listener
	}
	return append(flags, "-DsocksProxyHost="+host, "-DsocksProxyPort="+port, "-DsocksNonProxyHosts=")
}

// Serves returns when a member that [RunMember] runs accepts sessions.
func Serves(ctx context.Context, p cluster.Place) error {
	return ensemble.Serves(ctx, Config{Servers: []string{p.Own().Clients}}, p.Dir)
}

// The files of a local server, in its directory.
const (
	configName = "zoo.cfg"
	logName    = "server.log"
)

// config configures a standalone server. It accepts any number of clients, answers all
// four-letter words, and allows session timeouts from 1/2 s to 2 min, where the defaults would
// be 4 s and 40 s. Expiry is rounded up to the next tick.
const config = `dataDir=%s
clientPortAddress=%s
clientPort=%s
tickTime=500
minSessionTimeout=500
maxSessionTimeout=120000
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=*
`

// Logging configurations of releases before 3.8 and since. The server finds them on its class
// path, which contains its directory.
const (
	log4j = `log4j.rootLogger=ERROR, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%p %m%n
`
	logback = `<configuration>
<appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%p %m%n</pattern></encoder></appender>
<root level="ERROR"><appender-ref ref="out"/></root>
</configuration>
`
)

// quorum is the additional configuration of a member of an ensemble, in ticks. A follower has
// 10 s to find a leader, and may be out of contact for 2.5 s, as many ticks as in the
// configuration that comes with ZooKeeper.
const quorum = `initLimit=20
syncLimit=5
`

// WriteConfig writes the configuration for [Installation.Command]: a server at an address with
// its data in dir, which logs errors only.
func WriteConfig(dir, addr string) error {
	return writeConfig(dir, addr, "")
}

// writeMember writes the configuration of a member.
func writeMember(p cluster.Place) error {
	if len(p.Members) == 1 {
		return WriteConfig(p.Dir, p.Own().Clients)
	}
	if err := os.WriteFile(filepath.Join(p.Dir, "myid"), []byte(strconv.Itoa(p.Number)), 0o600); err != nil {
		return err
	}
	lines := quorum
	for i, m := range p.Members {
		_, votes, err := net.SplitHostPort(m.Votes)
		if err != nil {
			return err
		}
		lines += fmt.Sprintf("server.%d=%s:%s\n", i+1, m.Peers, votes)
	}
	return writeConfig(p.Dir, p.Own().Clients, lines)
}

// writeConfig writes the files of a server, with additional lines for its zoo.cfg.
func writeConfig(dir, addr, lines string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		configName:         fmt.Sprintf(config, dir, host, port) + lines,
		"log4j.properties": log4j,
		"logback.xml":      logback,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// lastWords returns the line of a log that shows why the server ended: the last exception, or
// else the last line outside of a stack trace.
func lastWords(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return "it left no log"
	}
	last, exception := "it logged nothing", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '\t' {
			continue
		}
		last = line
		if strings.Contains(line, "Exception: ") {
			exception = line
		}
	}
	return cmp.Or(exception, last)
}
