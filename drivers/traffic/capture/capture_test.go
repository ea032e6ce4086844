package capture

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/wire"
)

const port = 2181

// A conversation makes the packets of one connection.
type conversation struct {
	tb      testing.TB
	client  layers.TCPPort
	next    map[bool]uint32 // the next sequence number of the client (true) and of the server
	packets [][]byte
}

func converse(tb testing.TB, client layers.TCPPort) *conversation {
	c := &conversation{tb: tb, client: client, next: map[bool]uint32{true: 1 << 31, false: 1<<32 - 50}}
	c.open()
	return c
}

func (c *conversation) open() {
	c.segment(true, layers.TCP{SYN: true}, nil)
	c.segment(false, layers.TCP{SYN: true, ACK: true}, nil)
	c.say(true, wire.ConnectRequest{Timeout: 9000, Password: []byte(password)}.Append(nil))
	c.say(false, wire.ConnectResponse{Timeout: 6000, SessionID: 7, Password: []byte(password)}.Append(nil))
}

const password = "secret-password!"

// say sends one packet of the protocol.
func (c *conversation) say(fromClient bool, payload []byte) {
	c.segment(fromClient, layers.TCP{ACK: true, PSH: true}, append(wire.AppendInt(nil, int32(len(payload))), payload...))
}

func (c *conversation) segment(fromClient bool, tcp layers.TCP, data []byte) {
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP,
		SrcIP: net.IP{10, 0, 0, 1}, DstIP: net.IP{10, 0, 0, 2}}
	tcp.SrcPort, tcp.DstPort, tcp.Seq, tcp.Ack = c.client, port, c.next[fromClient], c.next[!fromClient]
	if !fromClient {
		ip.SrcIP, ip.DstIP = ip.DstIP, ip.SrcIP
		tcp.SrcPort, tcp.DstPort = tcp.DstPort, tcp.SrcPort
	}
	c.next[fromClient] += uint32(len(data))
	if tcp.SYN || tcp.FIN {
		c.next[fromClient]++
	}
	tcp.SetNetworkLayerForChecksum(ip)
	b := gopacket.NewSerializeBuffer()
	err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		&layers.Ethernet{SrcMAC: make(net.HardwareAddr, 6), DstMAC: make(net.HardwareAddr, 6), EthernetType: layers.EthernetTypeIPv4},
		ip, &tcp, gopacket.Payload(data))
	if err != nil {
		c.tb.Fatal(err)
	}
	c.packets = append(c.packets, b.Bytes())
}

// get asks for a node and answers.
func (c *conversation) get(xid int32) {
	c.ask(xid)
	c.answer(xid)
}

func (c *conversation) ask(xid int32) {
	c.say(true, wire.PathWatch{Path: "/n", Watch: true}.Append(wire.RequestHeader{Xid: xid, Op: wire.OpGetData}.Append(nil)))
}

func (c *conversation) answer(xid int32) {
	c.say(false, wire.DataStat{Data: []byte("secret-data")}.Append(wire.ReplyHeader{Xid: xid, Zxid: int64(xid)}.Append(nil)))
}

func (c *conversation) end() {
	c.segment(true, layers.TCP{FIN: true, ACK: true}, nil)
	c.segment(false, layers.TCP{FIN: true, ACK: true}, nil)
	c.segment(true, layers.TCP{ACK: true}, nil)
}

// file returns a capture file with the packets, one each millisecond.
func file(tb testing.TB, link layers.LinkType, packets [][]byte) *bytes.Buffer {
	b := new(bytes.Buffer)
	w := pcapgo.NewWriter(b)
	if err := w.WriteFileHeader(1<<18, link); err != nil {
		tb.Fatal(err)
	}
	for i, p := range packets {
		at := time.Unix(1_700_000_000, 0).Add(time.Duration(i) * time.Millisecond)
		if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(p), Length: len(p)}, p); err != nil {
			tb.Fatal(err)
		}
	}
	return b
}

