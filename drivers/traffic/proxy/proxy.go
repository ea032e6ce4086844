package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/owner"
)

// A Server is a server behind a proxy.
type Server struct {
	Address string // host:port
	// TLS is how to connect to it; nil for no encryption. The protocol that a client speaks is negotiated.
	TLS *tls.Config
}

// Options are the options of a Proxy.
type Options struct {
	// TLS encrypts the connections of clients; nil for no encryption.
	TLS      *tls.Config
	Protocol traffic.Protocol
	// Observer gets what the connections carry.
	Observer traffic.Observer
	// Through, if set, returns a connection in place of a client's, which what it carries has to pass. first is
	// what was read of it before. The proxy closes what it gets, and that closes the client's.
	Through func(c traffic.Connection, client net.Conn, first []byte) net.Conn
	// Refused, if set, is told of each connection that cannot be passed on, and of its process if that is known,
	// before it is refused. It may be called from several goroutines.
	Refused func(c traffic.Connection, by traffic.Process)
	// Queue is the size in bytes of what may wait for the analysis; 0 means DefaultQueue.
	Queue int
}

// DefaultQueue is the default size in bytes of the queue to the analysis.
const DefaultQueue = 32 << 20

// A Proxy passes the connections of clients on to servers, one listener for each server.
type Proxy struct {
	options   Options
	listeners []net.Listener
	analysis  *analysis
	owners    *owner.Finder
	last      atomic.Uint64 // the last connection's ID
	patience  time.Duration // how long a server may take to accept, and a peer to do its TLS handshake
	ctx       context.Context
	stop      context.CancelFunc
	running   sync.WaitGroup

	mu        sync.Mutex
	lines     map[*relay]bool // nil after Close
	unreached []traffic.Unreached
}

// Listen opens a listener for each server, at the address of the same index after [Spread], and
// begins to serve.
func Listen(addresses []string, servers []Server, o Options) (*Proxy, error) {
	addresses, err := Spread(addresses, len(servers))
	if err != nil {
		return nil, err
	}
	return listen(addresses, servers, o, patience)
}

// patience is longer than an honest peer takes.
const patience = 10 * time.Second

// listen is Listen with another patience.
func listen(addresses []string, servers []Server, o Options, patience time.Duration) (*Proxy, error) {
	p := &Proxy{options: o, lines: make(map[*relay]bool), patience: patience}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.analysis, p.owners = newAnalysis(o, p.listensAt), owner.New()
	for _, a := range addresses {
		l, err := net.Listen("tcp", a)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.listeners = append(p.listeners, l)
	}
	for i, l := range p.listeners {
		p.running.Go(func() { p.accept(l, servers[i]) })
	}
	return p, nil
}

// Addresses returns where the proxy listens, in the order of the servers.
func (p *Proxy) Addresses() (all []string) {
	for _, l := range p.listeners {
		all = append(all, l.Addr().String())
	}
	return all
}

// Stats says what the analysis of a Proxy has missed.
type Stats struct {
	Connections uint64 // accepted so far
	// Dropped counts bytes that were passed on but not analysed, because the analysis was late or
	// had failed.
	Dropped int64
	// Failed is the number of connections whose analysis panicked, and Failure the first panic.
	Failed  int64
	Failure error
	// Unreached are the servers to which connections of clients could not be passed on.
	Unreached []traffic.Unreached
}

// Stats returns what was accepted and what was missed so far.
func (p *Proxy) Stats() Stats {
	s := Stats{
		Connections: p.last.Load(),
		Dropped:     p.analysis.dropped.Load(),
		Failed:      p.analysis.failed.Load(),
	}
	if err := p.analysis.failure.Load(); err != nil {
		s.Failure = *err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Unreached = slices.Clone(p.unreached)
	return s
}

// Flush returns when everything that was passed on before the call has been analysed.
func (p *Proxy) Flush() { p.analysis.flush() }

// Close closes all listeners and connections, and returns when the observer has got everything.
// Closing twice is harmless.
func (p *Proxy) Close() error {
	p.mu.Lock()
	lines := p.lines
	p.lines = nil
	p.mu.Unlock()
	if lines == nil {
		return nil // closed before
	}
	p.stop()
	for _, l := range p.listeners {
		l.Close()
	}
	for l := range lines {
		l.abort()
	}
	p.running.Wait()
	p.owners.Close()
	p.analysis.close()
	return nil
}

func (p *Proxy) accept(l net.Listener, s Server) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or the client has gone
			time.Sleep(retry)
			continue
		}
		p.running.Go(func() { p.connect(c, s) })
	}
}

