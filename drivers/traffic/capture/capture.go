package capture

import (
	"errors"
	"slices"
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

// Stats says what was captured and what is missing.
type Stats struct {
	Packets     uint64 // to or from the servers' ports
	Connections uint64
	Joined      uint64 // connections that were open before the capture began
	Lost        int64  // bytes of connections that were missing, or not decoded because bytes were missing
	Dropped     uint64 // packets that the kernel dropped, because the capture was late
	// Ignored is how many connections were not followed, because too many were open. Those that were open
	// before the capture began count as one.
	Ignored uint64
}

// An assembly puts packets together to the streams of connections.
type assembly struct {
	options   Options
	stats     Stats
	assembler *reassembly.Assembler
	link      *gopacket.DecodingLayerParser // of packets with a link layer; nil if there is none
	ip4, ip6  *gopacket.DecodingLayerParser
	layers    packetLayers
	decoded   []gopacket.LayerType
	contexts  []context
	flushed   time.Time // when missing segments were last given up
	open      int       // connections that the assembler keeps
	most      int       // how many it may keep: maxOpen, except in tests
	reused    bool      // the latest segment opens a new connection between ports that another one has had
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
	tcp      layers.TCP
}

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

// newAssembly returns an assembly of packets that begin with the given link layer, or with IP if
// it is zero.
func newAssembly(link gopacket.LayerType, o Options) (*assembly, error) {
	if len(o.Ports) == 0 {
		return nil, errors.New("capture: no port of a server is given")
	}
	a := &assembly{options: o, most: maxOpen}
	a.assembler = reassembly.NewAssembler(reassembly.NewStreamPool(a))
	a.assembler.MaxBufferedPagesPerConnection = maxPages
	a.assembler.MaxBufferedPagesTotal = maxAllPages
	if link != gopacket.LayerTypeZero {
		a.link = a.parser(link)
	}
	a.ip4, a.ip6 = a.parser(layers.LayerTypeIPv4), a.parser(layers.LayerTypeIPv6)
	return a, nil
}

func (a *assembly) parser(first gopacket.LayerType) *gopacket.DecodingLayerParser {
	l := &a.layers
	p := gopacket.NewDecodingLayerParser(first, &l.ethernet, &l.tag, &l.loopback, &l.cooked,
		&l.cooked2, &l.ip4, &l.ip6, &l.tcp)
	p.IgnoreUnsupported = true
	return p
}

// packet takes the next packet. It keeps nothing of data.
func (a *assembly) packet(data []byte, ci gopacket.CaptureInfo) {
	parser := a.link
	if parser == nil {
		parser = a.ip4
		if len(data) > 0 && data[0]>>4 == 6 {
			parser = a.ip6
		}
	}
	if err := parser.DecodeLayers(data, &a.decoded); err != nil {
		return // no packet of TCP, or cut off in the middle of a header
	}
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
	a.flush(ci.Timestamp)
}

func (a *assembly) segment(network gopacket.Flow, ci gopacket.CaptureInfo) {
	tcp := &a.layers.tcp
	if !a.isServer(tcp.DstPort) && !a.isServer(tcp.SrcPort) {
		return
	}
	a.stats.Packets++
	c := a.context(ci)
	a.assembler.AssembleWithContext(network, tcp, c)
	if a.reused {
		a.forget(network, tcp, c)
		a.reused = false
		a.assembler.AssembleWithContext(network, tcp, c)
	}
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

// end reports the end of all connections.
func (a *assembly) end() Stats {
	a.assembler.FlushAll()
	return a.stats
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
