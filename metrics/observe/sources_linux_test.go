package observe_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/capture"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
	"github.com/stampede-bench/stampede/internal/testenv"
	"github.com/stampede-bench/stampede/metrics/causality"
	"github.com/stampede-bench/stampede/metrics/observation"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/workloads"
	"github.com/stampede-bench/stampede/workloads/catalog"
)

// A system is a kind of server whose clients are observed.
type system struct {
	scheme   string // of its URLs
	protocol traffic.Protocol
	start    func(t *testing.T) (address string)
}

// TestSourcesAgree observes one run of each form by a proxy, by a live capture and by a capture file, on the native
// server and on etcd. All three must report the same counts, patterns and forms.
func TestSourcesAgree(t *testing.T) {
	forms, err := catalog.Select(catalog.Forms(), []string{"lock", "election", "barrier"}, []string{"predecessor", "one-node", "watch"})
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []system{
		{"zookeeper", traffic.ZooKeeper(), func(t *testing.T) string { return backendtest.Native(t, server.Options{}) }},
		{"etcd", etcd.Protocol(), func(t *testing.T) string { return backendtest.SharedEtcd(t) }},
	} {
		for _, f := range forms {
			t.Run(on.scheme+"/"+f.Form.String(), func(t *testing.T) {
				if on.scheme == "etcd" {
					testenv.SkipIfShort(t) // each form takes a second
				}
				wantSourcesAgree(t, on, f.Form)
			})
		}
	}
}

func wantSourcesAgree(t *testing.T, on system, f workloads.Form) {
	t.Helper()
	of := observeSources(t, on, f)
	if of.proxy.Traffic.Notifications == 0 || len(of.proxy.Places) == 0 {
		t.Fatalf("the proxy saw no notification: %+v", of.proxy.Traffic)
	}
	private := cmpopts.IgnoreUnexported(observation.Form{})
	if diff := cmp.Diff(untimed(of.proxy), untimed(of.live), private); diff != "" {
		t.Errorf("(-proxy +live capture):\n%s", diff)
	}
	if diff := cmp.Diff(untimed(of.proxy), untimed(of.file), private); diff != "" {
		t.Errorf("(-proxy +capture file):\n%s", diff)
	}
}

// sources has the reports of the three sources of the same traffic.
type sources struct{ proxy, live, file observation.Report }

