package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// failoverTime limits each step of a program whose servers fail. Only a defect takes that long.
const failoverTime = 5 * time.Minute

// A failover is an ensemble whose leaders are killed.
type failover struct {
	t     *testing.T
	kills int
	drivers.Ensemble
}

// startFailover starts three native servers, or with SERVER=zookeeper three Apache ZooKeepers.
func startFailover(t *testing.T) *failover {
	t.Helper()
	testenv.SkipIfShort(t)
	url := "native:?servers=3"
	if os.Getenv("SERVER") == "zookeeper" {
		url = "zookeeper:?servers=3"
	}
	e := &failover{t: t, Ensemble: backendtest.Own(t, url).(drivers.Ensemble)}
	e.leader("")
	return e
}

// fewestKills is how many leaders a test kills at least: KILLS says how many.
func fewestKills(otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		return n
	}
	return otherwise
}

func (e *failover) addresses() (all []string) {
	for _, m := range e.Members() {
		all = append(all, m.Address())
	}
	return all
}

// list is the argument that programs take.
func (e *failover) list() string { return strings.Join(e.addresses(), ",") }

func connectTo(t *testing.T, addresses ...string) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect(addresses, 30*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
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

// killWhile kills so many leaders while a program works, which says after each that it has recovered.
func (e *failover) killWhile(p *talking, kills int) {
	e.t.Helper()
	p.await("ready")
	for e.kills < kills {
		e.killLeader()
		p.write("killed")
		p.await("recovered")
	}
	p.write("end")
}

// wantEqualMembers waits until all members have the same nodes, with the same data and the same Stat: a
// session that its program has left may still end.
func (e *failover) wantEqualMembers() {
	e.t.Helper()
	e.leader("")
	var nodes int
	var diff string
	defer func() {
		if diff != "" {
			e.t.Log("other nodes than the first member's (-first +other):", diff)
		}
	}()
	e.until("all members have the same nodes", func() bool {
		nodes, diff = compareNodes(e.t, e.addresses()...)
		return diff == ""
	})
	e.t.Logf("%d leaders killed; each member has the same %d nodes", e.kills, nodes)
}

// until waits until the condition holds.
func (e *failover) until(condition string, holds func() bool) {
	e.t.Helper()
	for since := time.Now(); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(since) > failoverTime {
			e.t.Fatalf("after %d killed leaders it does not come to this: %s", e.kills, condition)
		}
	}
}

// compareNodes returns the number of nodes of the first server, and what others have instead of them.
func compareNodes(t *testing.T, addresses ...string) (nodes int, diff string) {
	t.Helper()
	var first map[string]string
	for _, address := range addresses {
		conn := connectTo(t, address)
		all := map[string]string{}
		_, err := conn.Sync("/")
		if err == nil {
			err = readAll(conn, "/", all)
		}
		conn.Close()
		if err != nil {
			return 0, address + ": " + err.Error()
		}
		if first == nil {
			first = all
		}
		diff += cmp.Diff(first, all)
	}
	return len(first), diff
}

// readAll reads a node and all below it, without those of the server itself.
func readAll(conn *zk.Conn, path string, into map[string]string) error {
	data, stat, err := conn.Get(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	names, _, err := conn.Children(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	into[path] = fmt.Sprintf("%q %+v", data, *stat)
	for _, name := range names {
		if child := strings.TrimSuffix(path, "/") + "/" + name; child != "/zookeeper" {
			if err := readAll(conn, child, into); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestCompareNodes(t *testing.T) {
	one, other := backendtest.Native(t, server.Options{}), backendtest.Native(t, server.Options{})
	if nodes, diff := compareNodes(t, one, other); nodes != 1 || diff != "" {
		t.Errorf("%d nodes, difference %s", nodes, diff)
	}
	for _, address := range []string{one, other} {
		if _, err := connectTo(t, address).Create("/a", []byte(address), 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	if nodes, diff := compareNodes(t, one, other); nodes != 2 || !strings.Contains(diff, "/a") {
		t.Errorf("%d nodes, difference %s", nodes, diff)
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
