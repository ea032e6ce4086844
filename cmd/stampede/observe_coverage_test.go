package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stampede-bench/stampede/drivers/backends/backendtest"
	"github.com/stampede-bench/stampede/drivers/server"
	"github.com/stampede-bench/stampede/internal/testenv"
)

// watchers is how many sessions each change of a herd wakes.
const watchers = 5

// A herd are clients that all watch one key. Change changes the key, and returns when all have been
// notified and watch it again.
type herd interface {
	change(t *testing.T)
	close()
}

type zkHerd []*zk.Conn

func openZK(t *testing.T, address string) zkHerd {
	t.Helper()
	var all zkHerd
	for range watchers + 1 {
		c, _, err := zk.Connect([]string{address}, 10*time.Second, zk.WithLogInfo(false))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	_, err := all[0].Create("/herd", nil, 0, zk.WorldACL(zk.PermAll))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) {
		t.Fatal(err)
	}
	return all
}

func (h zkHerd) change(t *testing.T) {
	t.Helper()
	var events []<-chan zk.Event
	for _, c := range h[1:] {
		_, _, event, err := c.GetW("/herd")
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	if _, err := h[0].Set("/herd", nil, -1); err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		<-e
	}
}

func (h zkHerd) close() {
	for _, c := range h {
		c.Close()
	}
}

type etcdHerd struct {
	clients []*clientv3.Client
	watches []clientv3.WatchChan
}

func openEtcd(t *testing.T, address string, encryption *tls.Config) (h etcdHerd) {
	t.Helper()
	for i := range watchers + 1 {
		scheme := map[bool]string{true: "https://", false: "http://"}[encryption != nil]
		c, err := clientv3.New(clientv3.Config{
			Endpoints: []string{scheme + address}, TLS: encryption, DialTimeout: 10 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		h.clients = append(h.clients, c)
		if i > 0 {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			h.watches = append(h.watches, c.Watch(ctx, "/herd", clientv3.WithCreatedNotify()))
			<-h.watches[i-1]
		}
	}
	return h
}

func (h etcdHerd) change(t *testing.T) {
	t.Helper()
	if _, err := h.clients[0].Put(t.Context(), "/herd", "x"); err != nil {
		t.Fatal(err)
	}
	for _, w := range h.watches {
		if r := <-w; r.Err() != nil {
			t.Fatal(r.Err())
		}
	}
}

func (h etcdHerd) close() {
	for _, c := range h.clients {
		c.Close()
	}
}

// captured records the packets of a port with tcpdump while use does something, and returns the file. A
// packet that is sent last shows that the file has all before it.
func captured(t *testing.T, address string, use func(), flags ...string) string {
	t.Helper()
	tcpdump, err := exec.LookPath("tcpdump")
	if err != nil {
		backendtest.Lacking(t, err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "captured.pcap")
	// The buffer has a slot of the snapshot length for each packet: 16 MiB hold only 256 of the longest on loopback, which
	// are lost if tcpdump has no processor for a moment.
	flags = append([]string{"-i", "lo", "-U", "--immediate-mode", "-B", "16384", "-s", "4096", "-w", file}, flags...)
	c := exec.Command(tcpdump, append(flags, "port", port)...)
	says, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	for b := make([]byte, 256); !strings.Contains(said.String(), "listening on"); {
		n, err := says.Read(b)
		said.Write(b[:n])
		if err != nil {
			if strings.Contains(said.String(), "permission") {
				backendtest.Lacking(t, errors.New(said.String()))
			}
			t.Fatalf("tcpdump: %v: %s", err, &said)
		}
	}
	use()
	const last = "the last packet"
	mark, err := net.Dial("udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer mark.Close()
	for {
		_, _ = mark.Write([]byte(last)) // nothing listens: some writes fail
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(content, []byte(last)) {
			break
		}
		time.Sleep(time.Millisecond) // tcpdump has no other way to tell
	}
	_ = c.Process.Signal(os.Interrupt)
	if _, err := io.Copy(&said, says); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if !strings.Contains(said.String(), "\n0 packets dropped by kernel") {
		t.Fatalf("not all packets were captured: %s", &said)
	}
	return file
}

// wantObserved runs stampede observe and checks its exit code and what it says.
func wantObserved(t *testing.T, code int, says string, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "stampede", append([]string{"observe", "--no-save"}, arguments...)...)
	c.Dir = t.TempDir()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	if got := c.ProcessState.ExitCode(); got != code || !strings.Contains(out.String(), says) {
		t.Errorf("stampede observe %s: exit code %d (%v), want %d and %q:\n%s",
			strings.Join(arguments, " "), got, err, code, says, &out)
	}
}

// rewritten writes another capture file with the packets of one that keep returns.
func rewritten(t *testing.T, from string, each func(i int, packet []byte) []byte) string {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, err := pcapgo.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "rewritten.pcap")
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := pcapgo.NewWriter(out)
	if err := w.WriteFileHeader(1<<18, r.LinkType()); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		packet, ci, err := r.ReadPacketData()
		if err != nil {
			return to
		}
		if packet = each(i, packet); packet == nil {
			continue
		}
		ci.CaptureLength, ci.Length = len(packet), len(packet)
		if err := w.WritePacket(ci, packet); err != nil {
			t.Fatal(err)
		}
	}
}

func inVXLAN(t *testing.T, packet []byte) []byte {
	address, host := make(net.HardwareAddr, 6), net.IP{192, 0, 2, 1}
	b := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true},
		&layers.Ethernet{SrcMAC: address, DstMAC: address, EthernetType: layers.EthernetTypeIPv4},
		&layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: host, DstIP: host},
		&layers.UDP{SrcPort: 50000, DstPort: 4789}, &layers.VXLAN{ValidIDFlag: true, VNI: 7},
		gopacket.Payload(packet))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestThresholdsOverIncompleteCaptures captures a herd of five with tcpdump, whole and in each way in