// retry is the pause after a connection could not be accepted.
const retry = 5 * time.Millisecond

// connect connects a client to its server and passes bytes between them until both directions
// have ended.
func (p *Proxy) connect(client net.Conn, s Server) {
	d := net.Dialer{Timeout: p.patience}
	server, err := d.DialContext(p.ctx, "tcp", s.Address)
	if err != nil {
		p.missed(s.Address, err)
		p.refuse(client, s)
		return
	}
	l := newLine(p, client, server, s)
	if !p.add(l) {
		l.abort()
		return
	}
	l.run()
	p.remove(l)
}

// refuse resets the connection, as a server that refuses does. Who has it can only be found out before.
func (p *Proxy) refuse(client net.Conn, s Server) {
	defer reset(client)
	if p.options.Refused == nil {
		return
	}
	c := traffic.Connection{ID: p.last.Add(1), Client: client.RemoteAddr().String(), Server: s.Address, At: time.Now()}
	found := make(chan traffic.Process, 1)
	p.owners.Find(client, func() bool { return true }, func(by traffic.Process) { found <- by })
	var by traffic.Process
	select {
	case by = <-found:
	case <-time.After(ownerWait):
	case <-p.ctx.Done():
	}
	p.options.Refused(c, by)
}

// missed counts a connection to a server that could not be reached, unless the proxy was closed meanwhile.
func (p *Proxy) missed(server string, err error) {
	if p.ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.unreached, func(u traffic.Unreached) bool { return u.Server == server })
	if i < 0 {
		i = len(p.unreached)
		p.unreached = append(p.unreached, traffic.Unreached{Server: server})
	}
	p.unreached[i].Connections++
	p.unreached[i].Error = err.Error()
}

// add returns false after Close.
func (p *Proxy) add(l *relay) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines == nil {
		return false
	}
	p.lines[l] = true
	return true
}

func (p *Proxy) remove(l *relay) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lines, l)
}

// Spread returns an address for each of n servers: the given ones, or from one address on the
// ports that follow it, or any free ports if its port is 0.
func Spread(addresses []string, n int) ([]string, error) {
	if len(addresses) == n {
		return addresses, nil
	}
	if len(addresses) != 1 {
		return nil, fmt.Errorf("%d addresses to listen at for %d servers: want 1 or %d", len(addresses), n, n)
	}
	host, service, err := net.SplitHostPort(addresses[0])
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if last := 65536 - uint64(n); err != nil || port > last {
		return nil, fmt.Errorf("listen at %q: invalid port: want a number from 0 to %d", addresses[0], last)
	}
	all := make([]string, n)
	for i := range all {
		next := port
		if port != 0 {
			next += uint64(i)
		}
		all[i] = net.JoinHostPort(host, strconv.FormatUint(next, 10))
	}
	return all, nil
}

// A relay is a client's connection and the one to its server.
type relay struct {
	proxy          *Proxy
	client, server net.Conn // with TLS, on a side that has it and whose handshake has begun
	rawClient      net.Conn // without
	rawServer      net.Conn
	tls            *tls.Config // for the server; nil for no encryption
	first          []byte      // what the client sent before the handshake with the server
	connection     traffic.Connection
	ended          atomic.Bool     // set before the client's connection is closed
	owner          traffic.Process // set before it was looked for
	looked         chan struct{}   // closed when the owner was looked for
	tap            traffic.Tap     // belongs to the analysis
	decoder        traffic.Decoder // belongs to the analysis; nil after its analysis has failed
	missing        [2]int64        // belongs to the analysis: bytes of each direction since its last packet
}

func newLine(p *Proxy, client, server net.Conn, s Server) *relay {
	l := &relay{proxy: p, client: client, server: server, rawClient: client, rawServer: server, tls: s.TLS}
	l.looked = make(chan struct{})
	if p.options.TLS != nil {
		l.client = tls.Server(patient{client}, p.options.TLS)
	}
	l.connection = traffic.Connection{
		ID:     p.last.Add(1),
		Client: client.RemoteAddr().String(),
		Server: s.Address,
	}
	return l
}

// A direction is one direction of a line, as the analysis needs it.
type direction struct {
	event  event
	framer traffic.Framer // nil if the protocol has none
	lost   int64          // bytes dropped since the last piece that the analysis got
}

