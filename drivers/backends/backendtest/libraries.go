package backendtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/zookeeper"
)

// Python returns a Python that has the module, which a package of Debian installs for the system's own. It ends a test
// that has none, like [Lacking].
func Python(t testing.TB, module, debian string) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import "+module).Run() == nil {
			return python
		}
	}
	Lacking(t, fmt.Errorf("Python has no module %s: apt-get install %s", module, debian))
	return ""
}

// Curator returns a Java that compiles, and a class path with Curator. It ends a test that has none, like [Lacking].
func Curator(t testing.TB) (java, classpath string) {
	t.Helper()
	from, err := zookeeper.FindInstallation()
	if err != nil {
		Lacking(t, err)
	}
	jars := filepath.SplitList(from.Classpath)
	for _, name := range []string{"curator-client", "curator-framework", "curator-recipes", "slf4j-nop"} {
		jar := "/usr/share/java/" + name + ".jar"
		if _, err := os.Stat(jar); err != nil {
			Lacking(t, errors.New("Curator is not installed: apt-get install libcurator-recipes-java"))
		}
		jars = append(jars, jar)
	}
	if out, err := exec.CommandContext(t.Context(), from.Java, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-version").CombinedOutput(); err != nil {
		Lacking(t, fmt.Errorf("no Java compiler is installed: apt-get install default-jdk-headless (%s)", out))
	}
	return from.Java, strings.Join(jars, string(filepath.ListSeparator))
}
