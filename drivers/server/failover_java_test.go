package server_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// A Curator program holds a lock and acquires another one by two clients again and again, while leaders are
// killed until both clients have lost a connection. No session is lost, no lock ever has two holders, and no
// node of a lock is left.
func TestCuratorFailsOver(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startFailover(t)
	p := startTalking(t, compileCurator(t).command(t, "Failover", e.list(), "/contended", "/contended"))
	p.await("ready")
	for answer := ""; !strings.HasPrefix(answer, "suspended true true") || e.kills < fewestKills(0); {
		e.killLeader()
		p.write("killed")
		answer = p.await("suspended")
		if slices.Contains(p.said, "the contended lock is not acquired any more") {
			t.Fatalf("after %d killed leaders nobody gets the lock", e.kills)
		}
	}
	p.write("end")
	want := []string{
		"held true 2 by another false", "then by another true",
		"lost false same session true", "lost false same session true", "overlaps 0 left [] []",
	}
	if diff := cmp.Diff(want, p.end()); diff != "" {
		t.Errorf("after %d killed leaders (-want +got):\n%s", e.kills, diff)
	}
	e.wantEqualMembers()
}

// Three clients of Curator elect a leader, keep a node each and count, while leaders are killed. After each
// kill one of them leads, each node is there, and each counts on. Never do two lead, and the counter has
// every increment that was acknowledged.
func TestCuratorRecipesFailOver(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startFailover(t)
	p := startTalking(t, compileCurator(t).command(t, "FailoverRecipes", e.list()))
	e.killWhile(p, fewestKills(3))
	said := strings.Join(p.end(), "\n")
	var acknowledged, last int
	if _, err := fmt.Sscanf(said, "rivals 0 doubles 0 acknowledged %d counter %d", &acknowledged, &last); err != nil || acknowledged > last {
		t.Errorf("after %d killed leaders: %s", e.kills, said)
	}
	t.Log(said)
	e.wantEqualMembers()
}

// The program finds that a lock has two holders: here each client has a lock of its own.
func TestCuratorFindsTwoHolders(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startFailover(t)
	p := startTalking(t, compileCurator(t).command(t, "Failover", e.list(), "/one", "/another"))
	p.await("ready")
	for answer := ""; answer == "" || strings.HasSuffix(answer, "overlaps 0"); {
		p.write("killed") // although no leader was
		answer = p.await("suspended")
	}
	p.write("end")
	p.end()
}

// ZooKeeper's shell has all addresses. Leaders are killed until it has lost its connection to one. After
// each it reads what it created before, and creates another node, in one session.
func TestShellFailsOver(t *testing.T) {
	testenv.SkipIfShort(t)
	from, err := zookeeper.FindInstallation()
	if err != nil {
		backendtest.Lacking(t, err)
	}
	e := startFailover(t)
	p := startTalking(t, exec.CommandContext(t.Context(), from.Java, "-XX:-UsePerfData", "-Djava.io.tmpdir="+t.TempDir(),
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", from.Classpath, "org.apache.zookeeper.ZooKeeperMain", "-timeout", "20000", "-server", e.list()))
	p.command("create /shell-0 data-0", "Created /shell-0")
	p.command("create -e /shell-session", "Created /shell-session")
	const disconnected = "WatchedEvent state:Disconnected type:None path:null"
	for !slices.Contains(p.said, disconnected) || e.kills < fewestKills(0) {
		e.killLeader()
		p.command(fmt.Sprintf("get /shell-%d", e.kills-1), fmt.Sprintf("data-%d", e.kills-1))
		// If the answer to the create was lost, the next try finds the node.
		p.command(fmt.Sprintf("create /shell-%d data-%[1]d", e.kills), fmt.Sprintf("Created /shell-%d", e.kills),
			fmt.Sprintf("Node already exists: /shell-%d", e.kills))
	}
	p.command("getEphemerals /shell-session", "[/shell-session]")
	p.write("quit")
	p.end()
	for _, line := range p.said {
		if strings.Contains(line, "Expired") {
			t.Errorf("the session was lost: %s", line)
		}
	}
	e.wantEqualMembers()
}

// command gives the shell a command, again if it lost its connection, until the answer begins with one of
// the prefixes.
func (p *talking) command(line string, prefixes ...string) {
	p.t.Helper()
	const loss = "KeeperErrorCode = ConnectionLoss"
	for p.write(line); strings.HasPrefix(p.await(append(prefixes, loss)...), loss); {
		p.write(line)
	}
}