func (l *relay) direction(e event) *direction {
	d := &direction{event: e}
	if framer := l.proxy.options.Protocol.Framer; framer != nil {
		d.framer = framer()
	}
	return d
}

// run passes bytes in both directions until both have ended.
func (l *relay) run() {
	a := l.proxy.analysis
	if l.shakeHands() != nil {
		l.abort()
		return
	}
	if through := l.proxy.options.Through; through != nil {
		l.client, l.first = through(l.connection, l.client, l.first), nil
	}
	a.open(l)
	l.proxy.owners.Find(l.rawClient, func() bool { return !l.ended.Load() }, func(p traffic.Process) {
		l.owner = p
		close(l.looked)
		a.owned(l)
	})
	requests, replies := l.direction(fromClient), l.direction(fromServer)
	var other sync.WaitGroup
	other.Go(func() { l.pass(l.server, l.client, replies) })
	l.pass(io.MultiReader(bytes.NewReader(l.first), l.client), l.server, requests)
	other.Wait()
	l.ended.Store(true)
	l.client.Close()
	l.server.Close()
	a.end(l, requests.lost+replies.lost)
}

// shakeHands does the TLS handshakes of both sides: at the same time, unless the one with the server
// negotiates what the client speaks.
func (l *relay) shakeHands() error {
	if l.tls == nil {
		return l.handshake(l.client)
	}
	config := l.tls.Clone()
	if speaks := l.proxy.options.Protocol.Speaks; len(traffic.ApplicationProtocols(speaks...)) > 0 {
		if err := l.handshake(l.client); err != nil {
			return err
		}
		if err := l.negotiate(config); err != nil {
			return err
		}
		l.server = tls.Client(patient{l.rawServer}, config)
		return l.handshake(l.server)
	}
	l.server = tls.Client(patient{l.rawServer}, config)
	return l.handshake(l.client, l.server)
}

// handshake does the handshakes of sides that have TLS. A peer that does not take part keeps both connections
// for no longer than the proxy waits.
func (l *relay) handshake(of ...net.Conn) error {
	ctx, cancel := context.WithTimeout(l.proxy.ctx, l.proxy.patience)
	defer cancel()
	sides, ctx := errgroup.WithContext(ctx)
	for _, side := range of {
		if t, ok := side.(*tls.Conn); ok {
			sides.Go(func() error { return t.HandshakeContext(ctx) })
		}
	}
	return sides.Wait()
}

// negotiate makes the configuration offer the server what the client speaks: what it has negotiated itself,
// or what it begins to say.
func (l *relay) negotiate(config *tls.Config) error {
	if c, encrypted := l.client.(*tls.Conn); encrypted && c.ConnectionState().NegotiatedProtocol != "" {
		config.NextProtos = []string{c.ConnectionState().NegotiatedProtocol}
		return nil
	}
	spoken, err := l.listen()
	config.NextProtos = traffic.ApplicationProtocols(spoken)
	return err
}

// listen reads what the client sends first until it tells its protocol, however long the client is silent.
func (l *relay) listen() (traffic.Cause, error) {
	buf := make([]byte, bufferSize)
	for {
		n, err := l.client.Read(buf)
		l.first = append(l.first, buf[:n]...)
		if spoken, known := traffic.Recognise(l.first); known {
			return spoken, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// bufferSize is how many bytes are passed on at once. Most requests and replies are smaller.
const bufferSize = 4 << 10

// pass passes one direction on. When the source ends, so does this direction of the destination,
// and the other direction continues. When either breaks, both connections are reset.
func (l *relay) pass(from io.Reader, to net.Conn, d *direction) {
	buf := make([]byte, bufferSize)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			l.proxy.analysis.offer(l, d, buf[:n])
			if _, failed := to.Write(buf[:n]); failed != nil {
				err = failed
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			if closeWrite(to) != nil {
				l.abort()
			}
			return
		case err != nil:
			l.abort()
			return
		}
	}
}

// abort resets both connections, as a broken connection between the two would be.
func (l *relay) abort() {
	l.ended.Store(true)
	reset(l.rawClient)
	reset(l.rawServer)
}

// closeWrite ends one direction of a connection.
func closeWrite(c net.Conn) error { return c.(interface{ CloseWrite() error }).CloseWrite() }

// patient is a connection below TLS that waits for its reader. crypto/tls gives the end of a direction five
// seconds, and a reader may be slower than that.
type patient struct{ net.Conn }

func (patient) SetWriteDeadline(time.Time) error { return nil }

// reset closes a connection so that the peer gets a reset and no ordinary end.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}
