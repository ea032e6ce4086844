package backends_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/cluster/clustertest"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/bubble"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) {
	clustertest.Dispatch(nil)
	os.Exit(m.Run())
}

// startable returns the URLs of the backends that can be started here.
func startable(t *testing.T) []string {
	t.Helper()
	if _, err := zookeeper.FindInstallation(); err != nil {
		if os.Getenv("REQUIRE_BACKENDS") == "all" {
			t.Fatal(err)
		}
		t.Log(err)
		return []string{"native:"}
	}
	return []string{"native:", "zookeeper:"}
}

func open(t *testing.T, url string) drivers.Service {
	t.Helper()
	clustertest.Use()
	target, err := backends.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := target.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStartedService(t *testing.T) {
	durability := map[string]string{"native": "memory", "zookeeper": "fsync"}
	for _, url := range startable(t) {
		t.Run(url, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			url += "?session-timeout=2s"
			s := open(t, url)
			createOne(t, s)
			name, _, _ := strings.Cut(url, ":")
			want := drivers.Info{Name: name, URL: url, Durability: durability[name], Reads: "local", Started: "own process", Servers: 1}
			got := s.Info()
			if !strings.Contains(got.Server, "ZooKeeper 3.") || got.Client == "" {
				t.Errorf("server %q, client %q: want to know both", got.Server, got.Client)
			}
			got.Server, got.Client = "", ""
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if _, ok := s.(drivers.ServerStats); !ok {
				t.Error("the server's own count is out of reach")
			}
			for range 2 {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
		})
	}
}

// A native server that the run starts can speak TLS, and then speaks nothing else. Its certificate
// is removed with it.
func TestNativeOverTLS(t *testing.T) {
	for _, client := range []string{"go-zookeeper", "lean"} {
		t.Run(client, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			s := open(t, "native:?tls=true&client="+client)
			createOne(t, s)
			if _, err := s.(drivers.ServerStats).Counters(t.Context()); err != nil {
				t.Error(err)
			}
			members := s.(drivers.Ensemble).Members()
			if leads, err := members[0].Leads(t.Context()); !leads || err != nil {
				t.Errorf("leads: %v, %v", leads, err)
			}
			plain, err := net.Dial("tcp", members[0].Address())
			if err != nil {
				t.Fatal(err)
			}
			defer plain.Close()
			// A TLS record begins with 5 bytes: the server would wait for the fifth if it were sent the word alone.
			if _, err := plain.Write([]byte("ruok\x00\x00\x00\x00")); err != nil {
				t.Fatal(err)
			}
			if answer, _ := io.ReadAll(plain); strings.Contains(string(answer), "imok") {
				t.Errorf("without TLS: %q", answer)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
		})
	}
}

// A native server that the run starts can keep its changes on disk, and its Info says so.
func TestNativeOnDisk(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s := open(t, "native:?durability=fsync")
	createOne(t, s)
	if got := s.Info().Durability; got != "fsync" {
		t.Errorf("durability %q", got)
	}
	if logs, _ := filepath.Glob(tmp + "/stampede-native-*/1/log-*"); len(logs) != 1 {
		t.Errorf("logs: %v, want one", logs)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func createOne(t *testing.T, s drivers.Service) {
	t.Helper()
	c, err := s.Dial(t.Context(), drivers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Create(t.Context(), "/one", nil, 0)
	if err != nil || got.Name != "one" {
		t.Fatalf("created %+v (%v), want one", got, err)
	}
}

// The URL's session time-out applies to sessions that ask for none: the request that opens them
// carries it.
func TestSessionTimeoutOfTheURL(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan int32, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			defer c.Close()
			asked <- connectTimeout(c)
		}
	}()
	s := open(t, "zookeeper://"+l.Addr().String()+"?session-timeout=7s")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if c, err := s.Dial(ctx, drivers.Options{}); err == nil {
			c.Close()
			t.Error("dialed a server that answers nothing")
		}
	}()
	if ms := <-asked; ms != 7000 {
		t.Errorf("the session asked for %d ms, want 7000", ms)
	}
	cancel()
	<-ended
}

// connectTimeout reads the time-out, in milliseconds, from the packet that opens a session.
func connectTimeout(c net.Conn) int32 {
	packet := make([]byte, 20) // length, protocol, last zxid, time-out
	if _, err := io.ReadFull(c, packet); err != nil {
		return -1
	}
	d := wire.NewDecoder(packet[16:])
	return d.Int()
}

func TestUnreachableServiceIsNamed(t *testing.T) {
	addr := testenv.Address(t)
	s := open(t, "zookeeper://"+addr)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.Dial(ctx, drivers.Options{}); err == nil || !strings.Contains(err.Error(), addr) {
		t.Errorf("got %v, want an error that names %s", err, addr)
	}
}

func TestInProcess(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, err := backends.InProcess()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		createOne(t, s)
		got := s.Info()
		want := drivers.Info{Name: "native", URL: "native:", Server: got.Server, Client: got.Client,
			Durability: "memory", Reads: "local", Started: "in process", Servers: 1}
		if got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	})
}

func TestStartErrorSaysWhatToDo(t *testing.T) {
	t.Setenv("ZOOKEEPER_HOME", t.TempDir())
	target, err := backends.Parse("zookeeper:")
	if err != nil {
		t.Fatal(err)
	}
	_, err = target.Open(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "start zookeeper: ZooKeeper is not installed in ZOOKEEPER_HOME=") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line about ZOOKEEPER_HOME", err)
	}
}
