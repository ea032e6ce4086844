package zookeeper

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// requireLocal skips the test if no server can be started, or fails it if
// REQUIRE_BACKENDS=all.
func requireLocal(t testing.TB) {
	t.Helper()
	if _, err := FindInstallation(); err != nil {
		if os.Getenv("REQUIRE_BACKENDS") == "all" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func TestLocalServer(t *testing.T) {
	testenv.SkipIfShort(t)
	requireLocal(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	e, err := cluster.Start(t.Context(), Kind(), cluster.Plan{Servers: 1})
	if err != nil {
		t.Fatal(err)
	}
	looksServing(t, e.Addresses()[0])
	if err := e.Close(); err != nil {
		t.Errorf("at the end: %v", err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) != 0 {
		t.Errorf("left in the temporary directory: %v (%v), want nothing", left, err)
	}
}

func looksServing(t *testing.T, addr string) {
	t.Helper()
	if host, _, err := net.SplitHostPort(addr); err != nil || host != "127.0.0.1" {
		t.Errorf("serves at %s (%v), want the loopback interface only", addr, err)
	}
	s := serviceOf(t, Config{Servers: []string{addr}})
	conf, err := s.Word(t.Context(), addr, "conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"maxClientCnxns=0", "minSessionTimeout=500", "maxSessionTimeout=120000"} {
		if !strings.Contains(conf, want) {
			t.Errorf("conf lacks %s:\n%s", want, conf)
		}
	}
}

// A server that cannot listen reports that in its log, and another server on its port is not
// mistaken for it.
func TestMemberMeetsATakenPort(t *testing.T) {
	requireLocal(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	go answerNobody(taken)
	place := alone(t, taken.Addr().String())
	serving, giveUp := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serves(serving, place) }()
	err = RunMember(t.Context(), place, func(string) {})
	if err == nil || !strings.HasPrefix(err.Error(), "ZooKeeper ended (exit status 1): ") || !strings.Contains(err.Error(), "BindException") {
		t.Errorf("got %v, want that it ended, and the BindException", err)
	}
	giveUp()
	if err := <-served; !errors.Is(err, context.Canceled) {
		t.Errorf("it serves, says %v, though another process has the port", err)
	}
}

// The JVM dies when the process between this one and the JVM is killed.
func TestJVMGoesWithItsReaper(t *testing.T) {
	testenv.SkipIfShort(t)
	requireLocal(t)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ties a process to its parent")
	}
	address, err := reexec.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	place := alone(t, address)
	text, err := json.Marshal(place)
	if err != nil {
		t.Fatal(err)
	}
	reaper, err := reexec.Start(t.Context(), "zookeeper", string(text))
	if err != nil {
		t.Fatal(err)
	}
	defer reaper.Stop()
	if err := Serves(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	syscall.Kill(reaper.PID(), syscall.SIGKILL)
	// The connection ends when the JVM does.
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ended with %v, want that the server is gone", err)
	}
}

// alone returns the place of a standalone server.
func alone(t *testing.T, address string) cluster.Place {
	return cluster.Place{Number: 1, Members: []cluster.Addresses{{Clients: address}}, Dir: t.TempDir()}
}

// answerNobody accepts connections and closes them.
func answerNobody(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		c.Close()
	}
}

func TestServingIsNotFooledByAStranger(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // another server, which is asked twice
		for range 2 {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "clientPort=2181\ndataDir=/var/lib/zookeeper/version-2\n")
			c.Close()
		}
		cancel()
	}()
	if err := Serves(ctx, alone(t, l.Addr().String())); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: took another server for its own", err)
	}
}

func TestFindJars(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := findJars(home); !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), home) {
		t.Errorf("empty ZOOKEEPER_HOME: %v, want ErrNotInstalled with the folder", err)
	}
	var want []string
	for _, name := range []string{"lib/jute-3.9.jar", "lib/zookeeper-3.9.jar"} {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	got, err := findJars(home)
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("jars %v (%v), want %v", got, err, want)
	}
}

func TestWhatToInstall(t *testing.T) {
	_, err := debian(t.TempDir())
	if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "apt-get install") {
		t.Errorf("no packages: %v, want the command that installs them", err)
	}
	_, err = findJava(t.TempDir())
	if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "apt-get install") {
		t.Errorf("no java: %v, want the command that installs it", err)
	}
}
