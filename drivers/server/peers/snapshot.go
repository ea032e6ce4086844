package peers

import (
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
	p.report(x.To, err)
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

// store takes a snapshot.
func (p *Peers) store(l *link) error {
	l.conn.SetReadDeadline(time.Now().Add(silence))
	b, err := l.expect(raftMessage)
	if err != nil {
		return err
	}
	m := &pb.Message{}
	if err := proto.Unmarshal(b, m); err != nil {
		return err
	}
	if m.GetType() != pb.MsgSnap {
		return fmt.Errorf("message of type %v before a snapshot", m.GetType())
	}
	err = p.config.Member.Store(replica.Message{From: m.GetFrom(), To: p.config.ID, Raft: m}, &partReader{link: l})
	if err != nil {
		return errors.Join(errors.New("snapshot"), err)
	}
	return l.send(snapshotStored, nil)
}
