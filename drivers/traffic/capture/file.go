package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/gopacket/gopacket/reassembly"
	"golang.org/x/net/bpf"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// source is a file with packets.
type source interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
	LinkType() layers.LinkType
}

// Read reads a pcap or pcapng file to its end. A file that ends in the middle of a packet, as that
// of a capture in progress may, is read up to there.
func Read(r io.Reader, o Options) (Stats, error) {
	from, err := open(bufio.NewReaderSize(r, 1<<20))
	if err != nil {
		return Stats{}, fmt.Errorf("not a pcap or pcapng file: %w", err)
	}
	link, err := linkLayer(from.LinkType())
	if err != nil {
		return Stats{}, err
	}
	a, err := newAssembly(link, o)
	if err != nil {
		return Stats{}, err
	}
	for {
		data, ci, err := from.ZeroCopyReadPacketData()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return a.end(), nil
		}
		if err != nil {
			return a.end(), fmt.Errorf("after %d packets: %w", a.stats.Packets, err)
		}
		a.packet(data, ci)
	}
}

// sectionHeader is how a pcapng file begins.
const sectionHeader = 0x0a0d0d0a

func open(r *bufio.Reader) (source, error) {
	magic, err := r.Peek(4)
	if err != nil {
		return nil, err
	}
	if binary.BigEndian.Uint32(magic) == sectionHeader {
		return pcapgo.NewNgReader(r, pcapgo.DefaultNgReaderOptions)
	}
	return pcapgo.NewReader(r)
}

// linkLayer returns the layer with which packets of a link type begin, or zero if that is IP.
func linkLayer(t layers.LinkType) (gopacket.LayerType, error) {
	switch t {
	case layers.LinkTypeEthernet:
		return layers.LayerTypeEthernet, nil
	case layers.LinkTypeNull, layers.LinkTypeLoop:
		return layers.LayerTypeLoopback, nil
	case layers.LinkTypeLinuxSLL:
		return layers.LayerTypeLinuxSLL, nil
	case layers.LinkTypeLinuxSLL2:
		return layers.LayerTypeLinuxSLL2, nil
	case layers.LinkTypeRaw, layers.LinkTypeIPv4, layers.LinkTypeIPv6:
		return gopacket.LayerTypeZero, nil
	}
	return 0, fmt.Errorf("packets of link type %v cannot be read: want Ethernet, Linux cooked, loopback or IP", t)
}

// Protocol numbers, and offsets in bytes from the beginning of a packet of IP.
const (
	etherTypeIPv4 = 0x0800
	etherTypeIPv6 = 0x86dd
	protocolTCP   = 6

	fragmentOf4, protocolOf4 = 6, 9
	protocolOf6, portsOf6    = 6, 40
	fragmentMask             = 0x1fff
)

// wholePacket is how many bytes of a packet that passes the filter are kept.
const wholePacket = 1 << 18

// filter returns a program that lets only packets of TCP to or from the ports pass. It runs in the
// kernel, so that other traffic costs this process nothing.
func filter(ports []uint16) []bpf.Instruction {
	v4 := []bpf.Instruction{
		bpf.LoadAbsolute{Off: protocolOf4, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: protocolTCP, SkipTrue: 1},
		bpf.RetConstant{},
		bpf.LoadAbsolute{Off: fragmentOf4, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: fragmentMask, SkipTrue: 1},
		bpf.RetConstant{},
		bpf.LoadMemShift{Off: 0}, // the header's length
	}
	v4 = append(v4, either(bpf.LoadIndirect{Off: 0, Size: 2}, bpf.LoadIndirect{Off: 2, Size: 2}, ports)...)
	v6 := []bpf.Instruction{
		bpf.LoadAbsolute{Off: protocolOf6, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: protocolTCP, SkipTrue: 1},
		bpf.RetConstant{},
	}
	v6 = append(v6, either(bpf.LoadAbsolute{Off: portsOf6, Size: 2}, bpf.LoadAbsolute{Off: portsOf6 + 2, Size: 2}, ports)...)
	p := []bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtProto},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: etherTypeIPv4, SkipTrue: 1},
		bpf.Jump{Skip: uint32(len(v4))},
	}
	p = append(p, v4...)
	p = append(p,
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: etherTypeIPv6, SkipTrue: 1},
		bpf.RetConstant{})
	return append(p, v6...)
}

// either accepts the packet if its source or its destination is one of the ports, else rejects it.
func either(source, destination bpf.Instruction, ports []uint16) (p []bpf.Instruction) {
	for _, load := range []bpf.Instruction{source, destination} {
		p = append(p, load)
		for _, port := range ports {
			p = append(p,
				bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(port), SkipTrue: 1},
				bpf.RetConstant{Val: wholePacket})
		}
	}
	return append(p, bpf.RetConstant{})
}

// A stream is one connection.
type stream struct {
	assembly    *assembly
	decoder     traffic.Decoder // nil when the connection has ended
	clientFirst bool            // the first packet is from the client
	requests    direction
	replies     direction
	last        time.Time // of the last packet
}

