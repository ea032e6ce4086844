package capture

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/reassembly"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Options are the options of a capture.
type Options struct {
	// Ports are the servers' ports. Other connections are ignored.
	Ports    []uint16
	Protocol traffic.Protocol
	// Observer gets what the connections carry.
	Observer traffic.Observer
}

// Stats says what was captured. The observer gets what is missing.
type Stats struct {
	Packets     uint64 // to or from the servers' ports
	Connections uint64
	Joined      uint64 // connections that were open before the capture began
	Lost        int64  // bytes of connections that were missing, or not decoded because bytes were missing
	Dropped     uint64 // packets that the kernel dropped, because the capture was late
	// Ignored is how many connections were not followed, because too many were open. Those that were open
	// before the capture began count as one.
	Ignored uint64
	// Damaged is the error after which the rest of a file was not read; nil without one.
	Damaged error
}

// An assembly puts packets together to the streams of connections.
type assembly struct {
	options   Options
	stats     Stats
	assembler *reassembly.Assembler
	ip4, ip6  *gopacket.DecodingLayerParser
	layers    packetLayers
	decoded   []gopacket.LayerType
	contexts  []context
	flushed   time.Time               // when missing segments were last given up
	cutOff    int                     // bytes that the capture has cut off the latest segment
	open      int                     // connections that the assembler keeps
	most      int                     // how many it may keep: maxOpen, except in tests
	reused    bool                    // the latest segment opens a new connection between ports that another one has had
	all       uint64                  // packets, of any kind
	used      map[layers.TCPPort]bool // the servers' ports to which there are connections
	outgoing  map[opened]bool         // connections from one of the servers' ports to another port
	others    otherPorts
}

// packetLayers are the layers that a packet may have.
type packetLayers struct {
	ethernet layers.Ethernet
	tag      layers.Dot1Q
	loopback layers.Loopback
	cooked   layers.LinuxSLL
	cooked2  layers.LinuxSLL2
	ip4      layers.IPv4
	ip6      layers.IPv6
	options6 extension
	udp      layers.UDP
	vxlan    layers.VXLAN
	geneve   layers.Geneve
	gre      layers.GRE
	tcp      layers.TCP
}

// An extension is a header between that of IPv6 and what the packet carries, except that of a fragment.
type extension struct{ layers.IPv6ExtensionSkipper }

var extensions = gopacket.NewLayerClass([]gopacket.LayerType{
	layers.LayerTypeIPv6HopByHop, layers.LayerTypeIPv6Routing, layers.LayerTypeIPv6Destination,
})

// CanDecode implements [gopacket.DecodingLayer].
func (*extension) CanDecode() gopacket.LayerClass { return extensions }

// Of one connection at most maxPages segments wait for a missing one, and of all maxAllPages.
const (
	maxPages    = 256
	maxAllPages = 64 << 10
)

// patience is how long, in the capture's time, segments wait for one that is missing.
const patience = time.Second

// forgotten is how long a connection carries nothing until it is forgotten, and forgottenEarly how long when
// half of the connections that can be kept are open: a scan opens many and says nothing on them.
const (
	forgotten      = time.Hour
	forgottenEarly = time.Minute
)

// maxOpen is how many connections are kept. The assembler takes some 500 bytes for each.
const maxOpen = 100_000

// flannelPort is the port at which Linux sends VXLAN unless it is told another one: flannel does not.
const flannelPort = 8472

func init() { layers.RegisterUDPPortLayerType(flannelPort, layers.LayerTypeVXLAN) }

func newAssembly(o Options) (*assembly, error) {
	if len(o.Ports) == 0 {
		return nil, errors.New("capture: no port of a server is given")
	}
	a := &assembly{options: o, most: maxOpen, used: map[layers.TCPPort]bool{}, others: otherPorts{},
		outgoing: map[opened]bool{}}
	a.assembler = reassembly.NewAssembler(reassembly.NewStreamPool(a))
	a.assembler.MaxBufferedPagesPerConnection = maxPages
	a.assembler.MaxBufferedPagesTotal = maxAllPages
	a.ip4, a.ip6 = a.parser(layers.LayerTypeIPv4), a.parser(layers.LayerTypeIPv6)
	return a, nil
}

func (a *assembly) parser(first gopacket.LayerType) *gopacket.DecodingLayerParser {
	l := &a.layers
	p := gopacket.NewDecodingLayerParser(first, &l.ethernet, &l.tag, &l.loopback, &l.cooked,
		&l.cooked2, &l.ip4, &l.ip6, &l.options6, &l.udp, &l.vxlan, &l.geneve, &l.gre, &l.tcp)
	p.IgnoreUnsupported = true
	return p
}

