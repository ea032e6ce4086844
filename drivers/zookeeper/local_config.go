package zookeeper

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers/local"
)

// The files of a local server, in its directory.
const (
	configName = "zoo.cfg"
	logName    = "server.log"
)

// config is a server by itself that admits any number of clients, answers all
// four-letter words, and lets sessions live between 1/2 s and 2 min, where its
// defaults would be 4 s and 40 s. Expiry is rounded up to the next tick.
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

// What releases before and since 3.8 log by; it is found on the class path,
// which the server's directory is part of.
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

// quorum is a member of an ensemble, beside what every server is. A follower has
// 10 s to find a leader and 2.5 s to be heard of, in ticks: the latter are as many
// as in the configuration that ZooKeeper comes with.
const quorum = `initLimit=20
syncLimit=5
`

// WriteConfig writes what [Installation.Command] runs a server by, at an address
// and with what it keeps in dir, and has it log nothing but errors.
func WriteConfig(dir, addr string) error {
	return writeConfig(dir, addr, "")
}

// writeMember is WriteConfig for a member.
func writeMember(p local.Place) error {
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

// writeConfig writes the files of a server with further lines for its zoo.cfg.
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

// lastWords is the line of a log that tells why the server ended: the last
// exception, or without one the last line that is not part of a stack trace.
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
