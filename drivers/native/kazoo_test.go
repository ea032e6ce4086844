package native_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/native"
)

// told is what testdata/program.py says of every ZooKeeper.
const told = `created /k
sequence /k/n-0000000000
exists already
another version
read b'data' 0 1
told CHANGED /k
children ['a', 'b', 'n-0000000000']
transaction ['bool', 'str', 'ZnodeStat', 'bool']
transaction ['RolledBackError', 'BadVersionError', 'RuntimeInconsistency']
no access
acl [(31, 'digest', 'user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=')]
locked 40
queue b'x' True b'y' True
counter 3
left True
left False
`

// A program that uses kazoo, with its locks and queues, finds the native server
// to be as Apache ZooKeeper.
func TestKazoo(t *testing.T) {
	python := kazooPython(t)
	t.Run("native", func(t *testing.T) { runProgram(t, python, listen(t, native.Options{})) })
	t.Run("zookeeper", func(t *testing.T) { runProgram(t, python, backendtest.ZooKeeper(t, "")) })
}

func runProgram(t *testing.T, python, address string) {
	c := exec.CommandContext(t.Context(), python, "testdata/program.py", address)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(strings.Split(told, "\n"), strings.Split(string(out), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// kazooPython is the Python that has kazoo, which may be the system's own only.
func kazooPython(t *testing.T) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import kazoo").Run() == nil {
			return python
		}
	}
	backendtest.Lacking(t, errors.New("kazoo is not installed: apt-get install python3-kazoo"))
	return ""
}
