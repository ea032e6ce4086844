package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/cmd/stampede/cli"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// patience is how long tests wait for a command or a server. Only a defect takes that long, not a
// busy machine.
const patience = 10 * time.Minute

// A servedEnsemble is three members, each a process.
type servedEnsemble struct {
	t       *testing.T
	dir     string
	peers   string
	clients []string // addresses
	members []*exec.Cmd
	// flags returns how a member reaches the others and how they authenticate each other.
	flags func(i int) []string
	// complaints takes the standard error of all members; nil drops it.
	complaints io.Writer
}

// startEnsemble starts an ensemble and waits until it has a leader.
func startEnsemble(t *testing.T) *servedEnsemble {
	t.Helper()
	e := newServedEnsemble(t)
	e.startAll()
	return e
}

// newServedEnsemble returns an ensemble whose members share a secret. None is started.
func newServedEnsemble(t *testing.T) *servedEnsemble {
	t.Helper()
	e := &servedEnsemble{t: t, dir: t.TempDir(), members: make([]*exec.Cmd, 3)}
	if err := os.WriteFile(filepath.Join(e.dir, "secret"), bytes.Repeat([]byte("x"), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	var peers []string
	for i := range e.members {
		e.clients = append(e.clients, testenv.Address(t))
		peers = append(peers, fmt.Sprintf("%d=%s", i+1, testenv.Address(t)))
	}
	e.peers = strings.Join(peers, ",")
	e.flags = func(int) []string {
		return []string{"--peers", e.peers, "--peer-secret-file", filepath.Join(e.dir, "secret")}
	}
	return e
}

// startAll starts all members and waits until they have a leader.
func (e *servedEnsemble) startAll() {
	e.t.Helper()
	for i := range e.members {
		e.start(i)
	}
	e.leader()
}

func (e *servedEnsemble) start(i int) {
	e.t.Helper()
	e.members[i], _ = startServeTelling(e.t, e.complaints, e.clients[i],
		append(e.flags(i), "--id", strconv.Itoa(i+1), "--data-dir", e.data(i))...)
}

func (e *servedEnsemble) data(i int) string { return filepath.Join(e.dir, strconv.Itoa(i+1)) }

func (e *servedEnsemble) kill(i int) {
	e.t.Helper()
	if err := e.members[i].Process.Kill(); err != nil {
		e.t.Fatal(err)
	}
	e.members[i].Wait()
	e.members[i] = nil
}

// leader waits for a leader that serves.
func (e *servedEnsemble) leader() int {
	e.t.Helper()
	return e.await("a leader", func(i int) bool { return strings.Contains(e.ask(i, "srvr"), "Mode: leader") })
}

// await waits until something is so at a member, and returns the member.
func (e *servedEnsemble) await(what string, so func(i int) bool) int {
	e.t.Helper()
	for since := time.Now(); time.Since(since) < patience; {
		for i, m := range e.members {
			if m != nil && so(i) {
				return i
			}
		}
	}
	e.t.Fatalf("no member has %s", what)
	return 0
}

func (e *servedEnsemble) ask(i int, word string) string {
	c, err := net.Dial("tcp", e.clients[i])
	if err != nil {
		return ""
	}
	defer c.Close()
	c.Write([]byte(word))
	var b bytes.Buffer
	b.ReadFrom(c)
	return b.String()
}

var applied = regexp.MustCompile(`zk_raft_applied\t(\d+)`)

func (e *servedEnsemble) applied(i int) int {
	found := applied.FindStringSubmatch(e.ask(i, "mntr"))
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// A member that starts with an empty directory gets everything, and keeps it when the others are
// killed.
func TestEnsembleFillsAnEmptyMember(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startEnsemble(t)
	conn := dialZK(t, strings.Join(e.clients, ","))
	for i := range 500 {
		path := fmt.Sprintf("/n%d", i)
		for {
			if _, err := conn.Create(path, make([]byte, 1000), 0, zk.WorldACL(zk.PermAll)); err == nil || err == zk.ErrNodeExists {
				break
			}
		}
		if i%250 == 249 {
			leader := e.leader()
			for _, m := range []int{leader, (leader + 1) % 3} {
				e.kill(m)
				if err := os.RemoveAll(e.data(m)); err != nil {
					t.Fatal(err)
				}
				e.start(m)
				want := e.applied(e.leader())
				e.await("all entries", func(i int) bool { return i == m && e.applied(i) >= want })
			}
		}
	}
	for i := range e.clients {
		one := dialZK(t, e.clients[i])
		children, _, err := one.Children("/")
		for since := time.Now(); isCut(err) && time.Since(since) < patience; {
			children, _, err = one.Children("/")
		}
		if err != nil || len(children) != 501 {
			t.Errorf("member %d has %d nodes, %v; want 501", i+1, len(children), err)
		}
	}
}

// A member that was away for longer than the leader keeps entries gets a snapshot.
func TestEnsembleSendsASnapshot(t *testing.T) {
	testenv.SkipIfShort(t)
	e := startEnsemble(t)
	conn := dialZK(t, strings.Join(e.clients, ","))
	away := (e.leader() + 1) % 3
	e.kill(away)
	const size = 1000 << 10
	for i := range 90 { // 90 MB: a member saves a snapshot at 64 MiB and then keeps the last 16 MiB before it
		path := fmt.Sprintf("/n%d", i%3)
		for {
			_, err := conn.Set(path, make([]byte, size), -1)
			if err == zk.ErrNoNode {
				_, err = conn.Create(path, make([]byte, size), 0, zk.WorldACL(zk.PermAll))
			}
			if err == nil {
				break
			}
			if !isCut(err) && err != zk.ErrNodeExists {
				t.Fatal(err)
			}
		}
	}
	e.await("a snapshot", func(i int) bool { return i == e.leader() && len(e.snapshots(i)) > 0 })
	want := e.applied(e.leader())
	if len(e.snapshots(away)) > 0 {
		t.Fatal("the member has a snapshot before it starts")
	}
	e.start(away)
	e.await("all entries", func(i int) bool { return i == away && e.applied(i) >= want })
	if len(e.snapshots(away)) == 0 { // the entries behind it are too few for one of its own
		t.Error("the member has no snapshot")
	}
	one := dialZK(t, e.clients[away])
	data, _, err := one.Get("/n2")
	for since := time.Now(); isCut(err) && time.Since(since) < patience; {
		data, _, err = one.Get("/n2")
	}
	if err != nil || len(data) != size {
		t.Errorf("/n2 has %d bytes, %v", len(data), err)
	}
}

// snapshots returns the files of a member's snapshots.
func (e *servedEnsemble) snapshots(i int) []string {
	files, err := filepath.Glob(filepath.Join(e.data(i), "snapshot-*"))
	if err != nil {
		e.t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, ".unfinished") })
}

// Wrong settings are refused with one line, before anything is made.
func TestServeEnsembleRefusesWrongSettings(t *testing.T) {
	dir := t.TempDir()
	short := filepath.Join(dir, "short")
	if err := os.WriteFile(short, []byte("too short"), 0o600); err != nil {
		t.Fatal(err)
	}
	const three = "1=a:1,2=b:1,3=c:1"
	for _, c := range []struct{ flags, want string }{
		{"--id 1", "--id: name all members of the ensemble with --peers"},
		{"--peers " + three + " --data-dir DIR", "--peers: say which of the members this one is with --id: 1, 2, 3"},
		{"--id 4 --peers " + three + " --data-dir DIR", "--id 4: must be one of --peers: 1, 2, 3"},
		{"--id 1 --peers " + three, "--peers: say where the member keeps its log with --data-dir"},
		{"--id 1 --peers 1=a:1,2=b:1 --data-dir DIR", "2 members: must be an odd number, at least 3"},
		{"--id 1 --peers 1=a:1,2=b:1,3=a:1 --data-dir DIR", "member 3 and a:1: numbers and addresses must differ"},
		{"--id 1 --peers 1=a:1,2=b,3=c:1 --data-dir DIR", `member 2: "b" is not a host and a port such as host:2888`},
		{"--id 1 --peers a:1,b:1,c:1 --data-dir DIR", `"a:1" is not a member such as 1=host:2888, with a number from 1 to 127`},
		{"--id 1 --peers " + three + " --data-dir DIR --peer-secret-file DIR/none", "--peer-secret-file: open DIR/none: no such file"},
		{"--id 1 --peers " + three + " --data-dir DIR --peer-secret-file DIR/short", "9 bytes: must be at least 16"},
		{"--id 1 --peers " + three + " --data-dir DIR --peer-cert x --peer-key x", "with --peer-ca"},
		{"--id 1 --peers " + three + " --data-dir DIR --peer-secret-file DIR/short --peer-ca x", "members use one of the two"},
	} {
		t.Run(c.flags, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(c.flags, "DIR", dir))
			cmd := exec.CommandContext(t.Context(), "stampede", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			cmd.Run()
			said := stderr.String()
			if code := cmd.ProcessState.ExitCode(); code != cli.ExitUsage || !strings.Contains(said, strings.ReplaceAll(c.want, "DIR", dir)) {
				t.Errorf("exit code %d and %q, want %d and %q", code, said, cli.ExitUsage, c.want)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// isCut reports whether the connection was lost. The client returns what the socket says if that happens while it
// writes the request.
func isCut(err error) bool {
	var socket *net.OpError
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.As(err, &socket)
}

type mute struct{}

func (mute) Printf(string, ...any) {}

func dialZK(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect(strings.Split(addr, ","), 30*time.Second, zk.WithLogger(mute{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