// packet takes the next packet, which the parser takes apart; it is nil for packets that begin with IP. It
// keeps nothing of data.
func (a *assembly) packet(parser *gopacket.DecodingLayerParser, data []byte, ci gopacket.CaptureInfo) {
	a.all++
	if parser == nil {
		parser = a.ip4
		if len(data) > 0 && data[0]>>4 == 6 {
			parser = a.ip6
		}
	}
	if err := parser.DecodeLayers(data, &a.decoded); err != nil {
		if ci.CaptureLength < ci.Length { // in the middle of a header
			a.options.Observer.Missed(traffic.Undecoded{Cause: traffic.Cut, Packets: 1, Bytes: int64(ci.Length)})
		}
		return
	}
	// In a tunnel the layers come several times: those of the inner packet are the last, and are kept.
	var network gopacket.Flow
	for _, l := range a.decoded {
		switch l {
		case layers.LayerTypeIPv4:
			network = a.layers.ip4.NetworkFlow()
		case layers.LayerTypeIPv6:
			network = a.layers.ip6.NetworkFlow()
		case layers.LayerTypeTCP:
			a.segment(network, ci)
		}
	}
	a.countFragment()
	a.flush(ci.Timestamp)
}

// countFragment counts a fragment of an IP packet of TCP. Only the first of a packet has the ports; it
// stands for all.
func (a *assembly) countFragment() {
	if len(a.decoded) == 0 {
		return
	}
	var payload []byte
	switch l, last := &a.layers, a.decoded[len(a.decoded)-1]; {
	case last == layers.LayerTypeIPv4:
		ip := &l.ip4
		if ip.Protocol == layers.IPProtocolTCP && ip.Flags&layers.IPv4MoreFragments != 0 && ip.FragOffset == 0 {
			payload = ip.Payload
		}
	case last == layers.LayerTypeIPv6:
		payload = firstFragment(l.ip6.NextLayerType(), l.ip6.Payload)
	case extensions.Contains(last):
		payload = firstFragment(l.options6.NextLayerType(), l.options6.Payload)
	}
	if len(payload) < 4 {
		return
	}
	from, to := binary.BigEndian.Uint16(payload), binary.BigEndian.Uint16(payload[2:])
	if a.isServer(layers.TCPPort(from)) || a.isServer(layers.TCPPort(to)) {
		u := traffic.Undecoded{Cause: traffic.Fragmented, Packets: 1, Bytes: int64(len(payload))}
		a.options.Observer.Missed(u)
	}
}

// protocolTCP is the number of TCP in headers of IP.
const protocolTCP = 6

// firstFragment returns what the first fragment of a packet of TCP over IPv6 carries, nil for any other
// packet.
func firstFragment(next gopacket.LayerType, p []byte) []byte {
	const header, protocol, offset = 8, 0, 2 // of a fragment
	if next == layers.LayerTypeIPv6Fragment && len(p) > header && p[protocol] == protocolTCP &&
		binary.BigEndian.Uint16(p[offset:])&^7 == 0 {
		return p[header:]
	}
	return nil
}

func (a *assembly) segment(network gopacket.Flow, ci gopacket.CaptureInfo) {
	tcp := &a.layers.tcp
	if !a.concerns(network, tcp) {
		a.others.count(tcp)
		return
	}
	a.stats.Packets++
	a.cutOff = a.cut(network, ci)
	c := a.context(ci)
	a.assembler.AssembleWithContext(network, tcp, c)
	if a.reused {
		a.forget(network, tcp, c)
		a.reused = false
		a.assembler.AssembleWithContext(network, tcp, c)
	}
}

// cut returns how many bytes of the latest segment the capture has cut off. What Ethernet pads a short
// packet with is none of them.
func (a *assembly) cut(network gopacket.Flow, ci gopacket.CaptureInfo) int {
	off := ci.Length - ci.CaptureLength
	if off <= 0 {
		return 0
	}
	payload := int(a.layers.ip6.Length)
	if network.EndpointType() == layers.EndpointIPv4 {
		payload = int(a.layers.ip4.Length) - 4*int(a.layers.ip4.IHL)
	}
	if tcp := &a.layers.tcp; payload > 0 { // else it is longer than its header can say
		off = min(off, payload-4*int(tcp.DataOffset)-len(tcp.Payload))
	}
	return max(off, 0)
}

