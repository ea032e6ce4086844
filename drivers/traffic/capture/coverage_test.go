package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// wantMissed checks what was not decoded, and why. Names that are nil are those of nothing.
func wantMissed(t *testing.T, r *record, want ...traffic.Undecoded) {
	t.Helper()
	for i := range want {
		if want[i].Names == nil {
			want[i].Names = []string{}
		}
	}
	if want == nil {
		want = []traffic.Undecoded{}
	}
	if diff := cmp.Diff(want, r.missed.List()); diff != "" {
		t.Errorf("not decoded (-want +got):\n%s", diff)
	}
}

// snapped returns a capture file that has at most length bytes of each packet.
func snapped(t *testing.T, packets [][]byte, length int) *bytes.Buffer {
	b := new(bytes.Buffer)
	w := pcapgo.NewWriter(b)
	if err := w.WriteFileHeader(uint32(length), layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for i, p := range packets {
		n := min(len(p), length)
		at := time.Unix(1_700_000_000, 0).Add(time.Duration(i) * time.Millisecond)
		ci := gopacket.CaptureInfo{Timestamp: at, CaptureLength: n, Length: len(p)}
		if err := w.WritePacket(ci, p[:n]); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func options(o traffic.Observer) Options {
	return Options{Ports: []uint16{port}, Protocol: traffic.ZooKeeper(), Observer: o}
}

// readFiles reads several files of packets as one capture.
func readFiles(t *testing.T, files ...io.Reader) (*record, Stats) {
	t.Helper()
	r := new(record)
	s, err := Read(files, options(r))
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

// TestSnapshotLength cuts packets short in each of their parts. What is cut off is counted to the byte, at
// the end of a connection too, and what is not cut off is decoded unless it is the rest of a packet of the
// protocol.
func TestSnapshotLength(t *testing.T) {
	packets := example(t)[:4+20]
	var sizes []int
	for _, p := range packets {
		sizes = append(sizes, len(p))
	}
	for _, length := range []int{54, 60, 70, 90, 96, slices.Max(sizes)} {
		r, s := readFiles(t, snapped(t, packets, length))
		cut, payload := int64(0), int64(0)
		for _, n := range sizes {
			if n > 60 { // else it is padded to that length
				cut += int64(max(0, n-length))
				payload += int64(n - 54)
			}
		}
		var got int64
		for _, u := range r.missed.List() {
			if u.Cause == traffic.Cut {
				got += u.Bytes
			}
		}
		if got < cut || got > payload || length == 54 && got != cut || cut == 0 && len(r.missed.List()) > 0 {
			t.Errorf("cut at %d bytes: %+v, want at least the %d bytes that were cut off", length, r.missed.List(), cut)
		}
		if len(r.connections) != 1 || s.Packets != 24 {
			t.Errorf("cut at %d bytes: %d connections, %+v; want one of 24 packets", length, len(r.connections), s)
		}
	}
	r, _ := readFiles(t, snapped(t, packets, 40)) // no packet has its header of TCP
	all := int64(0)
	for _, n := range sizes {
		all += int64(n)
	}
	wantMissed(t, r, traffic.Undecoded{Cause: traffic.Cut, Packets: 24, Bytes: all},
		traffic.Undecoded{Cause: traffic.OtherPorts, Packets: 24, Names: []string{strconv.Itoa(port)}})
}

// TestFileEndsWithinAPacket cuts a file of each format off, within a packet and within the header of one.
func TestFileEndsWithinAPacket(t *testing.T) {
	ng := new(bytes.Buffer)
	w, err := pcapgo.NewNgWriter(ng, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range example(t) {
		at := time.Unix(1_700_000_000, int64(i))
		ci := gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(p), Length: len(p)}
		if err := w.WritePacket(ci, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	plain := file(t, layers.LinkTypeEthernet, example(t)).Bytes()
	last := 16 + 14 + 20 + 20 // the header of the last packet in the file, and the packet
	for name, content := range map[string][]byte{
		"pcap": plain[:len(plain)-10], "header": plain[:len(plain)-last+3], "pcapng": ng.Bytes()[:ng.Len()-10],
	} {
		r, s := readFiles(t, bytes.NewReader(content))
		if s.Packets != 26 || s.Damaged == nil {
			t.Errorf("%s: %+v, want 26 packets and an error", name, s)
		}
		wantMissed(t, r, traffic.Undecoded{Cause: traffic.Truncated, Packets: 1})
	}
	r, s := readFiles(t, bytes.NewReader(plain))
	if s.Damaged != nil {
		t.Error(s.Damaged)
	}
	wantMissed(t, r)
}

// TestSeveralFiles splits a capture into files, by time and by direction, and gives them in any order.
func TestSeveralFiles(t *testing.T) {
	packets := example(t)
	want, _ := read(t, packets)
	part := func(of func(i int) bool) *bytes.Buffer {
		b := new(bytes.Buffer)
		w := pcapgo.NewWriter(b)
		if err := w.WriteFileHeader(1<<18, layers.LinkTypeEthernet); err != nil {
			t.Fatal(err)
		}
		for i, p := range packets {
			at := time.Unix(1_700_000_000, int64(i)*1e6)
			ci := gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(p), Length: len(p)}
			if of(i) && w.WritePacket(ci, p) != nil {
				t.Fatal("cannot write")
			}
		}
		return b
	}
	for name, of := range map[string]func(i int) bool{
		"rotated":      func(i int) bool { return i < 9 },
		"second first": func(i int) bool { return i >= 9 },
		"interleaved":  func(i int) bool { return i%2 == 0 },
	} {
		got, s := readFiles(t, part(of), part(func(i int) bool { return !of(i) }))
		if diff := cmp.Diff(want.byClient(), got.byClient()); diff != "" || s.Packets != 27 {
			t.Errorf("%s: %+v (-one file +two):\n%s", name, s, diff)
		}
		wantMissed(t, got)
	}
}

// wrapped puts each packet into a tunnel, below the layers.
func wrapped(t *testing.T, packets [][]byte, strip int, around ...gopacket.SerializableLayer) (all [][]byte) {
	for _, p := range packets {
		b := gopacket.NewSerializeBuffer()
		err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true},
			append(slices.Clone(around), gopacket.Payload(p[strip:]))...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, slices.Clone(b.Bytes()))
	}
	return all
}

// TestTunnels puts the connection into tunnels: it is decoded as without them.
func TestTunnels(t *testing.T) {
	const ethernet = 14 // bytes of a header
	address, host := make(net.HardwareAddr, 6), net.IP{192, 0, 2, 1}
	outer := func(protocol layers.IPProtocol) []gopacket.SerializableLayer {
		return []gopacket.SerializableLayer{
			&layers.Ethernet{SrcMAC: address, DstMAC: address, EthernetType: layers.EthernetTypeIPv4},
			&layers.IPv4{Version: 4, TTL: 64, Protocol: protocol, SrcIP: host, DstIP: host},
		}
	}
	vxlan := func(port layers.UDPPort) []gopacket.SerializableLayer {
		udp := &layers.UDP{SrcPort: 50000, DstPort: port}
		return append(outer(layers.IPProtocolUDP), udp, &layers.VXLAN{ValidIDFlag: true, VNI: 7})
	}
	gre := append(outer(layers.IPProtocolGRE), &layers.GRE{Protocol: layers.EthernetTypeIPv4})
	want, _ := read(t, example(t))
	for name, packets := range map[string][][]byte{
		"VXLAN":            wrapped(t, example(t), 0, vxlan(4789)...),
		"VXLAN of flannel": wrapped(t, example(t), 0, vxlan(8472)...),
		"GRE":              wrapped(t, example(t), ethernet, gre...),
		"IP in IP":         wrapped(t, example(t), ethernet, outer(layers.IPProtocolIPv4)...),
	} {
		got, s := read(t, packets)
		if diff := cmp.Diff(want.byClient(), got.byClient()); diff != "" || s.Packets != 27 {
			t.Errorf("%s: %+v (-without +within):\n%s", name, s, diff)
		}
		wantMissed(t, got)
	}
}

// TestExtensionHeaders has headers between that of IPv6 and that of TCP: the connection is decoded as
// without them, and fragments behind them are counted.
func TestExtensionHeaders(t *testing.T) {
	const headers = 14 + 20 // bytes of Ethernet and IPv4
	const hopByHop, tcp, fragment, routing, destination = 0, 6, 44, 43, 60
	host := net.ParseIP("2001:db8::1")
	want, _ := read(t, example(t))
	for name, chain := range map[string][]byte{
		"none": nil, "hop by hop": {hopByHop}, "destination": {destination}, "routing": {routing},
		"all": {hopByHop, destination, routing, destination}, "fragment": {fragment},
		"fragment behind others": {hopByHop, destination, fragment},
	} {
		around := []gopacket.SerializableLayer{
			&layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv6},
			&layers.IPv6{Version: 6, HopLimit: 64, SrcIP: host, DstIP: host,
				NextHeader: layers.IPProtocol(append(chain, tcp)[0])},
		}
		for i := range chain {
			header := []byte{append(chain, tcp)[i+1], 0, 1, 4, 0, 0, 0, 0} // padding of four bytes
			if chain[i] == fragment {
				header = []byte{tcp, 0, 0, 1, 0, 0, 0, 7} // the first, and more follow
			}
			around = append(around, gopacket.Payload(header))
		}
		var plain [][]byte // without what Ethernet pads a short packet with
		for _, p := range example(t) {
			plain = append(plain, p[:14+int(binary.BigEndian.Uint16(p[16:]))])
		}
		got, s := read(t, wrapped(t, plain, headers, around...))
		if slices.Contains(chain, fragment) {
			if m := got.missed.List(); len(m) == 0 || m[0].Cause != traffic.Fragmented || m[0].Packets != 27 {
				t.Errorf("%s: %+v, want 27 fragments", name, m)
			}
			continue
		}
		if len(got.connections) != 1 || s.Packets != 27 {
			t.Errorf("%s: %+v, want a connection of 27 packets", name, s)
			continue
		}
		if diff := cmp.Diff(want.connections[0].messages, got.connections[0].messages); diff != "" {
			t.Errorf("%s (-without +with):\n%s", name, diff)
		}
		wantMissed(t, got)
	}
}

// TestFragments splits the packet of a reply into two fragments, which are counted and not decoded. Those
// of other ports are not counted.
func TestFragments(t *testing.T) {
	for own, want := range map[bool]int64{true: 24, false: 0} {
		packets := example(t)
		ip := packets[9][14:]
		if !own {
			ip[20], ip[21] = 0x1f, 0x90 // the reply is from port 8080
		}
		first, second := slices.Clone(packets[9][:14+20+24]), slices.Clone(packets[9][:14+20])
		second = append(second, packets[9][14+20+24:]...)
		for i, f := range [][]byte{first, second} {
			f[14+2], f[14+3] = 0, byte(len(f)-14)
			f[14+6], f[14+7] = byte(0x20*(1-i)), byte(3*i) // more fragments, and the offset in units of 8 bytes
		}
		r, _ := read(t, slices.Replace(packets, 9, 10, first, second))
		got := int64(0)
		for _, u := range r.missed.List() {
			if u.Cause == traffic.Fragmented {
				got += u.Bytes
			}
		}
		if got != want {
			t.Errorf("own port %v: %+v, want %d bytes in fragments", own, r.missed.List(), want)
		}
	}
}

// TestPortsOfServersAreNamed reads packets of a server whose port is higher than those of its clients.
// Without the beginnings of connections the port with most packets is the first that is named.
func TestPortsOfServersAreNamed(t *testing.T) {
	var whole, later [][]byte
	for client := range layers.TCPPort(5) {
		c := converse(t, 1000+client)
		c.get(1)
		whole, later = append(whole, c.packets...), append(later, c.packets[2:]...)
	}
	for want, packets := range map[string][][]byte{"2181": whole, "2181, 1000, 1001": later} {
		r := new(record)
		o := options(r)
		o.Ports = []uint16{9}
		if _, err := Read([]io.Reader{file(t, layers.LinkTypeEthernet, packets)}, o); err != nil {
			t.Fatal(err)
		}
		wantMissed(t, r, traffic.Undecoded{
			Cause: traffic.OtherPorts, Packets: int64(len(packets)),
			Names: []string{"9", "most others are to or from " + want},
		})
	}
}

// TestEachPortHasPackets reads a file with packets of two servers by several lists of ports: each port without
// a packet is named, also beside one that has some.
func TestEachPortHasPackets(t *testing.T) {
	c := converse(t, 40000)
	c.get(1)
	from, to := []byte{port >> 8, port & 0xff}, []byte{9000 >> 8, 9000 & 0xff}
	packets := slices.Clone(c.packets)
	for _, p := range c.packets { // checksums are not checked
		packets = append(packets, bytes.ReplaceAll(p, from, to))
	}
	other := int64(len(c.packets))
	for _, c := range []struct {
		ports []uint16
		want  []traffic.Undecoded
	}{
		{[]uint16{port, 9000}, nil},
		{[]uint16{port}, nil},
		{[]uint16{port, 9000, 9}, []traffic.Undecoded{{Cause: traffic.OtherPorts, Names: []string{"9"}}}},
		{[]uint16{port, 8, 9}, []traffic.Undecoded{{Cause: traffic.OtherPorts, Packets: other,
			Names: []string{"8", "9", "most others are to or from 9000"}}}},
	} {
		r := new(record)
		o := options(r)
		o.Ports = c.ports
		if _, err := Read([]io.Reader{file(t, layers.LinkTypeEthernet, packets)}, o); err != nil {
			t.Fatal(err)
		}
		wantMissed(t, r, c.want...)
	}
}

// TestPortOfAClient gives the port of a client, alone and beside the server's, and also loses the first
// packet or both that open the connection: the client's packets are never decoded as the server's, and
// its port is named.
func TestPortOfAClient(t *testing.T) {
	whole := example(t)
	right, _ := read(t, whole)
	for name, c := range map[string]struct {
		ports   []uint16
		packets [][]byte
		want    []traffic.Undecoded
	}{
		"alone": {[]uint16{40000}, whole, []traffic.Undecoded{{Cause: traffic.OtherPorts,
			Packets: int64(len(whole)), Names: []string{"40000", "most others are to or from 2181"}}}},
		"answer first": {[]uint16{40000}, whole[1:], []traffic.Undecoded{{Cause: traffic.OtherPorts,
			Packets: int64(len(whole) - 1), Names: []string{"40000", "most others are to or from 2181"}}}},
		"beside": {[]uint16{40000, port}, whole, []traffic.Undecoded{
			{Cause: traffic.OtherPorts, Names: []string{"40000"}}}},
	} {
		r := new(record)
		o := options(r)
		o.Ports = c.ports
		if _, err := Read([]io.Reader{file(t, layers.LinkTypeEthernet, c.packets)}, o); err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		wantMissed(t, r, c.want...)
		want := map[string][]string{}
		if len(c.ports) > 1 {
			want = right.byClient()
		}
		if diff := cmp.Diff(want, r.byClient()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	joined := new(record)
	o := options(joined)
	o.Ports = []uint16{40000}
	if _, err := Read([]io.Reader{file(t, layers.LinkTypeEthernet, whole[4:])}, o); err != nil {
		t.Fatal(err)
	}
	if got := joined.missed.List(); len(got) != 1 || got[0].Cause != traffic.Joined {
		t.Errorf("joined in the middle: %+v, want bytes that cannot be decoded", got)
	}
}

// TestPortOfAClientIsUsedAgain opens connections from a server's port, more than are kept: those beyond
// are missing.
func TestPortOfAClientIsUsedAgain(t *testing.T) {
	r := new(record)
	o := options(r)
	o.Ports = []uint16{40000}
	a, err := newAssembly(o)
	if err != nil {
		t.Fatal(err)
	}
	a.most = 0
	for _, p := range example(t) {
		a.packet(a.parser(layers.LayerTypeEthernet), p, gopacket.CaptureInfo{CaptureLength: len(p), Length: len(p)})
	}
	a.end()
	if got := r.missed.List(); !slices.ContainsFunc(got, func(u traffic.Undecoded) bool {
		return u.Cause == traffic.BeyondLimit
	}) {
		t.Errorf("%+v, want connections beyond the limit", got)
	}
}

// TestOlderConnections joins a connection that is no ZooKeeper's in the middle: it is named by what it is.
func TestOlderConnections(t *testing.T) {
	record := append([]byte{0x17, 3, 3, 0, 200}, make([]byte, 200)...)
	for want, bytes := range map[traffic.Cause][]byte{
		traffic.TLS:    record,
		traffic.HTTP1:  []byte("POST /v3/kv/range HTTP/1.1\r\n\r\n"),
		traffic.Joined: make([]byte, 100),
	} {
		c := converse(t, 40000)
		c.segment(true, layers.TCP{ACK: true, PSH: true}, bytes)
		r, _ := read(t, c.packets[4:])
		wantMissed(t, r, traffic.Undecoded{Cause: want, Bytes: int64(len(bytes))})
	}
}

// TestOneDirection reads captures of one direction, of one direction of the second half, and of both: what the other side has
// acknowledged is missing where it did not come.
func TestOneDirection(t *testing.T) {
	packets := example(t)
	fromServer := func(p []byte) bool {
		decoded := gopacket.NewPacket(p, layers.LayerTypeEthernet, gopacket.Default)
		tcp, ok := decoded.Layer(layers.LayerTypeTCP).(*layers.TCP)
		return ok && tcp.SrcPort == 2181
	}
	for name, c := range map[string]struct {
		dropped func(i int, p []byte) bool
		missing bool
	}{
		"both":                {func(int, []byte) bool { return false }, false},
		"to the server":       {func(_ int, p []byte) bool { return fromServer(p) }, true},
		"to the server later": {func(i int, p []byte) bool { return i > len(packets)/2 && fromServer(p) }, true},
		"to the client":       {func(_ int, p []byte) bool { return !fromServer(p) }, true},
		"to the client later": {func(i int, p []byte) bool { return i > len(packets)/2 && !fromServer(p) }, true},
	} {
		var kept [][]byte
		for i, p := range packets {
			if !c.dropped(i, p) {
				kept = append(kept, p)
			}
		}
		r, _ := read(t, kept)
		missing := false
		for _, u := range r.missed.List() {
			missing = missing || !u.Cause.Harmless()
		}
		if missing != c.missing {
			t.Errorf("%s: %+v; want something missing: %v", name, r.missed.List(), c.missing)
		}
	}
}
