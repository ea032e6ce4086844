package zookeeper

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stampede-bench/stampede/drivers/cluster"
)

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

// writeMember writes the configuration of a member for [Installation.Command]. The server logs
// errors only.
func writeMember(p cluster.Place) error {
	host, port, err := net.SplitHostPort(p.Own().Clients)
	if err != nil {
		return err
	}
	zoo := fmt.Sprintf(config, p.Dir, host, port)
	if len(p.Members) > 1 {
		ensemble, err := writeEnsemble(p)
		if err != nil {
			return err
		}
		zoo += ensemble
	}
	for name, text := range map[string]string{configName: zoo, "log4j.properties": log4j, "logback.xml": logback} {
		if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// writeEnsemble writes the number of one of several members, and returns the lines for its zoo.cfg.
func writeEnsemble(p cluster.Place) (string, error) {
	if err := os.WriteFile(filepath.Join(p.Dir, "myid"), []byte(strconv.Itoa(p.Number)), 0o600); err != nil {
		return "", err
	}
	lines := quorum
	for i, m := range p.Members {
		_, votes, err := net.SplitHostPort(m.Votes)
		if err != nil {
			return "", err
		}
		lines += fmt.Sprintf("server.%d=%s:%s\n", i+1, m.Peers, votes)
	}
	return lines, nil
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