func observeSources(t *testing.T, on system, f workloads.Form) (of sources) {
	t.Helper()
	byProxy, byLive, byFile := observe.New(observe.DefaultLimits), observe.New(observe.DefaultLimits), observe.New(observe.DefaultLimits)
	p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: on.start(t)}},
		proxy.Options{Protocol: on.protocol, Observer: heard{byProxy}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	port := portOf(t, p.Addresses()[0])
	o := capture.Options{Protocol: on.protocol, Observer: heard{byLive}, Ports: []uint16{port}}
	live, err := capture.Listen("lo", o)
	if errors.Is(err, os.ErrPermission) {
		backendtest.Lacking(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	recording := recordFile(t, port)
	runThrough(t, f, on.scheme+"://"+p.Addresses()[0])
	p.Close()
	if stats, err := live.Close(); err != nil || stats.Dropped > 0 || stats.Lost > 0 {
		t.Fatalf("live capture: %+v, %v; want no loss", stats, err)
	}
	o.Observer = heard{byFile}
	if stats, err := capture.Read([]io.Reader{recording()}, o); err != nil || stats.Lost > 0 {
		t.Fatalf("capture file: %+v, %v; want no loss", stats, err)
	}
	return sources{byProxy.Report(), byLive.Report(), byFile.Report()}
}

// heard leaves out the notification of the end of an etcd session, for the key of the session itself. The server may
// send it when the client has closed the connection: then a proxy reads it, and no packet takes it to the client.
type heard struct{ traffic.Observer }

func (h heard) Open(c traffic.Connection) traffic.Tap { return heardTap{h.Observer.Open(c)} }

type heardTap struct{ traffic.Tap }

func (t heardTap) Message(at time.Time, m drivers.Message) {
	if m.Kind == drivers.Notification && m.Event == drivers.Deleted && bytes.HasPrefix(m.Path, []byte("/stampede/sessions/")) {
		return
	}
	t.Tap.Message(at, m)
}

func portOf(t *testing.T, address string) uint16 {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

// runThrough runs a form with eight clients through the proxy. Sessions rest between steps, so the
// order in which a source sees two connections does not matter.
func runThrough(t *testing.T, f workloads.Form, url string) {
	t.Helper()
	service := backendtest.Open(t, url, drivers.Security{})
	_, err := workloads.Run(t.Context(), workloads.Plan{
		Service: service, Form: f, Clients: 8, Seed: 1, Settings: workloads.Settings{Hold: 5 * time.Millisecond}, Rounds: 20, DurationLimit: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// recordFile returns a function that ends the recording of a port's packets and returns them as a pcap file.
func recordFile(t *testing.T, port uint16) (end func() *bytes.Buffer) {
	t.Helper()
	socket := packetSocket(t, port)
	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	if err := w.WriteFileHeader(1<<16, layers.LinkTypeRaw); err != nil {
		t.Fatal(err)
	}
	var ended atomic.Bool
	var reading sync.WaitGroup
	reading.Go(func() {
		packet := make([]byte, 1<<16)
		for {
			n, _, err := unix.Recvfrom(socket, packet, 0)
			switch {
			case err == nil:
				err = w.WritePacket(gopacket.CaptureInfo{Timestamp: time.Now(), CaptureLength: n, Length: n}, packet[:n])
				if err != nil {
					t.Error(err)
					return
				}
			case ended.Load(): // no packet is left
				return
			}
		}
	})
	return func() *bytes.Buffer {
		ended.Store(true)
		reading.Wait()
		return &file
	}
}

// packetSocket opens a socket that gets a port's packets on the loopback interface, once each, from their
// header of IP on. Reading from it fails if no packet comes for a tenth of a second.
func packetSocket(t *testing.T, port uint16) (fd int) {
	t.Helper()
	loopback, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	filter := ofPort(t, port)
	ipv4 := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_IP))
	err = errors.Join(
		unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}),
		unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: ipv4, Ifindex: loopback.Index}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// ofPort returns a filter for the packets of TCP from or to a port.
func ofPort(t *testing.T, port uint16) (program []unix.SockFilter) {
	t.Helper()
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadMemShift{Off: 0},          // the length of the header of IP
		bpf.LoadIndirect{Off: 0, Size: 2}, // the source's port
		bpf.JumpIf{Val: uint32(port), SkipTrue: 2},
		bpf.LoadIndirect{Off: 2, Size: 2}, // the destination's
		bpf.JumpIf{Val: uint32(port), SkipFalse: 1},
		bpf.RetConstant{Val: 1 << 18},
		bpf.RetConstant{},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range raw {
		program = append(program, unix.SockFilter{Code: i.Op, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	return program
}

// untimed returns a report without its times, and without the processes, which only a proxy knows.
func untimed(r observation.Report) observation.Report {
	r.Duration, r.Clients, r.Traffic.Clients = 0, nil, 0
	for i := range r.Places { // what sessions ask is assigned by pauses
		r.Places[i].ReadsAfter, r.Places[i].LostAfter = 0, 0
		r.Places[i].SettledP90, r.Places[i].LatencyP90, r.Places[i].PollEvery = nil, nil, nil
	}
	for i := range r.Operations {
		r.Operations[i].P50, r.Operations[i].P99 = nil, nil
	}
	r.Events = causality.Events{} // where one ends and the next begins is a matter of pauses, too
	r.Largest = nil               // among changes that wake equally many, the first ones by the source's clock
	return r
}