// read reads a file of packets.
func read(t *testing.T, packets [][]byte) (*record, Stats) {
	t.Helper()
	r := new(record)
	s, err := Read([]io.Reader{file(t, layers.LinkTypeEthernet, packets)}, options(r))
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// example is a connection with ten gets: 4 packets that open it, 20, and 3 that close it.
func example(t *testing.T) [][]byte {
	c := converse(t, 40000)
	for xid := range int32(10) {
		c.get(xid + 1)
	}
	c.end()
	return c.packets
}

func TestWholeConnection(t *testing.T) {
	r, s := read(t, example(t))
	if want := (Stats{Packets: 27, Connections: 1}); s != want {
		t.Errorf("stats are %+v, want %+v", s, want)
	}
	c := r.connections[0]
	if c.Client != "10.0.0.1:40000" || c.Server != "10.0.0.2:2181" || c.Joined || !c.closed || len(c.messages) != 22 {
		t.Errorf("got %+v, want the connection from 10.0.0.1:40000 to 10.0.0.2:2181 with 22 messages, closed", c)
	}
	if want := []traffic.Session{{ID: 7, Timeout: 6 * time.Second, Ordered: true}}; !slices.Equal(c.sessions, want) {
		t.Errorf("sessions are %v, want %v", c.sessions, want)
	}
	if want := "1 get /n watch=true"; !strings.HasPrefix(c.messages[2], want) {
		t.Errorf("the third message is %q, want %q...", c.messages[2], want)
	}
	if all := strings.Join(c.messages, "\n"); strings.Contains(all, "secret") {
		t.Errorf("the observer got a secret:\n%s", all)
	}
}

// TestPacketsOutOfOrder exchanges packets and repeats some: what is reported stays the same.
func TestPacketsOutOfOrder(t *testing.T) {
	c := converse(t, 40000)
	for _, say := range []func(int32){c.ask, c.answer} {
		for xid := range int32(4) {
			say(xid + 1)
		}
	}
	c.end()
	want, _ := read(t, c.packets)
	p := slices.Clone(c.packets)
	p[4], p[6] = p[6], p[4] // requests
	p[8], p[9] = p[9], p[8] // replies
	p = slices.Insert(p, 10, p[5], p[8])
	got, s := read(t, p)
	if diff := cmp.Diff(want.byClient(), got.byClient()); diff != "" || s.Lost != 0 {
		t.Errorf("%d bytes are lost, want none; (-in order +out of order):\n%s", s.Lost, diff)
	}
}

// TestLostPacket removes a reply: its bytes are reported as a gap, and all others are decoded.
func TestLostPacket(t *testing.T) {
	p := example(t)
	size := int64(len(p[9]) - 14 - 20 - 20)
	r, s := read(t, slices.Delete(p, 9, 10))
	c := r.connections[0]
	if c.gap != size || s.Lost != size {
		t.Errorf("%d bytes are reported as a gap and %d counted, want the %d of the reply", c.gap, s.Lost, size)
	}
	if len(c.messages) != 21 || c.Joined {
		t.Errorf("%d messages, want 21 of 22", len(c.messages))
	}
}

// TestJoinedInTheMiddle begins a capture at each packet of the connection.
func TestJoinedInTheMiddle(t *testing.T) {
	all := example(t)
	for from := 4; from < 24; from++ {
		r, s := read(t, all[from:])
		c := r.connections[0]
		if !c.Joined || s.Joined != 1 || len(r.connections) != 1 || len(c.sessions) > 0 || !c.closed {
			t.Errorf("from packet %d: got %+v, want one connection that was joined", from, c)
		}
		if got, want := len(c.messages), 24-from; got != want {
			t.Errorf("from packet %d: %d messages, want %d", from, got, want)
		}
	}
}

// TestJoinedWithinAPacket begins with the second half of a large request: nothing is made of it.
func TestJoinedWithinAPacket(t *testing.T) {
	c := converse(t, 40000)
	c.segment(true, layers.TCP{ACK: true}, make([]byte, 1000))
	c.get(1)
	r, s := read(t, c.packets[4:])
	if got := r.connections[0]; len(got.messages) != 2 || got.gap != 1000 || s.Lost != 1000 {
		t.Errorf("got %v and a gap of %d bytes, want two messages and a gap of 1000", got.messages, got.gap)
	}
}

// TestPortsAreUsedAgain has a client connect twice from one port. However much of the end of the
// first connection the capture has, the second one is seen whole.
func TestPortsAreUsedAgain(t *testing.T) {
	reset, fin := layers.TCP{RST: true, ACK: true}, layers.TCP{FIN: true, ACK: true}
	for name, end := range map[string]func(c *conversation){
		"no end":                func(*conversation) {},
		"reset by the client":   func(c *conversation) { c.segment(true, reset, nil) },
		"reset by the server":   func(c *conversation) { c.segment(false, reset, nil) },
		"end of one direction":  func(c *conversation) { c.segment(false, fin, nil) },
		"end of both":           func(c *conversation) { c.end() },
		"reply after the reset": func(c *conversation) { c.ask(2); c.segment(true, reset, nil); c.answer(2) },
		"reset out of order": func(c *conversation) {
			c.next[true] += 100
			c.segment(true, reset, nil)
		},
	} {
		c := converse(t, 40000)
		c.get(1)
		end(c)
		for _, fromClient := range []bool{true, false} {
			c.next[fromClient] += 1 << 20
		}
		again := len(c.packets)
		c.open()
		c.packets = slices.Insert(c.packets, again, c.packets[again]) // the first packet is sent twice
		c.get(1)
		c.get(2)
		c.end()
		r, s := read(t, c.packets)
		if len(r.connections) != 2 || s.Joined != 0 {
			t.Errorf("%s: %d connections, %d joined; want 2, none joined", name, len(r.connections), s.Joined)
			continue
		}
		for i, c := range r.connections {
			if want := 4 + 2*i; !c.closed || len(c.messages) < want || i == 1 && len(c.messages) != want || c.gap > 0 {
				t.Errorf("%s: connection %d is closed: %v, with %d messages and a gap of %d bytes; want it closed with %d and none",
					name, i+1, c.closed, len(c.messages), c.gap, want)
			}
		}
	}
}

// TestOtherPorts reads a file without connections to the port.
func TestOtherPorts(t *testing.T) {
	r := new(record)
	o := options(r)
	o.Ports = []uint16{2182}
	s, err := Read([]io.Reader{file(t, layers.LinkTypeEthernet, example(t))}, o)
	if err != nil || s.Packets != 0 || len(r.connections) != 0 {
		t.Errorf("got %+v, %v and %d connections, want nothing", s, err, len(r.connections))
	}
	names := []string{"2182", "most others are to or from 2181"}
	wantMissed(t, r, traffic.Undecoded{Cause: traffic.OtherPorts, Packets: 27, Names: names})
}

// TestErrorsNameTheFile reads an empty and a damaged file beside a good one.
func TestErrorsNameTheFile(t *testing.T) {
	content := file(t, layers.LinkTypeEthernet, example(t)).Bytes()
	write := func(name string, content []byte) *os.File {
		name = filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	_, err := Read([]io.Reader{write("good.pcap", content), write("empty.pcap", nil)}, options(new(record)))
	if err == nil || !strings.Contains(err.Error(), "empty.pcap: not a pcap or pcapng file") {
		t.Errorf("got %v, want an error that names the file", err)
	}
	cut := write("cut.pcap", content[:len(content)-10])
	s, err := Read([]io.Reader{write("good.pcap", content), cut}, options(new(record)))
	if want := fmt.Sprintf("cut.pcap: after %d packets", len(example(t))-1); err != nil || s.Damaged == nil ||
		!strings.Contains(s.Damaged.Error(), want) {
		t.Errorf("got %v, %v, want %q", s.Damaged, err, want)
	}
}

// TestNoCapture reads a file that is none.
func TestNoCapture(t *testing.T) {
	o := Options{Ports: []uint16{port}, Protocol: traffic.ZooKeeper(), Observer: quiet{}}
	if _, err := Read([]io.Reader{strings.NewReader("GET / HTTP/1.1")}, o); err == nil {
		t.Error("text is read as a capture file")
	}
	o.Ports = nil
	if _, err := Read([]io.Reader{file(t, layers.LinkTypeEthernet, example(t))}, o); err == nil {
		t.Error("no port: no error")
	}
}

// BenchmarkRead reads a file with 50 connections of one get after the other.
func BenchmarkRead(b *testing.B) {
	var connections [50]*conversation
	for i := range connections {
		connections[i] = converse(b, layers.TCPPort(40000+i))
	}
	for xid := range int32(200) {
		for _, c := range connections {
			c.get(xid + 1)
		}
	}
	var packets [][]byte
	for i := range connections[0].packets {
		for _, c := range connections {
			packets = append(packets, c.packets[i])
		}
	}
	content := file(b, layers.LinkTypeEthernet, packets).Bytes()
	b.ReportAllocs()
	for b.Loop() {
		s, err := Read([]io.Reader{bytes.NewReader(content)}, options(quiet{}))
		if err != nil || s.Packets != uint64(len(packets)) || s.Lost > 0 {
			b.Fatalf("%+v, %v", s, err)
		}
	}
	b.ReportMetric(float64(len(packets)*b.N)/b.Elapsed().Seconds(), "packets/s")
	b.ReportMetric(0, "ns/op")
}

// TestSilentConnectionsAreBounded opens more connections than an assembly keeps, as a scan does, and says nothing on
// them. Those beyond the limit are counted, and when the others have been silent for long enough there is room again.
func TestSilentConnectionsAreBounded(t *testing.T) {
	const most, opened = 10, 25
	a, err := newAssembly(Options{Ports: []uint16{port}, Protocol: traffic.ZooKeeper(), Observer: new(record)})
	if err != nil {
		t.Fatal(err)
	}
	a.most = most
	at := time.Unix(1_700_000_000, 0)
	open := func(client layers.TCPPort) {
		c := &conversation{tb: t, client: client, next: map[bool]uint32{}}
		c.segment(true, layers.TCP{SYN: true}, nil)
		for _, p := range c.packets {
			ci := gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(p), Length: len(p)}
			a.packet(a.parser(layers.LayerTypeEthernet), p, ci)
		}
	}
	for i := range opened {
		open(layers.TCPPort(10000 + i))
	}
	if a.open != most || a.stats.Connections != most || a.stats.Ignored != opened-most {
		t.Errorf("%d kept, %d connections and %d ignored, want %d, %d and %d", a.open, a.stats.Connections, a.stats.Ignored, most, most, opened-most)
	}
	at = at.Add(forgottenEarly + patience)
	open(20000) // is ignored, and lets the silent ones be forgotten
	open(20001)
	if a.open != 1 || a.stats.Connections != most+1 {
		t.Errorf("%d kept of %d connections after a minute, want 1 of %d", a.open, a.stats.Connections, most+1)
	}
}
