package capture

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// source is a file with packets.
type source interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
	LinkType() layers.LinkType
}

// A pcap is a capture file that is being read.
type pcap struct {
	source
	name   string                        // how errors begin: the file's with a colon, "" if it has none
	parser *gopacket.DecodingLayerParser // nil if packets begin with IP
	data   []byte                        // the next packet, valid until the one after it is read
	info   gopacket.CaptureInfo
	err    error // why there is no next packet: io.EOF at the end
	// packets is how many were read.
	packets uint64
}

func (f *pcap) read() {
	if f.data, f.info, f.err = f.ZeroCopyReadPacketData(); f.err == nil {
		f.packets++
	}
}

// Read reads pcap or pcapng files of one capture to their ends, in the order of the times of their
// packets. A file that ends in the middle of a packet, as that of a capture in progress may, or that is
// damaged, is read up to there, and what follows is reported as missing. Errors name the files that have a
// method Name, as those of package os do.
func Read(files []io.Reader, o Options) (Stats, error) {
	a, err := newAssembly(o)
	if err != nil {
		return Stats{}, err
	}
	var all []*pcap
	for _, r := range files {
		name := ""
		if named, is := r.(interface{ Name() string }); is {
			name = named.Name() + ": "
		}
		f, err := a.newPcap(bufio.NewReaderSize(r, 1<<20))
		if err != nil {
			return Stats{}, fmt.Errorf("%s%w", name, err)
		}
		f.name = name
		f.read()
		all = append(all, f)
	}
	for {
		f := earliest(all)
		if f == nil {
			break
		}
		a.packet(f.parser, f.data, f.info)
		f.read()
	}
	for _, f := range all {
		a.ended(f)
	}
	return a.end(), nil
}

// earliest returns the file whose next packet is the earliest, the first of several; nil if there is no
// further packet.
func earliest(all []*pcap) (first *pcap) {
	for _, f := range all {
		if f.err == nil && (first == nil || f.info.Timestamp.Before(first.info.Timestamp)) {
			first = f
		}
	}
	return first
}

// ended reports what is missing of a file that was read to its end.
func (a *assembly) ended(f *pcap) {
	if !errors.Is(f.err, io.EOF) {
		a.stats.Damaged = cmp.Or(a.stats.Damaged, fmt.Errorf("%safter %d packets: %w", f.name, f.packets, f.err))
		a.options.Observer.Missed(traffic.Undecoded{Cause: traffic.Truncated, Packets: 1})
	}
	ng, is := f.source.(*pcapgo.NgReader)
	if !is {
		return
	}
	for i := range ng.NInterfaces() {
		device, err := ng.Interface(i)
		if n := device.Statistics.PacketsDropped; err == nil && n > 0 && n != pcapgo.NgNoValue64 {
			a.drop(n)
		}
	}
}

// drop counts packets that were dropped before they were captured.
func (a *assembly) drop(packets uint64) {
	a.stats.Dropped += packets
	a.options.Observer.Missed(traffic.Undecoded{Cause: traffic.Dropped, Packets: int64(packets)})
}

// newPcap reads the header of a file.
func (a *assembly) newPcap(r *bufio.Reader) (*pcap, error) {
	from, err := open(r)
	if err != nil {
		return nil, fmt.Errorf("not a pcap or pcapng file: %w", err)
	}
	link, err := linkLayer(from.LinkType())
	if err != nil {
		return nil, err
	}
	f := &pcap{source: from}
	if link != gopacket.LayerTypeZero {
		f.parser = a.parser(link)
	}
	return f, nil
}

// sectionHeader is how a pcapng file begins.
const sectionHeader = 0x0a0d0d0a

func open(r *bufio.Reader) (source, error) {
	magic, err := r.Peek(4)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty or shorter than a header")
	}
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
