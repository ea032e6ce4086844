package zookeeper

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
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

// WriteConfig writes what [Installation.Command] runs a server by, at an address
// and with what it keeps in dir, and has it log nothing but errors.
func WriteConfig(dir, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		configName:         fmt.Sprintf(config, dir, host, port),
		"log4j.properties": log4j,
		"logback.xml":      logback,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// serving returns true when the server at the address takes sessions and keeps
// its data in dir, which a stranger on the same port would not; false when the
// context ended before.
func serving(ctx context.Context, addr, dir string) bool {
	s, err := New(Config{Servers: []string{addr}})
	if err != nil {
		return false
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !s.keepsDataIn(ctx, dir) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// keepsDataIn does not wait long: a server that is about to start never answers
// some of the words that come just then, and does when asked again.
func (s *Service) keepsDataIn(ctx context.Context, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
	defer cancel()
	conf, err := s.Word(ctx, s.Servers[0], "conf")
	return err == nil && strings.Contains(conf, "dataDir="+dir)
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
