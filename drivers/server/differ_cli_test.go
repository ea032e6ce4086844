package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// cliScript is the input for ZooKeeper's own shell.
const cliScript = `create /a data
create -s /a/n- one
create -e /a/e
create -s -e /a/s- two
create -c /c
create -t 60000 /t
create /a again
create /none/x
stat -w /a
set /a changed
set -s -v 1 /a changed again
set -v 1 /a too late
get -s /a
get -w /a/e
stat /a/e
ls -R /
ls -s /a
ls -w /a
delete /a/s-0000000002
addWatch -m PERSISTENT_RECURSIVE /a
set /a/e watched
removewatches /a
create /p
addWatch -m PERSISTENT /p
create /p/q
whoami
addauth digest user:password
whoami
create /secret hidden auth::cdrwa
getAcl -s /secret
setAcl -R /p world:anyone:r
setAcl -v 9 /a world:anyone:r
setAcl -s /a world:anyone:r
set /a refused
delete /none
delete -v 7 /t
delete /a
delete /c
deleteall /t
getEphemerals
getEphemerals /a
getAllChildrenNumber /
sync /
config
reconfig -remove 3
ls /zookeeper
printwatches
close
`

// cliEnd follows when the shell has told of the session's end: a thread of its own prints that event,
// which quit would otherwise race with.
const (
	cliClosed = "WatchedEvent state:Closed"
	cliEnd    = `ls /
quit
`
)

// ZooKeeper's own shell prints the same with both servers, with watch events between the commands'
// output.
func TestShellOfZooKeeper(t *testing.T) {
	testenv.SkipIfShort(t)
	apache := apacheFor(t, "shell")
	from, err := zookeeper.FindInstallation()
	if err != nil {
		t.Fatal(err)
	}
	theirs := shell(t, from, apache)
	ours := shell(t, from, backendtest.Native(t, server.Options{}))
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("(-ZooKeeper +native):\n%s", diff)
	}
	for name, address := range map[string]string{
		"native": backendtest.Native(t, server.Options{}), "ZooKeeper": apacheFor(t, "shell through a proxy"),
	} {
		if diff := cmp.Diff(theirs, shell(t, from, observed(t, address))); diff != "" {
			t.Errorf("(-ZooKeeper +%s through a proxy):\n%s", name, diff)
		}
	}
	wantSameOverTLS(t, from)
	for _, want := range []string{
		"Created /a/n-0000000000", "Created /secret", "[/a/e]", "'digest,'user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=", "digest: user",
		"WatchedEvent state:SyncConnected type:NodeDataChanged path:/a/e",
		"Insufficient permission : /a", "Sync is OK", "Not connected",
	} {
		if !slices.ContainsFunc(ours, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("no %q in %q", want, ours)
		}
	}
}

// wantSameOverTLS compares the shell's output for both servers over TLS, where the shell has an
// x509 identity.
func wantSameOverTLS(t *testing.T, from zookeeper.Installation) {
	t.Helper()
	apache, ours := backendtest.SecureZooKeeper(t), backendtest.SecureNative(t, server.Options{})
	theirs := shell(t, from, apache.Address, javaTLS(apache.Security)...)
	diff := cmp.Diff(theirs, shell(t, from, ours.Address, javaTLS(ours.Security)...))
	if diff != "" {
		t.Errorf("over TLS (-ZooKeeper +native):\n%s", diff)
	}
	if !slices.Contains(theirs, "x509: CN=test client") {
		t.Errorf("the certificate's subject is not in %q", theirs)
	}
}

func shell(t *testing.T, from zookeeper.Installation, address string, options ...string) []string {
	t.Helper()
	arguments := append([]string{"-XX:-UsePerfData", "-Djava.io.tmpdir=" + t.TempDir(),
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", from.Classpath}, options...)
	c := exec.CommandContext(t.Context(), from.Java, append(arguments, "org.apache.zookeeper.ZooKeeperMain", "-server", address)...)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, cliScript); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&out, lines.Text())
		if strings.Contains(lines.Text(), cliClosed) {
			if _, err := io.WriteString(stdin, cliEnd); err != nil {
				t.Fatal(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(out.String(), address, "ADDRESS")
	return sortedLines(strings.Split(stamps.ReplaceAllString(text, "$1 STAMP"), "\n"))
}

var stamps = regexp.MustCompile(`(Zxid|time|ephemeralOwner|zxid:) ?=? ?.*`)
