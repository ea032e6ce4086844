package peers

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
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
	// Server is the configuration of TLS for connections from members, and Client returns that for one to a
	// member. Both are nil without TLS.
	Server *tls.Config
	Client func() *tls.Config
	// Ensemble returns the identity of the ensemble, and 0 while the member knows of none.
	Ensemble func() uint64
	// Versions returns the versions of the log that this member reads, and the one in force.
	Versions func() replica.Versions
	// Dial opens a connection to another member.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Member takes what arrives.
	Member Member
	// Report is called with the reason for which a connection with a member, or with a caller that is none (0),
	// failed: once, until a connection succeeds or the reason is another.
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

	mu        sync.Mutex
	closed    bool
	open      map[net.Conn]struct{}
	strangers []net.Conn           // those of open that nobody has greeted on, the oldest first
	said      map[direction]string // the last reason for which a connection failed
	from      map[uint64]*presence // members that send messages
	number    uint64               // of this process
}

// A presence says which process sends messages as another member, and when it was last heard.
type presence struct {
	process uint64
	heard   time.Time
}

// A direction is that of the connections from or to a member.
type direction struct {
	id  uint64 // 0 for a caller that is no member
	out bool
}

// Start connects to the other members, and takes their connections at the listener.
func Start(c Config, l net.Listener) *Peers {
	p := &Peers{config: c, out: map[uint64]*sender{}, open: map[net.Conn]struct{}{}, said: map[direction]string{}, from: map[uint64]*presence{}, number: rand.Uint64()}
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
		if x.Raft.GetType() == pb.MsgSnap {
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
		cfg := p.config.Client()
		cfg.ServerName, _, _ = net.SplitHostPort(address)
		conn = tls.Client(conn, cfg)
	}
	if !p.keep(conn) {
		return nil, net.ErrClosed
	}
	l := newLink(conn)
	h := hello{from: p.config.ID, to: to, versions: p.config.Versions(), ensemble: p.config.Ensemble(), members: checksum(p.ids),
		purpose: purpose, process: p.number}
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
			p.addStranger(conn)
			p.live.Go(func() {
				defer p.drop(conn)
				p.serve(newLink(conn))
			})
		}
	}
}

// mostStrangers is the number of connections that may be open before they have proved to be a member's. A further one ends the
// oldest: a member needs a few round trips, and those who only connect keep no memory and no file descriptors.
const mostStrangers = 64

var errStrangers = fmt.Errorf("more than %d connections have not greeted: the oldest was closed", mostStrangers)

func (p *Peers) addStranger(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strangers = append(p.strangers, c)
	if len(p.strangers) > mostStrangers {
		p.strangers[0].Close()
		p.strangers = slices.Delete(p.strangers, 0, 1)
	}
}

// greeted returns errStrangers if the connection was closed for another one.
func (p *Peers) greeted(c net.Conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.strangers, c)
	if i < 0 {
		return errStrangers
	}
	p.strangers = slices.Delete(p.strangers, i, i+1)
	return nil
}

// serve takes what a member sends on a connection.
func (p *Peers) serve(l *link) {
	h, proved, err := l.welcome(p.config.Secret, func(h *hello) error { return p.accepts(h, l.conn) })
	if closed := p.greeted(l.conn); closed != nil {
		err = closed
	}
	from := direction{id: h.from}
	if !proved || !slices.Contains(p.ids, h.from) { // anybody can say a number
		from.id = 0
	}
	if err != nil {
		p.report(from, err)
		return
	}
	p.connected(from)
	switch h.purpose {
	case messages:
		p.present(&h)
		err = p.receive(l, &h)
		p.leave(&h)
		p.config.Member.Lost(h.from)
	case snapshot:
		err = p.store(l, &h)
	}
	p.report(from, err)
}

// accepts returns why a member is refused. What it returns is for both sides.
func (p *Peers) accepts(h *hello, c net.Conn) error {
	own := p.config.Ensemble()
	switch {
	case h.members != checksum(p.ids):
		return fmt.Errorf("members %d and %d have different members in --peers", h.from, p.config.ID)
	case !slices.Contains(p.ids, h.from):
		return errors.New("a caller has a number that is none of those in --peers")
	case h.from == p.config.ID:
		return fmt.Errorf("another process says that it is member %d", h.from)
	case h.to != p.config.ID:
		return fmt.Errorf("member %d looks for member %d, and found member %d: --peers has other addresses there", h.from, h.to, p.config.ID)
	case h.ensemble != 0 && own != 0 && h.ensemble != own:
		return fmt.Errorf("member %d has a directory of ensemble %016x, and member %d of ensemble %016x",
			h.from, h.ensemble, p.config.ID, own)
	}
	if err := h.versions.Check(h.from, p.config.Versions(), p.config.ID); err != nil {
		return err
	}
	if p.isTaken(h) {
		return fmt.Errorf("member %d runs already: another process has its number", h.from)
	}
	over, ok := c.(*tls.Conn)
	if !ok {
		return nil
	}
	host, _, err := net.SplitHostPort(p.config.Addresses[h.from])
	if err != nil {
		return err
	}
	certificate := over.ConnectionState().PeerCertificates[0] // required by the configuration
	if err := certificate.VerifyHostname(host); err != nil {
		return fmt.Errorf("the certificate is not member %d's: %w", h.from, err)
	}
	return nil
}

// present records that a member sends messages.
func (p *Peers) present(h *hello) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.from[h.from]; q == nil || q.process != h.process {
		p.from[h.from] = &presence{process: h.process}
	}
	p.from[h.from].heard = time.Now()
}

// isTaken reports whether another process sends messages as the same member. One that has ended or is cut off does not
// send as much as the frames of an idle connection.
func (p *Peers) isTaken(h *hello) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.from[h.from]
	return q != nil && q.process != h.process && time.Since(q.heard) < 2*beat
}

// leave forgets the process of a member whose connection has ended.
func (p *Peers) leave(h *hello) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.from[h.from]; q != nil && q.process == h.process {
		delete(p.from, h.from)
	}
}

// report reports an error of a connection, unless it is the one of the last attempt.
func (p *Peers) report(with direction, err error) {
	if p.ctx.Err() != nil || err == nil || errors.Is(err, io.EOF) {
		return
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op != "dial" { // the ports differ each time
		err = op.Err
	}
	p.mu.Lock()
	again := p.said[with] == err.Error()
	p.said[with] = err.Error()
	p.mu.Unlock()
	if !again {
		p.config.Report(with.id, err)
	}
}

// connected makes the next error be reported, whatever it is.
func (p *Peers) connected(with direction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.said, with)
}
