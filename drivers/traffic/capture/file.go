package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"golang.org/x/net/bpf"
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
