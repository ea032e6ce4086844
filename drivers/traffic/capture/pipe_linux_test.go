package capture

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/await"
	"github.com/stampede-bench/stampede/internal/testenv"
)

func TestMain(m *testing.M) { backendtest.Main(m) }

// TestSameTraffic observes the same traffic of clients by a proxy and by the pipe that tcpdump writes meanwhile. Both must
// report the same messages.
func TestSameTraffic(t *testing.T) {
	testenv.SkipIfShort(t)
	t.Run("zookeeper", func(t *testing.T) {
		wantSameTraffic(t, backendtest.Native(t, server.Options{}), traffic.ZooKeeper(), useZooKeeper)
	})
	t.Run("etcd", func(t *testing.T) {
		wantSameTraffic(t, backendtest.SharedEtcd(t), etcd.Protocol(), useEtcd)
	})
}

func wantSameTraffic(t *testing.T, server string, protocol traffic.Protocol, use func(t *testing.T, address string)) {
	t.Helper()
	ended := make(chan struct{}, 10)
	ofProxy, ofPipe := new(record), &record{closed: func() { ended <- struct{}{} }}
	p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: server}},
		proxy.Options{Protocol: protocol, Observer: ofProxy})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	address := p.Addresses()[0]
	packets, interrupt := dump(t, address)
	var stats Stats
	read := make(chan error, 1)
	go func() {
		var err error
		stats, err = Read([]io.Reader{packets}, Options{Ports: []uint16{portOf(t, address)}, Protocol: protocol, Observer: ofPipe})
		read <- err
	}()
	use(t, address)
	p.Close()
	for range 2 {
		await.Value(t, "the pipe has the end of a connection", ended)
	}
	interrupt()
	err = await.Value(t, "the pipe is read to its end", read)
	if err != nil || stats.Damaged != nil || stats.Lost > 0 || stats.Joined > 0 || stats.Connections != 2 {
		t.Errorf("%+v, %v; want two whole connections", stats, err)
	}
	want := ofProxy.byClient()
	for client, messages := range want { // the proxy connects to another address
		if len(messages) < 5 {
			t.Errorf("only %v of %s", messages, client)
		}
		messages[0] = ofPipe.byClient()[client][0]
	}
	if diff := cmp.Diff(want, ofPipe.byClient()); diff != "" {
		t.Errorf("(-proxy +pipe):\n%s", diff)
	}
}

// dump starts tcpdump, and returns the pipe to which it writes the packets to and from the address once it captures, and a
// function that interrupts it.
func dump(t *testing.T, address string) (packets io.Reader, interrupt func()) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "tcpdump", "-i", "lo", "-U", "--immediate-mode", "-B", "32768", "-w", "-",
		fmt.Sprintf("port %d", portOf(t, address)))
	packets, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	says, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		backendtest.Lacking(t, err)
	}
	t.Cleanup(func() { c.Wait() }) // the context ends first
	lines := bufio.NewReader(says)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			backendtest.Lacking(t, fmt.Errorf("tcpdump captures nothing: %w", err))
		}
		if strings.Contains(line, "listening on lo") {
			return packets, func() { c.Process.Signal(os.Interrupt) }
		}
	}
}

func portOf(t *testing.T, address string) uint16 {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(a.Port)
}

// useZooKeeper lets one session change what another one watches.
func useZooKeeper(t *testing.T, address string) {
	t.Helper()
	service, err := zookeeper.New(ensemble.Config{Servers: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	ctx := t.Context()
	var sessions [2]drivers.Conn
	for i := range sessions {
		if sessions[i], err = service.Dial(ctx, drivers.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	writer, watcher := sessions[0], sessions[1]
	for n := range 20 {
		node := "/n" + strconv.Itoa(n)
		var made drivers.Wait
		if _, _, err := watcher.Exists(ctx, node, made.Fire); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Create(ctx, node, make([]byte, 500*n), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := made.Await(ctx); err != nil {
			t.Fatal(err)
		}
		if _, _, err := watcher.Get(ctx, node, nil); err != nil {
			t.Fatal(err)
		}
	}
	writer.Close()
	watcher.Close()
}

// useEtcd lets one client change what another one watches.
func useEtcd(t *testing.T, address string) {
	t.Helper()
	var clients [2]*clientv3.Client
	for i := range clients {
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Get(t.Context(), "/none"); err != nil {
			t.Fatal(err)
		}
		clients[i] = c
	}
	prefix := fmt.Sprint("/capture-", time.Now().UnixNano(), "/")
	events := clients[0].Watch(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	<-events // confirmed
	for n := range 20 {
		if _, err := clients[1].Put(t.Context(), prefix+strconv.Itoa(n), strings.Repeat("x", 500*n)); err != nil {
			t.Fatal(err)
		}
		<-events
	}
}
