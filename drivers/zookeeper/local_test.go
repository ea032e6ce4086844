package zookeeper

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// requireLocal skips where no server can be started, unless it must be.
func requireLocal(t testing.TB) {
	t.Helper()
	if _, err := FindInstallation(); err != nil {
		if os.Getenv("REQUIRE_BACKENDS") == "all" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func TestRunLocal(t *testing.T) {
	requireLocal(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	addr := make(chan string, 1)
	ended := make(chan error, 1)
	go func() { ended <- RunLocal(ctx, func(a string) { addr <- a }) }()
	select {
	case a := <-addr:
		looksServing(t, a)
	case err := <-ended:
		t.Fatalf("ended before it was ready: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
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
	s, err := New(Config{Servers: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
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

// A server that cannot listen says so in its log, and the port is found taken.
func TestRunMeetsATakenPort(t *testing.T) {
	requireLocal(t)
	from, err := FindInstallation()
	if err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	go answerNobody(taken)
	dir := t.TempDir()
	err = runAt(t.Context(), from, dir, taken.Addr().String(), func(string) {
		t.Error("ready, though somebody else has the port")
	})
	if !errors.Is(err, errPortTaken) {
		t.Errorf("got %v, want %v", err, errPortTaken)
	}
	if got := lastWords(filepath.Join(dir, logName)); !strings.Contains(got, "BindException") {
		t.Errorf("last words %q, want the BindException", got)
	}
}

// answerNobody lets clients connect and closes on them.
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
	go func() { // another server, of whom we ask twice
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
	if serving(ctx, l.Addr().String(), "/tmp/ours") {
		t.Error("took another server for its own")
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