// forget makes the assembler drop the connection of a segment, which has ended. The assembler does
// so itself only when it has seen the end of both directions.
func (a *assembly) forget(network gopacket.Flow, tcp *layers.TCP, c *context) {
	end := layers.TCP{SrcPort: tcp.SrcPort, DstPort: tcp.DstPort, RST: true}
	back := layers.TCP{SrcPort: tcp.DstPort, DstPort: tcp.SrcPort, RST: true}
	end.SetInternalPortsForTesting() // without it the segment has no flow
	back.SetInternalPortsForTesting()
	a.assembler.AssembleWithContext(network, &end, c)
	a.assembler.AssembleWithContext(network.Reverse(), &back, c)
}

func (a *assembly) isServer(port layers.TCPPort) bool {
	return slices.Contains(a.options.Ports, uint16(port))
}

// An opened is a connection as the side that opened it has it.
type opened struct {
	network  gopacket.Flow
	from, to layers.TCPPort
}

// toServer reports whether a segment is from the side that opened the connection. A segment that opens
// one says so; in the middle of a connection that side is the one whose port was not given.
func (a *assembly) toServer(tcp *layers.TCP) bool {
	if tcp.SYN {
		return !tcp.ACK
	}
	return a.isServer(tcp.DstPort)
}

// concerns reports whether a segment belongs to a connection to one of the servers' ports. A connection
// that was opened from such a port to another one does not: there the port is a client's.
func (a *assembly) concerns(network gopacket.Flow, tcp *layers.TCP) bool {
	from, to := a.isServer(tcp.SrcPort), a.isServer(tcp.DstPort)
	if !from && !to {
		return false
	}
	server := tcp.DstPort
	if !a.toServer(tcp) {
		server = tcp.SrcPort
	}
	if from != to {
		c := opened{network, tcp.SrcPort, tcp.DstPort}
		if to {
			c = opened{network.Reverse(), tcp.DstPort, tcp.SrcPort}
		}
		switch {
		case tcp.SYN && a.isServer(server):
			delete(a.outgoing, c)
		case tcp.SYN && len(a.outgoing) < a.most:
			a.outgoing[c] = true
		case tcp.SYN:
			a.stats.Ignored++
			return false
		}
		if a.outgoing[c] {
			return false
		}
	}
	a.used[server] = a.used[server] || from != to || tcp.SYN // else both may be the server's
	return true
}

// flush gives up segments that were missing for too long.
func (a *assembly) flush(now time.Time) {
	if now.Sub(a.flushed) < patience {
		return
	}
	a.flushed = now
	silent := forgotten
	if a.open > a.most/2 {
		silent = forgottenEarly
	}
	a.assembler.FlushWithOptions(reassembly.FlushOptions{T: now.Add(-patience), TC: now.Add(-silent)})
}

// end reports the end of all connections, and each server's port to which there is no connection: it
// may be mistyped, or a client's.
func (a *assembly) end() Stats {
	a.assembler.FlushAll()
	if unused := a.unused(); len(unused) > 0 && a.all > 0 {
		if most := a.others.most(); len(most) > 0 {
			unused = append(unused, "most others are to or from "+strings.Join(most, ", "))
		}
		packets := int64(a.all - a.stats.Packets)
		a.options.Observer.Missed(traffic.Undecoded{Cause: traffic.OtherPorts, Packets: packets, Names: unused})
	}
	if a.stats.Ignored > 0 {
		u := traffic.Undecoded{Cause: traffic.BeyondLimit, Connections: int64(a.stats.Ignored)}
		a.options.Observer.Missed(u)
	}
	return a.stats
}

// unused returns the servers' ports to which there is no connection.
func (a *assembly) unused() (names []string) {
	for _, port := range a.options.Ports {
		if !a.used[layers.TCPPort(port)] {
			names = append(names, strconv.Itoa(int(port)))
		}
	}
	return names
}

// A context is what the assembler keeps of a packet.
type context gopacket.CaptureInfo

// GetCaptureInfo implements [reassembly.AssemblerContext].
func (c *context) GetCaptureInfo() gopacket.CaptureInfo { return gopacket.CaptureInfo(*c) }

// context returns a context that may be kept. It allocates many at a time.
func (a *assembly) context(ci gopacket.CaptureInfo) *context {
	if len(a.contexts) == 0 {
		a.contexts = make([]context, 512)
	}
	c := &a.contexts[0]
	a.contexts = a.contexts[1:]
	*c = context(ci)
	return c
}
