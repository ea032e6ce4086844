package peers

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/stampede-bench/stampede/drivers/server/replica"
)

// A Config configures a member's connections to the others.
type Config struct {
	ID        uint64
	Addresses map[uint64]string // of all members by ID, host:port
	Secret    []byte            // nil without one
	// Server and Client are the configurations of TLS on both sides of a connection; nil without TLS.
	Server, Client *tls.Config
	// Dial opens a connection to another member.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Member takes what arrives.
	Member Member
	// Report is called with the reason for which a connection with a member was refused or ended.
	Report func(id uint64, err error)
}

// A Member takes what arrives from other members. Its methods are called by several goroutines.
type Member interface {
	// Receive takes messages that arrived together.
	Receive(all []replica.Message)
	// Lost reports that the connection from a member broke.
	Lost(id uint64)
	// Snapshot opens the last snapshot for a member that is behind. Its message then says which one
	// it is.
	Snapshot() (Snapshot, error)
	// Store reads a snapshot that another member sent with the message, and takes the message.
	Store(x replica.Message, r io.Reader) error
	// SnapshotSent reports whether a member has stored a snapshot.
	SnapshotSent(id uint64, ok bool)
}

// A Snapshot is a snapshot that is being sent.
type Snapshot interface {
	Metadata() *pb.SnapshotMetadata
	io.WriterTo
	io.Closer
}

// Peers are a member's connections to the others.
type Peers struct {
	config Config
	ids    []uint64
	out    map[uint64]*sender
	ctx    context.Context
	cancel context.CancelFunc
	live   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]struct{}
}

// Start connects to the other members, and takes their connections at the listener.
func Start(c Config, l net.Listener) *Peers {
	p := &Peers{config: c, out: map[uint64]*sender{}, open: map[net.Conn]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for id := range c.Addresses {
		p.ids = append(p.ids, id)
		if id != c.ID {
			p.out[id] = &sender{peers: p, to: id, wake: make(chan struct{}, 1)}
		}
	}
	for _, s := range p.out {
		p.live.Go(s.run)
	}
	p.live.Go(func() { p.accept(l) })
	context.AfterFunc(p.ctx, func() { l.Close() })
	return p
}

// Send sends messages. It does not wait for the network.
func (p *Peers) Send(all []replica.Message) {
	for i := range all {
		x := &all[i]
		if x.Raft != nil && x.Raft.GetType() == pb.MsgSnap {
			p.background(func() { p.sendSnapshot(*x) })
			continue
		}
		p.out[x.To].add(x)
	}
}

// background calls do in a goroutine that Close waits for, unless Close was called.
func (p *Peers) background(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.live.Go(do)
	}
}

// Close ends all connections.
func (p *Peers) Close() {
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	p.cancel()
	p.live.Wait()
}

// keep keeps a connection until Close, or closes it if that was called.
func (p *Peers) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return false
	}
	p.open[c] = struct{}{}
	return true
}

func (p *Peers) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	c.Close()
}

// dial opens a connection for a purpose.
func (p *Peers) dial(to uint64, purpose byte) (*link, error) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	address := p.config.Addresses[to]
	conn, err := p.config.Dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if p.config.Client != nil {
		cfg := p.config.Client.Clone()
		cfg.ServerName, _, _ = net.SplitHostPort(address)
		conn = tls.Client(conn, cfg)
	}
	if !p.keep(conn) {
		return nil, net.ErrClosed
	}
	l := newLink(conn)
	h := hello{from: p.config.ID, to: to, members: checksum(p.ids), purpose: purpose}
	if err := l.greet(&h, p.config.Secret); err != nil {
		p.drop(conn)
		return nil, err
	}
	return l, nil
}

// acceptPause is the pause after an accept that failed, for example because file descriptors ran out.
const acceptPause = 50 * time.Millisecond

func (p *Peers) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
			continue
		}
		if p.config.Server != nil {
			conn = tls.Server(conn, p.config.Server)
		}
		if p.keep(conn) {
			p.live.Go(func() {
				defer p.drop(conn)
				p.serve(newLink(conn))
			})
		}
	}
}

// serve takes what a member sends on a connection.
func (p *Peers) serve(l *link) {
	h, err := l.welcome(p.config.ID, p.ids, p.config.Secret)
	if err != nil {
		p.report(h.from, err)
		return
	}
	switch h.purpose {
	case messages:
		err = p.receive(l, h.from)
		p.config.Member.Lost(h.from)
	case snapshot:
		err = p.store(l)
	}
	p.report(h.from, err)
}

func (p *Peers) report(id uint64, err error) {
	if p.ctx.Err() == nil && err != nil && !errors.Is(err, io.EOF) {
		p.config.Report(id, err)
	}
}
