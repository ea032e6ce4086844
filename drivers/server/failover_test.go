package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// failoverTime limits each step of a program whose servers fail. Only a defect takes that long.
const failoverTime = 5 * time.Minute

// A Curator program holds a lock and acquires another one by two clients again and again, while leaders are
// killed until both clients have lost a connection. No session is lost, no lock ever has two holders, and no
// node of a lock is left.
func TestCuratorFailsOver(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startFailover(t)
	p := startTalking(t, compileCurator(t).command(t, "Failover", e.addresses(), "/contended", "/contended"))
	p.await("ready")
	for answer := ""; !strings.HasPrefix(answer, "suspended true true"); {
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
	t.Logf("%d leaders killed", e.kills)
}

// The program finds that a lock has two holders: here each client has a lock of its own.
func TestCuratorFindsTwoHolders(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startFailover(t)
	p := startTalking(t, compileCurator(t).command(t, "Failover", e.addresses(), "/one", "/another"))
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
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-cp", from.Classpath, "org.apache.zookeeper.ZooKeeperMain", "-timeout", "20000", "-server", e.addresses()))
	p.command("create /shell-0 data-0", "Created /shell-0")
	p.command("create -e /shell-session", "Created /shell-session")
	const disconnected = "WatchedEvent state:Disconnected type:None path:null"
	for !slices.Contains(p.said, disconnected) {
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
	t.Logf("%d leaders killed", e.kills)
}

// A failover is an ensemble whose leaders are killed.
type failover struct {
	t     *testing.T
	kills int
	drivers.Ensemble
}

func startFailover(t *testing.T) *failover {
	t.Helper()
	e := &failover{t: t, Ensemble: backendtest.Own(t, "native:?servers=3").(drivers.Ensemble)}
	e.leader("")
	return e
}

func (e *failover) addresses() string {
	var all []string
	for _, m := range e.Members() {
		all = append(all, m.Address())
	}
	return strings.Join(all, ",")
}

// leader waits for a leader other than a member.
func (e *failover) leader(but string) drivers.Member {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), failoverTime)
	defer cancel()
	for ctx.Err() == nil {
		for _, m := range e.Members() {
			if leads, err := m.Leads(ctx); err == nil && leads && m.Name() != but {
				return m
			}
		}
	}
	e.t.Fatal("no member leads")
	return nil
}

// killLeader kills the leader, waits for the next one, and starts the killed member again.
func (e *failover) killLeader() {
	e.t.Helper()
	killed := e.leader("")
	if err := killed.Kill(); err != nil {
		e.t.Fatal(err)
	}
	e.kills++
	e.leader(killed.Name())
	if err := killed.Restart(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// A talking program reads lines and writes lines.
type talking struct {
	t     *testing.T
	to    io.Writer
	lines chan string
	said  []string // all lines so far
	exit  func() error
}

func startTalking(t *testing.T, c *exec.Cmd) *talking {
	t.Helper()
	to, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = c.Stdout // where the shell writes some of its answers
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p := &talking{t: t, to: to, lines: make(chan string), exit: c.Wait}
	go func() {
		defer close(p.lines)
		for all := bufio.NewScanner(from); all.Scan(); {
			select {
			case p.lines <- all.Text():
			case <-t.Context().Done():
				return
			}
		}
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the program said:\n%s", strings.Join(p.said, "\n"))
		}
	})
	return p
}

func (p *talking) write(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.to, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// next returns the next line, or false at the end of the output.
func (p *talking) next(waited string) (line string, more bool) {
	p.t.Helper()
	select {
	case line, more = <-p.lines:
		if more {
			p.said = append(p.said, line)
		}
		return line, more
	case <-time.After(failoverTime):
		p.t.Fatalf("waited for %q", waited)
		return "", false
	}
}

// await returns the next line that begins with one of the prefixes.
func (p *talking) await(prefixes ...string) string {
	p.t.Helper()
	for {
		line, more := p.next(strings.Join(prefixes, `" or "`))
		if !more {
			p.t.Fatalf("the program ended before it said %q", prefixes)
		}
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(line, prefix) }) {
			return line
		}
	}
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

// end returns the rest of the lines, and waits until the program has ended without an error.
func (p *talking) end() (rest []string) {
	p.t.Helper()
	for {
		line, more := p.next("the program's end")
		if !more {
			break
		}
		rest = append(rest, line)
	}
	if err := p.exit(); err != nil {
		p.t.Error(err)
	}
	return rest
}
