package server_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// Programs that use Curator's recipes, over ZooKeeper's own Java client, get the same results from
// the native server as from Apache ZooKeeper, and through a proxy that observes them.
func TestCurator(t *testing.T) {
	testenv.SkipIfShort(t)
	programs := compileCurator(t)
	// A certificate would give Curator another identity, and its output another line.
	secure := startSecured(t, func(c *certificates.Files) { c.ClientCA, c.MinVersion = "", tls.VersionTLS12 })
	for name, arguments := range map[string][]string{
		"native":             {"Programs", backendtest.Native(t, server.Options{})},
		"native observed":    {"Programs", observed(t, backendtest.Native(t, server.Options{}))},
		"native over TLS":    append(javaTLS(secure.client), "Programs", secure.secure),
		"zookeeper":          {"Programs", apacheFor(t, "curator")},
		"zookeeper observed": {"Programs", observed(t, backendtest.ZooKeeper(t, ""))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantTold(t, "testdata/curator/told.txt", programs.command(t, arguments...))
		})
	}
}

// javaTLS are the options for a TLS connection of ZooKeeper's Java client, which requires Netty.
func javaTLS(s drivers.Security) []string {
	return []string{
		"-Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty", "-Dzookeeper.client.secure=true",
		"-Dzookeeper.ssl.keyStore.location=" + s.Cert, "-Dzookeeper.ssl.trustStore.location=" + s.CA,
	}
}

// A javaPath runs classes from a folder and from jars.
type javaPath struct {
	java, classes string
	jars          []string
}

func (p javaPath) command(t *testing.T, args ...string) *exec.Cmd {
	options := []string{"-XX:-UsePerfData", "-Djava.io.tmpdir=" + p.classes}
	c := exec.CommandContext(t.Context(), p.java, append(options, args...)...)
	c.Env = append(os.Environ(), "CLASSPATH="+strings.Join(append([]string{p.classes}, p.jars...), string(os.PathListSeparator)))
	return c
}

// compileCurator compiles the programs.
func compileCurator(t *testing.T) javaPath {
	t.Helper()
	from, err := zookeeper.FindInstallation()
	if err != nil {
		backendtest.Lacking(t, err)
	}
	p := javaPath{java: from.Java, classes: t.TempDir(), jars: append(curatorJars(t), filepath.SplitList(from.Classpath)...)}
	if out, err := p.compiler(t, "-version").CombinedOutput(); err != nil {
		backendtest.Lacking(t, fmt.Errorf("no Java compiler is installed: apt-get install default-jdk-headless (%s)", out))
	}
	sources, err := filepath.Glob("testdata/curator/*.java")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.compiler(t, append([]string{"-d", p.classes}, sources...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return p
}

// compiler runs the Java compiler, which a JDK has and a JRE lacks.
func (p javaPath) compiler(t *testing.T, args ...string) *exec.Cmd {
	return p.command(t, append([]string{"-m", "jdk.compiler/com.sun.tools.javac.Main"}, args...)...)
}

// curatorJars are the jars of Debian's packages and of a logger. Their manifests name their
// dependencies.
func curatorJars(t *testing.T) (jars []string) {
	t.Helper()
	for _, name := range []string{"curator-client", "curator-framework", "curator-recipes", "slf4j-nop"} {
		jar := "/usr/share/java/" + name + ".jar"
		if _, err := os.Stat(jar); err != nil {
			backendtest.Lacking(t, errors.New("Curator is not installed: apt-get install libcurator-recipes-java"))
		}
		jars = append(jars, jar)
	}
	return jars
}