// A direction is what is known of one direction of a stream.
type direction struct {
	started bool
	first   uint32 // sequence number of its first byte
	seeking bool   // where a packet of the protocol begins is unknown
	missing int64  // bytes not decoded since the last piece that was
}

// New implements [reassembly.StreamFactory].
func (a *assembly) New(network, _ gopacket.Flow, tcp *layers.TCP, ac reassembly.AssemblerContext) reassembly.Stream {
	if !tcp.SYN && len(tcp.Payload) == 0 {
		return nil // the rest of a connection that has ended, or one that carries nothing yet
	}
	if a.open >= a.most {
		a.ignore(tcp)
		return nil
	}
	a.open++
	s := &stream{assembly: a, clientFirst: a.isServer(tcp.DstPort), last: ac.GetCaptureInfo().Timestamp}
	from := net.JoinHostPort(network.Src().String(), strconv.Itoa(int(tcp.SrcPort)))
	to := net.JoinHostPort(network.Dst().String(), strconv.Itoa(int(tcp.DstPort)))
	if !s.clientFirst {
		from, to = to, from
	}
	joined := !tcp.SYN
	s.requests.seeking, s.replies.seeking = joined, joined
	a.stats.Connections++
	if joined {
		a.stats.Joined++
	}
	s.decoder = a.options.Protocol.Decode(a.options.Observer.Open(traffic.Connection{
		ID: a.stats.Connections, Client: from, Server: to, At: s.last, Joined: joined,
	}), joined)
	return s
}

// ignore counts a connection that is not followed. The assembler asks about each of its packets again.
func (a *assembly) ignore(tcp *layers.TCP) {
	a.stats.Lost += int64(len(tcp.Payload))
	switch {
	case tcp.SYN && !tcp.ACK:
		a.stats.Ignored++
	case !tcp.SYN:
		a.stats.Ignored = max(a.stats.Ignored, 1)
	}
}

// direction returns the direction that the assembler means. It takes the first packet's sender for
// the client.
func (s *stream) direction(d reassembly.TCPFlowDirection) (fromClient bool, state *direction) {
	if (d == reassembly.TCPDirClientToServer) == s.clientFirst {
		return true, &s.requests
	}
	return false, &s.replies
}

// Accept implements [reassembly.Stream].
func (s *stream) Accept(tcp *layers.TCP, ci gopacket.CaptureInfo, d reassembly.TCPFlowDirection,
	next reassembly.Sequence, start *bool, _ reassembly.AssemblerContext,
) bool {
	_, state := s.direction(d)
	if s.assembly.reused { // this reset is the assembly's: it ends the direction wherever it is
		tcp.Seq, *start = uint32(next), true
		return true
	}
	if tcp.SYN && (s.decoder == nil || state.started && tcp.Seq+1 != state.first) {
		s.assembly.reused = true
		s.close()
		return false
	}
	s.last = ci.Timestamp
	if !state.started && (tcp.SYN || len(tcp.Payload) > 0) {
		state.started = true
		state.first = tcp.Seq
		if tcp.SYN {
			state.first++
		}
		state.seeking = !tcp.SYN // its beginning was lost, or it was before the capture
		*start = true
	}
	if tcp.RST {
		s.close()
	}
	return state.started
}

// ReassembledSG implements [reassembly.Stream].
func (s *stream) ReassembledSG(sg reassembly.ScatterGather, _ reassembly.AssemblerContext) {
	d, _, _, skipped := sg.Info()
	n, _ := sg.Lengths()
	if s.decoder == nil || n == 0 && skipped <= 0 {
		return
	}
	fromClient, state := s.direction(d)
	if skipped > 0 {
		state.missing += int64(skipped)
		state.seeking = true
	}
	if n > 0 {
		s.decode(sg.CaptureInfo(0).Timestamp, fromClient, state, sg.Fetch(n))
	}
}

// decode gives a piece to the decoder, unless it is unknown where a packet begins in it.
func (s *stream) decode(at time.Time, fromClient bool, state *direction, p []byte) {
	whole := s.assembly.options.Protocol.Whole
	if state.seeking && (whole == nil || !whole(fromClient, p)) {
		state.missing += int64(len(p))
		return
	}
	state.seeking = false
	s.report(at, fromClient, state)
	if fromClient {
		s.decoder.FromClient(at, p)
	} else {
		s.decoder.FromServer(at, p)
	}
}

// report reports what is missing of a direction.
func (s *stream) report(at time.Time, fromClient bool, state *direction) {
	if state.missing > 0 {
		s.decoder.Lost(at, fromClient, state.missing)
		s.assembly.stats.Lost += state.missing
		state.missing = 0
	}
}

// ReassemblyComplete implements [reassembly.Stream].
func (s *stream) ReassemblyComplete(reassembly.AssemblerContext) bool {
	s.close()
	s.assembly.open--
	return true
}

func (s *stream) close() {
	if s.decoder == nil {
		return
	}
	s.report(s.last, true, &s.requests)
	s.report(s.last, false, &s.replies)
	s.decoder.End(s.last)
	s.decoder = nil
}
