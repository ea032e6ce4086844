package wire

import (
	"encoding/binary"
	"errors"
	"hash/maphash"

	"github.com/stampede-bench/stampede/drivers"
)

// A Dialogue decodes a copy of the bytes of a connection that is not its own, in both
// directions, and reports each packet to a [drivers.Probe], as a [Tap] does. The bytes may come
// in pieces of any size; each request must come before its reply. It is not safe for concurrent
// use. In steady state it allocates nothing.
type Dialogue struct {
	tap  Tap
	in   incoming
	seed maphash.Seed

	servers []string        // see Servers
	shown   []drivers.Sight // of the latest reply
}

// NewDialogue returns the Dialogue of a connection. Joined says that the connection was open
// already: then its first packets do not open a session.
func NewDialogue(probe drivers.Probe, joined bool) *Dialogue {
	d := &Dialogue{seed: maphash.MakeSeed()}
	d.tap.probe, d.tap.pending.paths, d.tap.pending.limit = probe, true, maxPending
	d.tap.out.opened, d.tap.in.opened = joined, joined
	return d
}

// maxPending is how many requests without a reply a Dialogue keeps. Clients have far fewer in flight.
const maxPending = 1 << 16

// Undecoded returns how many bytes were not decoded since the last call: of requests, because too many had
// no reply, and of both directions, because they are no packets.
func (d *Dialogue) Undecoded() (refused, malformed int64) {
	refused, malformed = d.tap.refused, d.tap.malformed+d.in.malformed
	d.tap.refused, d.tap.malformed, d.in.malformed = 0, 0, 0
	return refused, malformed
}

// Servers returns the addresses, host:port, of the servers in the configuration that the client has read
// since the last call.
func (d *Dialogue) Servers() []string {
	s := d.servers
	d.servers = nil
	return s
}

// Session returns the server's response when the session was opened or resumed, without its
// password; zero before that.
func (d *Dialogue) Session() ConnectResponse { return d.tap.session }

// Resumed reports whether the client asked to resume a session.
func (d *Dialogue) Resumed() bool { return d.tap.resumes }

// FromClient decodes the next bytes that the client has sent.
func (d *Dialogue) FromClient(p []byte) {
	d.tap.requests(p)
	if o := &d.tap.out; len(o.part) == 0 && cap(o.part) > keptBuffer {
		o.part = nil
	}
}

// FromServer decodes the next bytes that the server has sent.
func (d *Dialogue) FromServer(p []byte) {
	for len(p) > 0 && !d.in.lost {
		if len(d.in.part) == 0 && len(p) >= LengthSize {
			size := int(int32(binary.BigEndian.Uint32(p)))
			if size >= 0 && size <= len(p)-LengthSize {
				d.reply(p[LengthSize:LengthSize+size], LengthSize+size)
				p = p[LengthSize+size:]
				continue
			}
		}
		p = d.gather(p)
	}
	d.in.malformed += int64(len(p))
}

// Lost says that bytes of a direction are missing. Its next bytes must begin with a packet. It returns how
// many bytes have come of a packet that is not complete.
func (d *Dialogue) Lost(fromClient bool) (unfinished int64) {
	if fromClient {
		unfinished = int64(len(d.tap.out.part) + d.tap.out.skip)
		d.tap.out = outbound{opened: true}
		return unfinished
	}
	unfinished = int64(len(d.in.part) + d.in.skip)
	d.in, d.tap.in.opened = incoming{malformed: d.in.malformed}, true
	d.tap.pending.lossy = true
	return unfinished
}

// incoming is the state of reading the packets of the server.
type incoming struct {
	part []byte // of a packet that comes in pieces, at most its first keptReply bytes
	skip int    // bytes already skipped of a packet that is larger
	lost bool   // the server's bytes are no packets

	malformed int64 // how many of them are no packets
}

// keptReply is how many bytes of a reply are kept to decode it. Only paths of notifications and
// of created nodes are needed, and servers refuse longer ones.
const keptReply = 64 << 10

// keptBuffer is the size of the largest buffer that is kept after a packet that came in pieces.
// Such packets are rare, and there may be thousands of connections.
const keptBuffer = 1 << 10

// gather appends the bytes that belong to the current packet and returns the rest.
func (d *Dialogue) gather(p []byte) []byte {
	in := &d.in
	if n := min(LengthSize-len(in.part), len(p)); n > 0 {
		in.part = append(in.part, p[:n]...)
		if p = p[n:]; len(in.part) < LengthSize {
			return nil
		}
	}
	size := int(int32(binary.BigEndian.Uint32(in.part)))
	if size < 0 || size > mostPacket {
		in.malformed += int64(len(in.part))
		in.lost, in.part = true, nil
		return p
	}
	n := min(len(p), min(size, keptReply)+LengthSize-len(in.part))
	in.part = append(in.part, p[:n]...)
	p = p[n:]
	n = min(len(p), size-min(size, keptReply)-in.skip)
	in.skip += n
	p = p[n:]
	if len(in.part)-LengthSize+in.skip == size {
		d.reply(in.part[LengthSize:], LengthSize+size)
		in.part, in.skip = in.part[:0], 0
		if cap(in.part) > keptBuffer {
			in.part = nil
		}
	}
	return p
}

