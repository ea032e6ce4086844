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
