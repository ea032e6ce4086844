package zookeeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
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

// Kind returns the kind of an Apache ZooKeeper that a run starts.
func Kind() cluster.Kind {
	return cluster.Kind{Role: "zookeeper", Serves: Serves, Leads: ensemble.Leads}
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

// ErrNotInstalled means that ZooKeeper or Java is missing. The errors that wrap it say what to
// install.
var ErrNotInstalled = errors.New("not installed")

// debianJars is where Debian's package libzookeeper-java puts its jars.
const debianJars = "/usr/share/java"

// An Installation has what is needed to start a ZooKeeper server.
type Installation struct {
	Java      string // the java command
	Classpath string
}

// FindInstallation looks for ZooKeeper in ZOOKEEPER_HOME (a release of Apache ZooKeeper, or
// any directory with its jars) or, if that is not set, among Debian's packages. It looks for
// Java in JAVA_HOME or the PATH.
func FindInstallation() (Installation, error) {
	jars, err := findJars(os.Getenv("ZOOKEEPER_HOME"))
	if err != nil {
		return Installation{}, err
	}
	java, err := findJava(os.Getenv("JAVA_HOME"))
	if err != nil {
		return Installation{}, err
	}
	return Installation{Java: java, Classpath: strings.Join(jars, string(os.PathListSeparator))}, nil
}

func findJars(home string) ([]string, error) {
	if home == "" {
		return debian(debianJars)
	}
	var jars []string
	for _, pattern := range []string{"*.jar", "lib/*.jar"} {
		found, err := filepath.Glob(filepath.Join(home, pattern))
		if err != nil {
			return nil, fmt.Errorf("ZOOKEEPER_HOME=%s: %w", home, err)
		}
		jars = append(jars, found...)
	}
	if !slices.ContainsFunc(jars, isServer) {
		return nil, fmt.Errorf("ZooKeeper is %w in ZOOKEEPER_HOME=%s: no zookeeper*.jar there or in its lib",
			ErrNotInstalled, home)
	}
	return jars, nil
}

func isServer(jar string) bool { return strings.HasPrefix(filepath.Base(jar), "zookeeper") }

// debian returns the server's jar, whose manifest names its dependencies, and the jars that
// the manifest lacks: a logger, which it leaves to the user, and the parts of Netty that
// servers with TLS need.
func debian(folder string) ([]string, error) {
	server := filepath.Join(folder, "zookeeper.jar")
	if _, err := os.Stat(server); err != nil {
		return nil, fmt.Errorf("ZooKeeper is %w: apt-get install default-jre-headless libzookeeper-java, "+
			"or set ZOOKEEPER_HOME to a release of Apache ZooKeeper", ErrNotInstalled)
	}
	jars := []string{server}
	for _, name := range []string{"slf4j-simple.jar", "netty-codec.jar", "netty-resolver.jar"} {
		jars = append(jars, filepath.Join(folder, name))
	}
	return jars, nil
}

func findJava(home string) (string, error) {
	name := "java"
	if home != "" {
		name = filepath.Join(home, "bin", "java")
	}
	java, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("ZooKeeper needs Java, which is %w (%s): "+
			"apt-get install default-jre-headless, or set JAVA_HOME", ErrNotInstalled, name)
	}
	return java, nil
}

// Command returns the server's command. The zoo.cfg in dir configures it, dir may also contain
// a logger's configuration, and the server keeps its data there. The server is killed when the
// context ends, and on Linux also when the thread that starts it ends.
func (i Installation) Command(ctx context.Context, dir string, log *os.File) *exec.Cmd {
	c := exec.CommandContext(ctx, i.Java,
		"-Xmx512m",
		// Without these flags a killed JVM leaves files in /tmp.
		"-XX:-UsePerfData", "-Djava.io.tmpdir="+dir,
		"-Dzookeeper.extendedTypesEnabled=true",
		"-Dzookeeper.admin.enableServer=false",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"-cp", dir+string(os.PathListSeparator)+i.Classpath,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(dir, configName))
	c.Dir, c.Stdout, c.Stderr = dir, log, log
	c.SysProcAttr = dieWithParent()
	return c
}