// reply reports a packet of the server.
func (d *Dialogue) reply(payload []byte, size int) {
	m, i, answers := d.tap.decode(payload, size)
	d.tap.session.Password = nil
	if m.Kind == drivers.Reply && m.Op.IsRead() && len(payload) > replyHeaderSize {
		m.Digest = maphash.Bytes(d.seed, payload[replyHeaderSize:])
	}
	if answers {
		m.Shown = d.shows(&m, d.tap.pending.slot(i).code)
	}
	if m.Kind == drivers.Reply && m.Op == drivers.OpGet && m.Err == nil && string(m.Path) == ConfigPath {
		d.servers = append(d.servers, serversOf(payload)...)
	}
	if m.Kind != 0 {
		d.tap.tell(m)
	}
	if answers {
		d.tap.pending.done(i)
	}
}

const replyHeaderSize = 4 + 8 + 4 // xid, zxid, error

// shows returns what a reply to a request with a code shows, also of nodes that do not exist.
func (d *Dialogue) shows(m *drivers.Message, code int32) []drivers.Sight {
	d.shown = d.shown[:0]
	add := func(op drivers.Op, path []byte, err error) {
		if op.IsRead() && (err == nil || errors.Is(err, drivers.ErrNoNode)) {
			values := op == drivers.OpGet && code != OpGetACL && code != OpAllChildrenNum
			d.shown = append(d.shown, drivers.Sight{Path: path, Pos: m.Pos, Below: op == drivers.OpChildren, Values: values})
		}
	}
	if len(m.Parts) == 0 {
		add(m.Op, m.Path, m.Err)
	}
	for _, p := range m.Parts {
		add(p.Op, p.Path, p.Err)
	}
	return d.shown
}

// decodeParts appends the operations of a transaction. It ends at the first that no transaction
// can have.
func decodeParts(parts []drivers.TxnOp, d *Decoder) []drivers.TxnOp {
	for {
		var h MultiHeader
		if h.Decode(d); h.Done || d.Err() != nil {
			return parts
		}
		p := drivers.TxnOp{Op: operation(h.Type)}
		switch h.Type {
		case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
			p.Path, p.Mode = decodeCreate(d)
			if h.Type == OpCreateTTL {
				d.Long()
			}
		case OpSetData:
			p.Path = d.Bytes()
			d.Bytes() // the data
			d.Int()   // the version
		case OpDelete, OpCheck:
			p.Path = d.Bytes()
			d.Int() // the version
		case OpGetData, OpGetChildren: // of a packet of reads
			p.Path = d.Bytes()
			d.Bool() // no watch: servers ignore it
		default:
			return parts
		}
		if d.Err() != nil {
			return parts
		}
		parts = append(parts, p)
	}
}

// keepParts copies the parts into the slot, whose memory it reuses.
func (p *pending) keepParts(parts []drivers.TxnOp) {
	kept := p.parts[:cap(p.parts)]
	p.parts = p.parts[:0]
	for i, part := range parts {
		if i < len(kept) {
			part.Path = append(kept[i].Path[:0], part.Path...)
		} else {
			part.Path = append([]byte(nil), part.Path...)
		}
		p.parts = append(p.parts, part)
	}
}

// decodeResults enters the results of a transaction in its parts: the paths of created nodes and
// the errors. It returns the error of the transaction: the header of the reply has none where a
// part failed.
func (p *pending) decodeResults(failed error, d *Decoder) error {
	for i := range p.parts {
		var h MultiHeader
		if h.Decode(d); failed != nil || h.Done || d.Err() != nil {
			break
		}
		failed = decodeResult(&p.parts[i], h.Type, d)
	}
	if failed == nil {
		return nil
	}
	for i := range p.parts { // those before the one that failed were undone, those after it not tried
		if p.parts[i].Err == nil {
			p.parts[i].Err = drivers.ErrUnsupported
		}
	}
	return failed
}

// decodeReads enters the errors of a packet of reads in its parts. Each read fails alone.
func (p *pending) decodeReads(failed error, d *Decoder) {
	for i := range p.parts {
		var h MultiHeader
		if h.Decode(d); failed != nil || h.Done || d.Err() != nil {
			p.parts[i].Err = failed
			continue
		}
		_ = decodeResult(&p.parts[i], h.Type, d)
	}
}

// decodeResult enters the result of one operation, and returns its error.
func decodeResult(p *drivers.TxnOp, code int32, d *Decoder) error {
	switch code {
	case MultiError:
		p.Err = Err(d.Int()).Sentinel()
	case OpCreate:
		p.Path = append(p.Path[:0], d.Bytes()...)
	case OpCreate2, OpCreateContainer, OpCreateTTL:
		p.Path = append(p.Path[:0], d.Bytes()...)
		new(Stat).Decode(d)
	case OpSetData:
		new(Stat).Decode(d)
	case OpGetData:
		new(DataStat).Decode(d)
	case OpGetChildren:
		for range d.Len(LengthSize) {
			d.Bytes()
		}
	}
	return p.Err
}
