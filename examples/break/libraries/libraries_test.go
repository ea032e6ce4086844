package libraries

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers/backends"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// TestMain lets all programs run at the same time: they wait for most of it.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "16")
	backendtest.Main(m)
}

// A program is one to break.
type program struct {
	name    string
	backend string
	command func(t *testing.T) []string // ends the test if the library is missing
	nodes   []string                    // that it registers, with sessions
	watched string                      // a node that it follows
}

const (
	native = "native:"
	etcd   = "etcd:"
	config = "/app/config"
)

var programs = []program{
	{"kazoo", native, python("kazoo", "python3-kazoo", "kazoo_member.py", "4"), []string{"/app/members/kazoo"}, config},
	{"Curator", native, curator, []string{"/app/members/curator"}, config},
	{"go-zookeeper", native, golang("./go-zookeeper", "4"), []string{"/app/members/go-zookeeper"}, config},
	{"node-zookeeper-client", native, node, []string{"/app/members/node"}, config},
	{"Patroni", native, python("patroni", "patroni", "patroni_members.py", "10"), []string{"/service/demo/leader", "/service/demo/members/n0", "/service/demo/members/n1"},
		"/service/demo/members"},
	{"etcd client", etcd, golang("./etcd-client", "4"), []string{"/app/members/etcd-client"}, config},
	{"etcd session", etcd, golang("./etcd-session", "4"), []string{"/app/leader/#", "/app/members/etcd-session"}, config},
	{"planted", native, golang("../planted", "--sessions", "2", "--for", "4s"), []string{"/app/members/0", "/app/members/1"}, config},
}

// TestProgramsRegisterAndFollow runs each program, and the planted ones, under stampede observe without a fault: it
// ends with code 0, and while it runs the service has its nodes, bound to sessions.
func TestProgramsRegisterAndFollow(t *testing.T) {
	testenv.SkipIfShort(t)
	stampede := build(t, "../../../cmd/stampede")
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel() // each waits most of the time
			command := p.command(t)
			service := start(t, p.backend)
			watch := watchZooKeeper
			if p.backend == etcd {
				watch = watchEtcd
			}
			ctx, stop := context.WithCancel(t.Context())
			registered := watch(ctx, t, service.Host, p.nodes)
			result := filepath.Join(t.TempDir(), "observation.json")
			observe := exec.CommandContext(ctx, stampede, append([]string{"observe", "--no-save", "--backend", service.String(), "-o", "json=" + result,
				"--env", "ZK_CONNECT={address}", "--"}, command...)...)
			out, err := observe.CombinedOutput()
			if err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
			stop()
			if got := registered(); !slices.Equal(got, p.nodes) {
				t.Errorf("registered %q, want %q:\n%s", got, p.nodes, out)
			}
			if n := watchesArmed(t, result)[p.watched]; n == 0 {
				t.Errorf("did not watch %s", p.watched)
			}
		})
	}
}

func TestTheChecksCanFail(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	registered := watchZooKeeper(ctx, t, backendtest.Native(t, server.Options{}), []string{"/other/member"})
	stop()
	if got := registered(); len(got) > 0 {
		t.Errorf("registered %q, want nothing", got)
	}
}

// start returns the URL of a backend that was started for the tests of this package.
func start(t *testing.T, backend string) *url.URL {
	t.Helper()
	address, err := backends.Address(backendtest.Own(t, backend))
	if err != nil {
		t.Fatal(err)
	}
	service, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// watchZooKeeper begins to watch for nodes that belong to sessions. The function that it returns waits for the end of the context,
// and has those that were there.
func watchZooKeeper(ctx context.Context, t *testing.T, address string, nodes []string) func() []string {
	conn, _, err := zk.Connect([]string{address}, 20*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	var seen found
	for _, path := range nodes {
		seen.tasks.Go(func() {
			for {
				exists, stat, changed, err := conn.ExistsW(path)
				if err != nil {
					t.Error(err)
					return
				}
				if exists && stat.EphemeralOwner != 0 {
					seen.add(path)
					return
				}
				select {
				case <-changed:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return seen.all
}

// watchEtcd is watchZooKeeper for keys with leases; the last part of a key that is the lease's number is written as #.
func watchEtcd(ctx context.Context, t *testing.T, address string, nodes []string) func() []string {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	now, err := client.Get(ctx, "/")
	if err != nil {
		t.Fatal(err)
	}
	var seen found
	seen.tasks.Go(func() {
		for changes := range client.Watch(ctx, "/app/", clientv3.WithPrefix(), clientv3.WithRev(now.Header.Revision+1)) {
			for _, e := range changes.Events {
				path := strings.Replace(string(e.Kv.Key), fmt.Sprintf("/%x", e.Kv.Lease), "/#", 1)
				if e.Type == clientv3.EventTypePut && e.Kv.Lease != 0 && slices.Contains(nodes, path) {
					seen.add(path)
				}
			}
		}
	})
	return seen.all
}

// found has the paths that several goroutines find.
type found struct {
	tasks sync.WaitGroup
	mu    sync.Mutex
	paths []string
}

func (f *found) add(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paths = append(f.paths, path)
}

// all returns the paths in order when all goroutines have ended.
func (f *found) all() []string {
	f.tasks.Wait()
	slices.Sort(f.paths)
	return slices.Compact(f.paths)
}

// watchesArmed returns how many watches the program armed, by path.
func watchesArmed(t *testing.T, result string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Observed struct {
			Places []struct {
				Path         string
				WatchesArmed int `json:"watches_armed"`
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	armed := map[string]int{}
	for _, p := range file.Observed.Places {
		armed[p.Path] = p.WatchesArmed
	}
	return armed
}

// build builds a program of this module.
func build(t *testing.T, folder string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(folder))
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func golang(folder string, arguments ...string) func(*testing.T) []string {
	return func(t *testing.T) []string { return append([]string{build(t, folder)}, arguments...) }
}

// python returns the command of a program that needs a module; only the system's own Python may have it.
func python(module, debian string, program ...string) func(*testing.T) []string {
	return func(t *testing.T) []string {
		return append([]string{backendtest.Python(t, module, debian)}, program...)
	}
}

func curator(t *testing.T) []string {
	java, classpath := backendtest.Curator(t)
	return []string{java, "-XX:-UsePerfData", "-cp", classpath, "CuratorMember.java", "4"}
}

func node(t *testing.T) []string {
	if _, err := os.Stat("node/node_modules/node-zookeeper-client"); errors.Is(err, fs.ErrNotExist) {
		backendtest.Lacking(t, errors.New("node-zookeeper-client is not installed: npm ci in examples/break/libraries/node"))
	}
	return []string{"node", "node/member.js", "4"}
}
