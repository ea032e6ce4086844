package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

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
