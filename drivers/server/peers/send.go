package peers

import (
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers/server/replica"
)

// A sender sends messages to one member.
type sender struct {
	peers *Peers
	to    uint64
	wake  chan struct{} // receives a value when there are messages

	mu        sync.Mutex
	queue     []*replica.Message
	bytes     int
	connected bool
}

// maxQueued limits the bytes of the messages that wait for a connection. It is more than raft lets be
// on their way to a member.
const maxQueued = 128 << 20

// reconnect is the pause between two attempts to connect.
const reconnect = 100 * time.Millisecond

// add queues a message. It drops it if there is no connection, or if too much waits.
func (s *sender) add(x *replica.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.connected || s.bytes > maxQueued {
		return
	}
	s.queue = append(s.queue, x)
	s.bytes += sizeOf(x)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func sizeOf(x *replica.Message) int {
	n := 64
	for _, e := range x.Raft.GetEntries() {
		n += 16 + len(e.GetData())
	}
	return n
}

func (s *sender) take() (all []*replica.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, s.queue, s.bytes = s.queue, nil, 0
	return all
}

func (s *sender) setConnected(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connected, s.queue, s.bytes = on, nil, 0
}

// run connects again and again until Close.
func (s *sender) run() {
	p, to := s.peers, direction{s.to, true}
	for p.ctx.Err() == nil {
		l, err := p.dial(s.to, messages)
		if err == nil {
			p.connected(to)
			s.setConnected(true)
			err = s.send(l)
			s.setConnected(false)
			p.drop(l.conn)
			p.config.Member.Lost(s.to)
		}
		p.report(to, err)
		select {
		case <-time.After(reconnect):
		case <-p.ctx.Done():
		}
	}
}

// send sends messages until the connection breaks. The other side sends nothing: a read that ends shows
// that it is gone.
func (s *sender) send(l *link) error {
	gone := make(chan error, 1)
	s.peers.live.Go(func() {
		_, err := l.conn.Read(make([]byte, 1))
		l.conn.Close()
		gone <- err
	})
	idle := time.NewTicker(beat)
	defer idle.Stop()
	for {
		select {
		case <-s.wake:
			if err := s.write(l); err != nil {
				return err
			}
		case <-idle.C:
			if err := s.writeInTime(l, func() error { return l.send(nothing, nil) }); err != nil {
				return err
			}
		case err := <-gone:
			return err
		case <-s.peers.ctx.Done():
			return s.peers.ctx.Err()
		}
	}
}

func (s *sender) writeInTime(l *link, do func() error) error {
	l.conn.SetWriteDeadline(time.Now().Add(patience))
	return do()
}

// write writes the messages that wait.
func (s *sender) write(l *link) error {
	var buf []byte
	for _, x := range s.take() {
		kind := raftMessage
		if x.Weak {
			kind = weakVote
		}
		var err error
		if buf, err = (proto.MarshalOptions{}).MarshalAppend(buf[:0], x.Raft); err == nil {
			err = s.writeInTime(l, func() error { return l.write(kind, buf) })
		}
		if err != nil {
			return err
		}
	}
	return s.writeInTime(l, l.flush)
}
