package cluster_test

import (
	"context"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/cluster/reexec"
	"github.com/stampede-bench/stampede/drivers/etcd"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// several lists the URLs of three-server ensembles.
var several = []string{"etcd:?servers=3&durability=no-fsync", "zookeeper:?servers=3", "native:?servers=3"}

// One member leads, and sessions are on the members that they asked for. When the leader is killed,
// another leads and has its state.
func TestEnsemble(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, url := range several {
		t.Run(url, func(t *testing.T) {
			s, tmp := open(t, url)
			if got, want := s.Info().Started, "3 own processes"; got != want {
				t.Errorf("started: %q, want %q", got, want)
			}
			create(t, s, "/kept")
			first := leader(t, s)
			refused(t, first.Isolate(drivers.Both), "isolate member "+first.Name()+": the ensemble was not started to be divided")
			refused(t, first.Delay(time.Second), "delay member "+first.Name()+": the ensemble was not started to be divided")
			refused(t, first.Throttle(1), "throttle member "+first.Name()+": the ensemble was not started to be divided")
			refused(t, first.Restore(), "restore member "+first.Name()+": the ensemble was not started to be divided")
			if p := cluster.Proxy(first); p != "" || s.Divisible() {
				t.Errorf("its proxy is %q, divisible %t, want that it calls directly", p, s.Divisible())
			}
			for over, want := range map[string]map[string]int{
				"leader":    {first.Address(): 4},
				"followers": others(s, first),
			} {
				if got := placed(t, s, over); !maps.Equal(got, want) {
					t.Errorf("clients=%s: sessions at %v, want %v", over, got, want)
				}
			}
			if err := first.Kill(); err != nil {
				t.Fatal(err)
			}
			second := leader(t, s)
			if second.Name() == first.Name() {
				t.Errorf("member %s leads, which was killed", first.Name())
			}
			if !exists(t, s, "/kept") {
				t.Error("the new leader does not have what was there")
			}
			if err := first.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
			if third := leader(t, s, s.Members()...); third.Name() != second.Name() {
				t.Errorf("member %s leads when the first is back, want %s", third.Name(), second.Name())
			}
			if err := second.Stop(); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("close with a stopped leader: %v", err)
			}
			empty(t, tmp)
		})
	}
}

// leader waits until one member leads and at least as many members as in all have answered.
func leader(t *testing.T, s drivers.Ensemble, all ...drivers.Member) drivers.Member {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		var leader drivers.Member
		said := 0
		for _, m := range s.Members() {
			asking, giveUp := context.WithTimeout(ctx, askTime)
			leads, err := m.Leads(asking)
			giveUp()
			if err == nil {
				said++
			}
			if leads {
				leader = m
			}
		}
		if leader != nil && said >= len(all) {
			return leader
		}
	}
	t.Fatal("no member leads")
	return nil
}

// others returns the expected connections: two at each member except one.
func others(s drivers.Ensemble, but drivers.Member) map[string]int {
	two := map[string]int{}
	for _, m := range s.Members() {
		if m.Name() != but.Name() {
			two[m.Address()] = 2
		}
	}
	return two
}

// placed opens four sessions and returns the number of connections to each server.
func placed(t *testing.T, s drivers.Ensemble, over string) map[string]int {
	t.Helper()
	d := &dialer{open: map[string]int{}}
	given := at(t, s, over, d, s.Members()...)
	for range 4 {
		defer dial(t, given).Close()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.open)
}

// at returns the service with the addresses of some members.
func at(t *testing.T, s drivers.Ensemble, over string, d *dialer, some ...drivers.Member) (given drivers.Service) {
	t.Helper()
	var servers []string
	for _, m := range some {
		servers = append(servers, m.Address())
	}
	var err error
	if s.Info().Name == "etcd" {
		given, err = etcd.New(etcd.Config{Endpoints: servers, Clients: over, Dial: d.dial})
	} else {
		given, err = zookeeper.New(zookeeper.Config{Servers: servers, Clients: over, Dial: d.dial})
	}
	if err != nil {
		t.Fatal(err)
	}
	return given
}

// A dialer counts the open connections by address.
type dialer struct {
	mu   sync.Mutex
	open map[string]int
}

func (d *dialer) dial(ctx context.Context, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	d.count(address, 1)
	return &counted{Conn: c, closed: sync.OnceFunc(func() { d.count(address, -1) })}, nil
}

func (d *dialer) count(address string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[address] += n; d.open[address] == 0 {
		delete(d.open, address)
	}
}

type counted struct {
	net.Conn
	closed func()
}

func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}

// A run is killed with SIGKILL while one of its servers is stopped.
func TestNothingOutlivesAKilledRun(t *testing.T) {
	testenv.SkipIfShort(t)
	for _, url := range append([]string{"native:", "native:?durability=fsync"}, several...) {
		t.Run(url, func(t *testing.T) {
			need(t, url)
			tmp, pipe := t.TempDir(), filepath.Join(t.TempDir(), "alive")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", tmp)
			t.Setenv(aliveVariable, pipe)
			gone := make(chan error, 1)
			go func() {
				_, err := os.ReadFile(pipe) // returns when no process holds it open
				gone <- err
			}()
			run, err := reexec.Start(t.Context(), "run", url)
			if err != nil {
				t.Fatal(err)
			}
			servers := strings.Fields(strings.TrimPrefix(run.Addr(), "open"))
			syscall.Kill(run.PID(), syscall.SIGKILL)
			<-run.Done()
			if err := <-gone; err != nil {
				t.Fatal(err)
			}
			for _, pid := range servers {
				awaitEnd(t, pid)
			}
			empty(t, tmp)
		})
	}
}

// awaitEnd waits until a process is gone, which is after it has closed its files. The process that
// inherits it may leave it in state Z for a while.
func awaitEnd(t *testing.T, pid string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(text), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("server %s is still there", pid)
		}
	}
}
