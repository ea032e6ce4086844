package observe_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/metrics/client"
	"github.com/stampede-bench/stampede/metrics/observe"
)

// asProgram is set in a process of the tests that is a program which uses a service. It has a [program] as
// JSON.
const asProgram = "STAMPEDE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if text := os.Getenv(asProgram); text != "" {
		var p program
		err := json.Unmarshal([]byte(text), &p)
		if err == nil {
			err = p.run(context.Background())
		}
		if err != nil {
			panic(err)
		}
		return
	}
	backendtest.Main(m)
}

// A program opens connections to an address, sends requests by each, and says so. It leaves them open until
// its standard input ends.
type program struct {
	Kind, Address     string
	Connections, Each int // each sends so many reads
}

// done is what a program says of itself.
type done struct{ Connections, Requests int64 }

func (p program) run(ctx context.Context) error {
	d, err := map[string]func(context.Context) (done, error){
		"zookeeper": p.zooKeeper, "etcd": p.etcd, "gateway": p.gateway,
	}[p.Kind](ctx)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(d)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	return err
}

func (p program) zooKeeper(context.Context) (d done, err error) {
	for range p.Connections {
		c, _, err := zk.Connect([]string{p.Address}, time.Minute, zk.WithLogInfo(false))
		if err != nil {
			return d, err
		}
		d.Connections++
		for range p.Each {
			if _, _, err := c.Exists("/asked"); err != nil {
				return d, err
			}
			d.Requests++
		}
	}
	return d, nil
}

// etcd has one client for each connection. Each watches the same key.
func (p program) etcd(ctx context.Context) (d done, err error) {
	for i := range p.Connections {
		c, err := clientv3.New(clientv3.Config{
			Endpoints: []string{p.Address}, DialTimeout: time.Minute, Logger: zap.NewNop(),
		})
		if err != nil {
			return d, err
		}
		d.Connections++
		if i%2 == 0 { // some clients have a lease
			if _, err := c.Grant(ctx, 60); err != nil {
				return d, err
			}
			d.Requests++
		}
		if !(<-c.Watch(ctx, "/asked", clientv3.WithCreatedNotify())).Created {
			return d, fmt.Errorf("the watch was not confirmed")
		}
		d.Requests++
		for range p.Each {
			if _, err := c.Get(ctx, "/asked"); err != nil {
				return d, err
			}
			d.Requests++
		}
	}
	return d, nil
}

// gateway is one client, with a lease, a connection that watches, and others for what it asks.
func (p program) gateway(ctx context.Context) (d done, err error) {
	call := func(c *http.Client, path, body string) (io.ReadCloser, error) {
		url := "http://" + p.Address + "/v3/" + path
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		d.Requests++
		answer, err := c.Do(r)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s: %s", path, answer.Status)
		}
		return answer.Body, nil
	}
	connection := func() *http.Client {
		d.Connections++
		return &http.Client{Transport: new(http.Transport)}
	}
	watch, err := call(connection(), "watch", `{"create_request":{"key":"L2Fza2Vk"}}`) // /asked
	if err != nil {
		return d, err
	}
	if err := json.NewDecoder(watch).Decode(new(any)); err != nil { // it is confirmed
		return d, err
	}
	var lease struct{ ID string }
	for i := range p.Connections - 1 {
		c := connection()
		ask := func(path, body string, into any) error {
			answer, err := call(c, path, body)
			if err != nil {
				return err
			}
			defer answer.Close()
			return json.NewDecoder(answer).Decode(into)
		}
		if i == 0 {
			if err := ask("lease/grant", `{"TTL":60}`, &lease); err != nil {
				return d, err
			}
		}
		for range p.Each {
			put := fmt.Sprintf(`{"key":"L293bg==","lease":%q}`, lease.ID) // /own
			if err := ask("kv/put", put, new(any)); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

// ownedAnalysis counts the connections whose process was found.
type ownedAnalysis struct {
	*observe.Analysis
	owned chan struct{}
}

func (o ownedAnalysis) Open(c traffic.Connection) traffic.Tap {
	return ownedTap{o.Analysis.Open(c), o.owned}
}

type ownedTap struct {
	traffic.Tap
	owned chan struct{}
}

func (t ownedTap) Owner(p traffic.Process) {
	t.Tap.Owner(p)
	t.owned <- struct{}{}
}

// started starts a program and returns what it says of itself when it has sent all its requests. It ends
// when the returned function is called.
func started(t *testing.T, p program) (pid int, d done, end func()) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), asProgram+"="+string(text)), os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		input.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	})
	t.Cleanup(end)
	if err := json.NewDecoder(output).Decode(&d); err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return cmd.Process.Pid, d, end
}

// TestProcessesAreClients observes two processes at a time through a proxy. The report has a row for each,
// with the connections and requests that the process says it has made.
func TestProcessesAreClients(t *testing.T) {
	zooKeeper := func(t *testing.T) string { return backendtest.Native(t, server.Options{}) }
	gateway := func(t *testing.T) string { return backendtest.SharedEtcd(t) }
	for name, c := range map[string]struct {
		protocol traffic.Protocol
		start    func(t *testing.T) string
		programs [2]program
		sessions [2]int64
		by       client.Counts
	}{
		"sessions": {
			traffic.ZooKeeper(), zooKeeper, [2]program{{"zookeeper", "", 5, 7}, {"zookeeper", "", 3, 2}},
			[2]int64{5, 3}, client.Counts{Numbered: 8},
		},
		"clients of etcd": {
			etcd.Protocol(), gateway, [2]program{{"etcd", "", 9, 4}, {"etcd", "", 4, 1}},
			[2]int64{9, 4}, client.Counts{Leased: 7, Processes: 6},
		},
		"one client with several connections": {
			etcd.Protocol(), gateway, [2]program{{"gateway", "", 7, 3}, {"etcd", "", 4, 2}},
			[2]int64{1, 4}, client.Counts{Leased: 3, Processes: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := ownedAnalysis{observe.New(observe.DefaultLimits), make(chan struct{}, 100)}
			o := proxy.Options{Protocol: c.protocol, Observer: seen}
			p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: c.start(t)}}, o)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			want := map[int]client.Row{}
			var ends []func()
			for i, one := range c.programs {
				one.Address = p.Addresses()[0]
				pid, d, end := started(t, one)
				ends = append(ends, end)
				want[pid] = client.Row{Connections: d.Connections, Requests: d.Requests, Sessions: c.sessions[i]}
				for range d.Connections { // none has ended before its process is known
					<-seen.owned
				}
			}
			p.Flush()
			r := seen.Report()
			for _, end := range ends {
				end()
			}
			if r.Traffic.ToldApart != c.by || r.Traffic.Clients != 2 || len(r.Clients) != 2 {
				t.Errorf("%+v of %d clients, want %+v of 2; rows %+v", r.Traffic.ToldApart, r.Traffic.Clients, c.by, r.Clients)
			}
			for _, got := range r.Clients {
				if got.Process == nil {
					t.Errorf("%+v has no process", got)
					continue
				}
				w := want[got.Process.ID]
				same := got.Connections == w.Connections && got.Requests == w.Requests && got.Sessions == w.Sessions
				if !same || got.Process.Name == "" {
					t.Errorf("process %+v: %d connections, %d requests, %d sessions; it says %d, %d, and has %d",
						*got.Process, got.Connections, got.Requests, got.Sessions, w.Connections, w.Requests, w.Sessions)
				}
			}
		})
	}
}
