package peers

import (
	"encoding/binary"
	"fmt"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers/server/replica"
)

// together is the number of bytes of messages that are taken at once if they have arrived.
const together = 4 << 20

// receive takes messages until the connection ends.
func (p *Peers) receive(l *link, from uint64) error {
	for {
		all, err := p.arrived(l, from)
		if len(all) > 0 {
			p.config.Member.Receive(all)
		}
		if err != nil {
			return err
		}
	}
}

// arrived waits for a message and returns it with those that have arrived behind it.
func (p *Peers) arrived(l *link, from uint64) (all []replica.Message, err error) {
	for bytes := 0; ; {
		l.conn.SetReadDeadline(time.Now().Add(silence))
		kind, payload, err := l.read()
		if err != nil {
			return all, err
		}
		x := replica.Message{From: from, To: p.config.ID}
		switch kind {
		case raftMessage, weakVote:
			x.Raft, x.Weak = &pb.Message{}, kind == weakVote
			if err := proto.Unmarshal(payload, x.Raft); err != nil {
				return all, err
			}
			if x.Raft.GetFrom() != from {
				return all, fmt.Errorf("message of member %d", x.Raft.GetFrom())
			}
		case touch:
			for ; len(payload) >= 8; payload = payload[8:] {
				x.Touched = append(x.Touched, int64(binary.BigEndian.Uint64(payload)))
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
