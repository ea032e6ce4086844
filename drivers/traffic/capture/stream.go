package capture

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/reassembly"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

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
	next    uint32 // sequence number of the byte that follows those that came
	// seeking says why it is not known where a packet of the protocol begins, "" if it is.
	seeking traffic.Cause
	// acked is up to where the other side has acknowledged, and ackedFirst its first acknowledgement; known
	// says that there is one.
	acked, ackedFirst uint32
	known             bool
	// cuts are the ends of segments that the capture has cut off, beyond next.
	cuts []cut
}

// A cut is an end of a segment that the capture has cut off.
type cut struct {
	from uint32 // sequence number
	size int
}

// maxCuts is how many cuts of a direction are kept. The assembler holds fewer segments back.
const maxCuts = 1 << 10

// cutOff records that the capture has cut bytes off a segment.
func (d *direction) cutOff(c cut) {
	if len(d.cuts) < maxCuts && int32(c.from-d.next) >= 0 && !slices.Contains(d.cuts, c) {
		d.cuts = append(d.cuts, c)
	}
}

// skip goes on by bytes that did not come, and returns how many of them were cut off.
func (d *direction) skip(bytes int) (cutOff int) {
	d.cuts = slices.DeleteFunc(d.cuts, func(c cut) bool {
		at := int(int32(c.from - d.next))
		if 0 <= at && at < bytes {
			cutOff += min(c.size, bytes-at)
		}
		return at < bytes
	})
	d.next += uint32(bytes)
	return min(cutOff, bytes)
}

// tail returns how many bytes at the end were cut off, with those missing before them.
func (d *direction) tail() (bytes int) {
	for _, c := range d.cuts {
		bytes = max(bytes, int(int32(c.from-d.next))+c.size)
	}
	return bytes
}

// acknowledge records that the other side has got all bytes before the sequence number.
func (d *direction) acknowledge(ack uint32) {
	if !d.known {
		d.known, d.acked, d.ackedFirst = true, ack, ack
	}
	if int32(ack-d.acked) > 0 {
		d.acked = ack
	}
}

// unseen returns how many bytes the other side has acknowledged beyond those that came, as where the
// packets of one direction were not captured. The end of a direction takes a number, too.
func (d *direction) unseen() int {
	from := d.next + uint32(d.tail())
	if !d.started {
		from = d.ackedFirst
	}
	if !d.known {
		return 0
	}
	return max(int(int32(d.acked-from))-1, 0)
}

// New implements [reassembly.StreamFactory].
func (a *assembly) New(
	network, _ gopacket.Flow, tcp *layers.TCP, ac reassembly.AssemblerContext,
) reassembly.Stream {
	if !tcp.SYN && len(tcp.Payload)+a.cutOff == 0 {
		return nil // the rest of a connection that has ended, or one that carries nothing yet
	}
	if a.open >= a.most {
		a.ignore(tcp)
		return nil
	}
	a.open++
	s := &stream{assembly: a, clientFirst: a.toServer(tcp), last: ac.GetCaptureInfo().Timestamp}
	from := net.JoinHostPort(network.Src().String(), strconv.Itoa(int(tcp.SrcPort)))
	to := net.JoinHostPort(network.Dst().String(), strconv.Itoa(int(tcp.DstPort)))
	if !s.clientFirst {
		from, to = to, from
	}
	joined := !tcp.SYN
	a.stats.Connections++
	if joined {
		a.stats.Joined++
		s.requests.seeking, s.replies.seeking = traffic.Joined, traffic.Joined
	}
	s.decoder = a.options.Protocol.Open(memberTap{a.options.Observer.Open(traffic.Connection{
		ID: a.stats.Connections, Client: from, Server: to, At: s.last, Joined: joined,
	}), a}, joined)
	return s
}

// A memberTap passes on only the addresses of members whose ports are not captured.
type memberTap struct {
	traffic.Tap
	assembly *assembly
}

// Members reports the addresses that are not observed.
func (t memberTap) Members(at time.Time, addresses []string) {
	others := slices.DeleteFunc(slices.Clone(addresses), func(address string) bool {
		_, text, err := net.SplitHostPort(address)
		port, wrong := strconv.ParseUint(text, 10, 16)
		return err == nil && wrong == nil && t.assembly.isServer(layers.TCPPort(port))
	})
	if len(others) > 0 {
		t.Tap.Members(at, others)
	}
}

// ignore counts a connection that is not followed. The assembler asks about each of its packets again.
func (a *assembly) ignore(tcp *layers.TCP) {
	n := int64(len(tcp.Payload))
	a.stats.Lost += n
	if n > 0 {
		a.options.Observer.Missed(traffic.Undecoded{Cause: traffic.BeyondLimit, Bytes: n})
	}
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
	if tcp.ACK && !tcp.RST {
		other := &s.replies
		if state == other {
			other = &s.requests
		}
		other.acknowledge(tcp.Ack)
	}
	off := s.assembly.cutOff
	if !state.started && (tcp.SYN || len(tcp.Payload)+off > 0) {
		state.started = true
		state.first = tcp.Seq
		if tcp.SYN {
			state.first++
		} else { // its beginning was lost, or it was before the capture
			state.seeking = cmp.Or(state.seeking, traffic.Missing)
		}
		state.next = state.first
		*start = true
	}
	if off > 0 {
		from := tcp.Seq + uint32(len(tcp.Payload))
		if tcp.SYN {
			from++
		}
		state.cutOff(cut{from, off})
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
	at := s.last
	if n > 0 {
		at = sg.CaptureInfo(0).Timestamp
	}
	if skipped > 0 {
		off := state.skip(skipped)
		s.lose(at, fromClient, state, off, traffic.Cut)
		s.lose(at, fromClient, state, skipped-off, traffic.Missing)
	}
	if n > 0 {
		state.next += uint32(n)
		s.decode(at, fromClient, state, sg.Fetch(n))
	}
}

// lose reports bytes that did not come.
func (s *stream) lose(at time.Time, fromClient bool, state *direction, bytes int, cause traffic.Cause) {
	if bytes <= 0 {
		return
	}
	s.assembly.stats.Lost += int64(bytes)
	s.decoder.Lost(at, fromClient, int64(bytes), cause)
	state.seeking = cmp.Or(state.seeking, cause)
}

// decode gives a piece to the decoder, unless it is unknown where a packet begins in it.
func (s *stream) decode(at time.Time, fromClient bool, state *direction, p []byte) {
	protocol := s.assembly.options.Protocol
	whole := protocol.Whole
	if state.seeking != "" && (whole == nil || !whole(fromClient, p)) {
		if state.seeking == traffic.Joined {
			state.seeking = protocol.JoinedCause(p)
		}
		s.assembly.stats.Lost += int64(len(p))
		s.decoder.Lost(at, fromClient, int64(len(p)), state.seeking)
		return
	}
	state.seeking = ""
	if fromClient {
		s.decoder.FromClient(at, p)
	} else {
		s.decoder.FromServer(at, p)
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
	requests, replies := s.requests.unseen(), s.replies.unseen()
	s.lose(s.last, true, &s.requests, s.requests.tail(), traffic.Cut)
	s.lose(s.last, false, &s.replies, s.replies.tail(), traffic.Cut)
	s.lose(s.last, true, &s.requests, requests, traffic.Missing)
	s.lose(s.last, false, &s.replies, replies, traffic.Missing)
	s.decoder.End(s.last)
	s.decoder = nil
}
