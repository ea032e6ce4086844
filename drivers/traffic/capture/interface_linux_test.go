package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket/layers"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sys/unix"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/ensemble"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/drivers/zookeeper"
	"github.com/stampede-bench/stampede/internal/await"
)

func TestMain(m *testing.M) { backendtest.Main(m) }

// TestSameTraffic observes the same traffic of clients by a proxy, by a live capture and by a capture
// file. All three must report the same messages.
func TestSameTraffic(t *testing.T) {
	t.Run("zookeeper", func(t *testing.T) {
		wantSameTraffic(t, backendtest.Native(t, server.Options{}), traffic.ZooKeeper(), useZooKeeper)
	})
	t.Run("etcd", func(t *testing.T) {
		wantSameTraffic(t, backendtest.SharedEtcd(t), etcd.Protocol(), useEtcd)
	})
}

// TestAllThatCameBeforeTheEndIsAnalysed holds the analysis until the capture is to end. The packets then have no times of
// the kernel, as the first ones after the kernel began to take times may have none.
func TestAllThatCameBeforeTheEndIsAnalysed(t *testing.T) {
	address := backendtest.Native(t, server.Options{})
	hold := make(chan struct{})
	r := &record{before: func() { <-hold }}
	live, err := Listen("lo", Options{Ports: []uint16{portOf(t, address)}, Protocol: traffic.ZooKeeper(), Observer: r})
	if errors.Is(err, os.ErrPermission) {
		backendtest.Lacking(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	live.raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 0) })
	if err != nil {
		t.Fatal(err)
	}
	useZooKeeper(t, address)
	var stats Stats
	closed := make(chan error, 1)
	go func() {
		var err error
		stats, err = live.Close()
		closed <- err
	}()
	await.True(t, "the capture is to end", live.ended.Load)
	close(hold)
	if err := await.Value(t, "the capture ends", closed); err != nil || stats.Connections != 2 || len(r.connections) != 2 {
		t.Fatalf("%+v, %v; want two connections", stats, err)
	}
	for _, c := range r.connections {
		if last := c.messages[len(c.messages)-1]; !strings.HasPrefix(last, "2 close ") {
			t.Errorf("the last of %d messages is %q, want that the session was closed", len(c.messages), last)
		}
	}
}

// TestLateCaptureSaysSo holds the analysis of a live capture while more packets come than the kernel
// keeps. How many it dropped is counted, and reported.
func TestLateCaptureSaysSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hold := make(chan struct{})
	r := &record{before: func() { <-hold }}
	o := options(r)
	o.Ports = []uint16{portOf(t, l.Addr().String())}
	live, err := Listen("lo", o)
	if errors.Is(err, os.ErrPermission) {
		backendtest.Lacking(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, s)
	for range 3 * socketBuffer / wholePacket { // of the size of a packet's buffer or less each
		if _, err := c.Write(make([]byte, wholePacket)); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	close(hold)
	stats, err := live.Close()
	i := slices.IndexFunc(r.missed.List(), func(u traffic.Undecoded) bool { return u.Cause == traffic.Dropped })
	if err != nil || stats.Dropped == 0 || i < 0 || r.missed.List()[i].Packets != int64(stats.Dropped) {
		t.Errorf("%+v, %v; not decoded: %+v; want packets that the kernel dropped", stats, err, r.missed.List())
	}
}

func wantSameTraffic(t *testing.T, server string, protocol traffic.Protocol, use func(t *testing.T, address string)) {
	t.Helper()
	ofProxy, ofInterface, ofFile := new(record), new(record), new(record)
	p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: server}},
		proxy.Options{Protocol: protocol, Observer: ofProxy})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	address := p.Addresses()[0]
	o := Options{Ports: []uint16{portOf(t, address)}, Protocol: protocol, Observer: ofInterface}
	live, err := Listen("lo", o)
	if errors.Is(err, os.ErrPermission) {
		backendtest.Lacking(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	recording := recordPackets(t, address)
	use(t, address)
	p.Close()
	stats, err := live.Close()
	if err != nil || stats.Dropped > 0 || stats.Lost > 0 || stats.Joined > 0 || stats.Connections != 2 {
		t.Errorf("live: %+v, %v; want two whole connections", stats, err)
	}
	o.Observer = ofFile
	stats, err = Read([]io.Reader{file(t, layers.LinkTypeRaw, recording())}, o)
	if err != nil || stats.Lost > 0 || stats.Connections != 2 {
		t.Errorf("file: %+v, %v; want two whole connections", stats, err)
	}
	want := ofProxy.byClient()
	for client, messages := range want { // the proxy connects to another address
		if len(messages) < 5 {
			t.Errorf("only %v of %s", messages, client)
		}
		messages[0] = ofInterface.byClient()[client][0]
	}
	if diff := cmp.Diff(want, ofInterface.byClient()); diff != "" {
		t.Errorf("(-proxy +interface):\n%s", diff)
	}
	if diff := cmp.Diff(want, ofFile.byClient()); diff != "" {
		t.Errorf("(-proxy +file):\n%s", diff)
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

// recordPackets returns a function that returns the packets to and from the address since then. The
// socket's buffer holds them until it is called.
func recordPackets(t *testing.T, address string) (end func() [][]byte) {
	t.Helper()
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := packetSocket(lo.Index, []uint16{portOf(t, address)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return func() (all [][]byte) {
		buf := make([]byte, wholePacket)
		for {
			n, _, err := unix.Recvfrom(int(socket.Fd()), buf, unix.MSG_DONTWAIT)
			if err != nil {
				return all
			}
			all = append(all, bytes.Clone(buf[:n]))
		}
	}
}