// which a capture may lack traffic. With all traffic the threshold that is met passes and the other fails;
// without it none passes.
func TestThresholdsOverIncompleteCaptures(t *testing.T) {
	testenv.SkipIfShort(t)
	address := backendtest.Native(t, server.Options{})
	_, port, _ := net.SplitHostPort(address)
	use := func() {
		h := openZK(t, address)
		for range 3 {
			h.change(t)
		}
		h.close()
	}
	whole := captured(t, address, use)
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	truncated := filepath.Join(t.TempDir(), "truncated.pcap")
	if err := os.WriteFile(truncated, content[:len(content)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	packets := 0
	vxlan := rewritten(t, whole, func(_ int, p []byte) []byte { packets++; return inVXLAN(t, p) })
	keep := func(some func(i int) bool) string {
		return rewritten(t, whole, func(i int, p []byte) []byte {
			if some(i) {
				return p
			}
			return nil
		})
	}
	first := keep(func(i int) bool { return i < packets/2 })
	second := keep(func(i int) bool { return i >= packets/2 })
	lossy := keep(func(i int) bool { return i%9 != 8 })
	const met, exceeded = "fanout.max <= 5", "fanout.max <= 4"
	for name, c := range map[string]struct {
		says  string // "" if nothing is missing
		files []string
	}{
		"whole":         {"", []string{whole}},
		"VXLAN":         {"", []string{vxlan}},
		"two files":     {"", []string{first, second}},
		"wrong order":   {"", []string{second, first}},
		"lost packets":  {"missing in the capture", []string{lossy}},
		"tcpdump -s 96": {"cut off by the snapshot length", []string{captured(t, address, use, "-s", "96")}},
		"truncated":     {"the file ends in the middle of a packet", []string{truncated}},
	} {
		var flags []string
		for _, f := range c.files {
			flags = append(flags, "--pcap", f)
		}
		flags = append(flags, "--port", port)
		if c.says == "" {
			wantObserved(t, 0, "all traffic was seen and analysed", append(flags, "--threshold", met)...)
			wantObserved(t, 99, "fanout.max <= 4", append(flags, "--threshold", exceeded)...)
			continue
		}
		t.Log(name)
		wantObserved(t, 97, c.says, append(flags, "--threshold", met)...)
		wantObserved(t, 0, c.says, flags...)
	}
	wantObserved(t, 97, "to port 1, most others are to or from "+port,
		"--pcap", whole, "--port", "1", "--threshold", met)
	wantObserved(t, 97, "no connection is to port 1",
		"--pcap", whole, "--port", port, "--port", "1", "--threshold", met)
	wantObserved(t, 0, "to port 1, most others are to or from "+port, "--pcap", whole, "--port", "1")
	wantObserved(t, 97, "ZooKeeper's protocol, which is not that of the service",
		"--backend", "etcd:", "--pcap", whole, "--port", port, "--threshold", met)
	wantObserved(t, 2, "given twice", "--pcap", whole, "--pcap", whole)
	wantObserved(t, 2, "--project 0: must be at least 1", "--pcap", whole, "--project", "0")
	wantObserved(t, 2, "--for 0s: must be more than 0", "--for", "0s")
	c := exec.CommandContext(t.Context(), "stampede", "observe", "--no-save", "--pcap", "-",
		"--port", port, "--threshold", exceeded)
	c.Stdin = bytes.NewReader(content)
	if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 99 {
		t.Errorf("standard input: exit code %d, want 99:\n%s", c.ProcessState.ExitCode(), out)
	}
}

// TestThresholdsOverOlderConnections captures connections that were open before. Those of ZooKeeper are
// decoded from the next packet on: all notifications are seen, and what stands is not known. Those of etcd
// cannot be decoded.
func TestThresholdsOverOlderConnections(t *testing.T) {
	testenv.SkipIfShort(t)
	zooKeeper := func(t *testing.T, address string) herd { return openZK(t, address) }
	etcd := func(t *testing.T, address string) herd { return openEtcd(t, address, nil) }
	for backend, c := range map[string]struct {
		address string
		open    func(t *testing.T, address string) herd
		older   int // exit code for a limit that is met
	}{
		"zookeeper:": {backendtest.Native(t, server.Options{}), zooKeeper, 0},
		"etcd:":      {backendtest.SharedEtcd(t), etcd, 97},
	} {
		_, port, _ := net.SplitHostPort(c.address)
		var h herd
		whole := captured(t, c.address, func() { h = c.open(t, c.address); h.change(t); h.change(t) })
		older := captured(t, c.address, func() { h.change(t); h.change(t) })
		h.close()
		flags := []string{"--backend", backend, "--port", port, "--threshold"}
		wantObserved(t, 0, "", append(flags, "fanout.max <= 5", "--pcap", whole)...)
		wantObserved(t, 99, "", append(flags, "fanout.max <= 4", "--pcap", whole)...)
		wantObserved(t, c.older, "", append(flags, "fanout.max <= 5", "--pcap", older)...)
		if c.older == 0 {
			wantObserved(t, 99, "joined in the middle", append(flags, "fanout.max <= 4", "--pcap", older)...)
			wantObserved(t, 97, "open before the observation", append(flags, "watches <= 1000", "--pcap", older)...)
		} else {
			wantObserved(t, 97, "older than the capture", append(flags, "fanout.max <= 2", "--pcap", older)...)
		}
	}
}

// say returns a script that sends a text to the proxy, and reads until the server ends the connection.
func say(text string) string {
	const script = `exec 3<>/dev/tcp/${A%%:*}/${A##*:}; printf '%s' >&3; timeout 5 cat <&3 >/dev/null; `
	return fmt.Sprintf(script, text)
}

// TestThresholdsOverTheGateway makes requests of HTTP to etcd. Pages for monitoring and what the server
// refuses change nothing.
func TestThresholdsOverTheGateway(t *testing.T) {
	testenv.SkipIfShort(t)
	request := func(line, headers, body string) string {
		const form = `%s HTTP/1.1\r\nHost: etcd\r\nContent-Length: %d\r\n%s\r\n%s`
		return say(fmt.Sprintf(form, line, len(body), headers, body))
	}
	const end = `Connection: close\r\n`
	const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
		`Sec-WebSocket-Key: c3RhbXBlZGUgb2JzZXJ2ZQ==\r\n`
	put := request("POST /v3/kv/put", end, `{"key":"L2E=","value":"dg=="}`)
	for also, says := range map[string]string{
		request("GET /health", end, ""): "", request("GET /metrics", end, ""): "", request("GET /", end, ""): "",
		request("GET /v2/keys/a", end, ""):               "", // of a server that does not have it
		request("POST /v3/cluster/member/list", end, ""): "list of members, whose addresses are not observed: ",
		request("GET /v3/watch", upgrade, ""):            "to another protocol, such as WebSocket",
		say("SSH-2.0-x\\r\\n"):                           "another protocol",
	} {
		code := 97
		if says == "" {
			code, says = 0, "all traffic was seen and analysed"
		}
		wantObserved(t, code, says, "--backend", "etcd:", "--env", "A={address}",
			"--threshold", "fanout.max <= 5", "--", "bash", "-c", put+also+"true")
	}
}

// TestThresholdsOverOtherProtocols has clients that speak another protocol than the service's, and those
// that need none.
func TestThresholdsOverOtherProtocols(t *testing.T) {
	testenv.SkipIfShort(t)
	secure := backendtest.SecureEtcd(t)
	encryption, err := secure.Security.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(secure.Address)
	file := captured(t, secure.Address, func() {
		h := openEtcd(t, secure.Address, encryption)
		h.change(t)
		h.close()
	})
	const met = "fanout.max <= 5"
	wantObserved(t, 97, "TLS, which is encrypted",
		"--backend", "etcd:", "--port", port, "--pcap", file, "--threshold", met)

	const lock = "stampede run lock --no-save --form predecessor --clients 4 --rounds 20 -q -o json=run.json " +
		"--backend zookeeper://$A"
	for text, says := range map[string]string{
		`GET / HTTP/1.1\r\n\r\n`: "HTTP/1.1", `\x16\x03\x01\x00\x01x`: "TLS", "SSH-2.0-x\\r\\n": "another protocol",
		`\x00\x00\x00\x2d\x00\x00\x00\x00\xff`: "", "ruok": "", "": "",
	} {
		code, want := 97, says
		if says == "" {
			code, want = 0, "all traffic was seen and analysed"
		}
		wantObserved(t, code, want, "--env", "A={address}", "--threshold", met, "--", "bash", "-c", say(text)+lock)
	}
}

// TestThresholdsOverBypassedMembers has a client ask for the members of the service. It may use their
// addresses, which do not pass the proxy.
func TestThresholdsOverBypassedMembers(t *testing.T) {
	testenv.SkipIfShort(t)
	if _, err := exec.LookPath("etcdctl"); err != nil {
		backendtest.Lacking(t, err)
	}
	const put, list = "etcdctl --endpoints {address} put /k v", "etcdctl --endpoints {address} member list"
	flags := []string{"--backend", "etcd:", "--threshold", "fanout.max <= 5", "--", "sh", "-c"}
	wantObserved(t, 0, "all traffic was seen and analysed", append(flags, put)...)
	wantObserved(t, 97, "list of members, whose addresses are not observed: 127.0.0.1:", append(flags, put+"; "+list)...)
}

// TestUnreachableServerIsNamed observes a server that does not listen and one whose name does not resolve, and a
// command that a signal ends.
func TestUnreachableServerIsNamed(t *testing.T) {
	testenv.SkipIfShort(t)
	connect := []string{"bash", "-c", `exec 3<>"/dev/tcp/${0%:*}/${0##*:}"; read -t 5 <&3; exit 0`, "{address}"}
	for _, server := range []string{"127.0.0.1:1", "no-such-host.invalid:2181"} {
		says := "the proxy could not reach " + server + " for 1 connection: dial tcp"
		wantObserved(t, 97, "stampede: warning: "+says, append([]string{"--backend", "zookeeper://" + server,
			"--threshold", "herds == 0", "--"}, connect...)...)
		wantObserved(t, 0, "  warning: "+says, append([]string{"--backend", "zookeeper://" + server, "--"}, connect...)...)
	}
	wantObserved(t, 1, "bash was ended by a signal: killed", "--", "bash", "-c", "kill -9 $$")
}
