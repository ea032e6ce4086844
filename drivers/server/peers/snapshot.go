package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers/server/replica"
)

// sendSnapshot sends the last snapshot to a member.
func (p *Peers) sendSnapshot(x replica.Message) {
	err := p.trySnapshot(x)
	p.config.Member.SnapshotSent(x.To, err == nil)
	p.report(direction{x.To, true}, err)
}

func (p *Peers) trySnapshot(x replica.Message) error {
	shot, err := p.config.Member.Snapshot()
	if err != nil {
		return err
	}
	defer shot.Close()
	l, err := p.dial(x.To, snapshot)
	if err != nil {
		return err
	}
	defer p.drop(l.conn)
	m := proto.Clone(x.Raft).(*pb.Message)
	m.Snapshot = &pb.Snapshot{Metadata: shot.Metadata()}
	b, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	if err := l.write(raftMessage, b); err != nil {
		return err
	}
	if _, err := shot.WriteTo(parts{l}); err != nil {
		return err
	}
	if err := l.flush(); err != nil {
		return err
	}
	l.conn.SetReadDeadline(time.Now().Add(storing))
	_, err = l.expect(snapshotStored)
	return err
}

// storing limits the time in which a member stores a snapshot behind its last part.
const storing = 10 * time.Minute

// parts is a writer of a snapshot's parts.
type parts struct{ *link }

// partLength is the length of a part in bytes.
const partLength = 256 << 10

func (p parts) Write(b []byte) (n int, err error) {
	for n < len(b) {
		part := b[n:min(n+partLength, len(b))]
		p.conn.SetWriteDeadline(time.Now().Add(patience))
		if err := p.write(snapshotPart, part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// A partReader is a reader of a snapshot's parts.
type partReader struct {
	*link
	rest []byte
}

func (p *partReader) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		p.conn.SetReadDeadline(time.Now().Add(silence))
		part, err := p.expect(snapshotPart)
		if err != nil {
			return 0, err
		}
		p.rest = part
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// store takes a snapshot from a member.
func (p *Peers) store(l *link, h *hello) error {
	l.conn.SetReadDeadline(time.Now().Add(silence))
	b, err := l.expect(raftMessage)
	if err != nil {
		return err
	}
	m := &pb.Message{}
	if err := proto.Unmarshal(b, m); err != nil {
		return err
	}
	if m.GetType() != pb.MsgSnap || m.GetFrom() != h.from {
		return fmt.Errorf("message of type %v of member %d before a snapshot", m.GetType(), m.GetFrom())
	}
	err = p.config.Member.Store(replica.Message{From: h.from, To: p.config.ID, Raft: m, Newest: h.versions.Newest}, &partReader{link: l})
	if err != nil {
		return errors.Join(errors.New("snapshot"), err)
	}
	return l.send(snapshotStored, nil)
}

// together is the number of bytes of messages that are taken at once if they have arrived.
const together = 4 << 20

// receive takes messages until the connection ends.
func (p *Peers) receive(l *link, h *hello) error {
	for {
		all, err := p.arrived(l, h)
		if err == nil {
			p.present(h)
		}
		if len(all) > 0 {
			p.config.Member.Receive(all)
		}
		if err != nil {
			return err
		}
	}
}

// arrived waits for a message and returns it with those that have arrived behind it.
func (p *Peers) arrived(l *link, h *hello) (all []replica.Message, err error) {
	for bytes := 0; ; {
		l.conn.SetReadDeadline(time.Now().Add(silence))
		kind, payload, err := l.read()
		if err != nil {
			return all, err
		}
		x := replica.Message{From: h.from, To: p.config.ID, Newest: h.versions.Newest}
		switch kind {
		case raftMessage, weakVote:
			x.Raft, x.Weak = &pb.Message{}, kind == weakVote
			if err := proto.Unmarshal(payload, x.Raft); err != nil {
				return all, err
			}
			if x.Raft.GetFrom() != h.from && x.Raft.GetType() != pb.MsgProp { // a proposal is passed on to the leader
				return all, fmt.Errorf("message of member %d", x.Raft.GetFrom())
			}
		case nothing:
		default:
			return all, fmt.Errorf("frame of kind %d", kind)
		}
		if kind != nothing {
			all = append(all, x)
		}
		if bytes += len(payload); !l.ready() || bytes > together {
			return all, nil
		}
	}
}

// ready reports whether a whole frame has arrived and was not read.
func (l *link) ready() bool {
	if l.from.Buffered() < 4 {
		return false
	}
	header, _ := l.from.Peek(4)
	return l.from.Buffered() >= 4+int(binary.BigEndian.Uint32(header))
}
