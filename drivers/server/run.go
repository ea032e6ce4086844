package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"

	"golang.org/x/net/proxy"

	"github.com/stampede-bench/stampede/drivers/cluster"
	"github.com/stampede-bench/stampede/drivers/server/certificates"
	"github.com/stampede-bench/stampede/drivers/server/raftlog"
	"github.com/stampede-bench/stampede/drivers/server/tree"
	"github.com/stampede-bench/stampede/drivers/server/wal"
)

// Run serves at the place p in this process until the context ends, over TLS if p has a
// certificate. It announces the process ID when the address accepts connections. The durability is
// Memory or Fsync.
//
// After a kill, a server with Fsync restarts with its state. A server with Memory restarts empty
// and does not know its clients' sessions. One of several members at a place needs Fsync: a member
// that forgets its votes can vote twice.
func Run(ctx context.Context, o Options, p cluster.Place, announce func(pid string)) error {
	BoundGarbage()
	switch {
	case p.Durability == Fsync && len(p.Members) > 1:
		return runMember(ctx, o, p, announce)
	case p.Durability == Fsync:
		return runOnDisk(ctx, o, p, announce)
	case p.Durability == Memory && len(p.Members) == 1:
		return run(ctx, New(o), p, announce)
	}
	return fmt.Errorf("durability %q: want %s, or %s for one server", p.Durability, Fsync, Memory)
}

func runOnDisk(ctx context.Context, o Options, p cluster.Place, announce func(pid string)) (err error) {
	if o.Journal, err = wal.Open(p.Dir); err != nil {
		return err
	}
	return errors.Join(run(ctx, New(o), p, announce), o.Journal.Close())
}

// run serves and closes the server.
func run(ctx context.Context, s *Server, p cluster.Place, announce func(pid string)) error {
	defer s.Close()
	l, err := net.Listen("tcp", p.Own().Clients)
	if err != nil {
		return fmt.Errorf("native server: %w", err)
	}
	serve := (*Server).Serve
	if p.Certificate != "" {
		cfg, err := certificates.Files{Cert: p.Certificate, Key: p.Certificate, MinVersion: tls.VersionTLS12}.Config()
		if err != nil {
			return errors.Join(fmt.Errorf("native server: %w", err), l.Close())
		}
		serve = func(s *Server, l net.Listener) error { return s.ServeTLS(l, cfg) }
	}
	stop := context.AfterFunc(ctx, s.Close)
	defer stop()
	announce(strconv.Itoa(os.Getpid()))
	if err := serve(s, l); ctx.Err() == nil || !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil // the end came before Serve
}

// runMember serves as one of several members.
func runMember(ctx context.Context, o Options, p cluster.Place, announce func(pid string)) (err error) {
	e := Ensemble{ID: uint64(p.Number), Addresses: map[uint64]string{}}
	var voters []uint64
	for i, m := range p.Members {
		id := uint64(i + 1)
		voters, e.Addresses[id] = append(voters, id), m.Peers
	}
	if e.Secret, err = os.ReadFile(p.Secret); err != nil {
		return fmt.Errorf("native server: %w", err)
	}
	if p.Proxy != "" {
		if e.Dial, err = dialThrough(p.Proxy); err != nil {
			return fmt.Errorf("native server: %w", err)
		}
	}
	if e.Log, err = raftlog.Open(p.Dir, raftlog.Member{ID: e.ID, Voters: voters}); err != nil {
		return err
	}
	return errors.Join(serveMember(ctx, o, e, p, announce), e.Log.Close())
}

func serveMember(ctx context.Context, o Options, e Ensemble, p cluster.Place, announce func(pid string)) (err error) {
	if e.Listener, err = net.Listen("tcp", p.Own().Peers); err != nil {
		return fmt.Errorf("native server: %w", err)
	}
	s, err := NewMember(o, e)
	if err != nil {
		return errors.Join(err, e.Listener.Close())
	}
	return run(ctx, s, p, announce)
}

// dialThrough returns a function that connects through a SOCKS5 proxy.
func dialThrough(address string) (func(ctx context.Context, network, address string) (net.Conn, error), error) {
	d, err := proxy.SOCKS5("tcp", address, nil, proxy.Direct)
	if err != nil {
		return nil, err
	}
	return d.(proxy.ContextDialer).DialContext, nil
}

// Garbage may grow to a quarter of the live heap, or to garbageRoom bytes if that is more.
const (
	garbageQuarter = 25 // percent
	garbageRoom    = 64 << 20
)

// BoundGarbage limits the garbage of a server's process, so that it takes little more memory than
// its nodes, unless GOGC is set. Go's default lets garbage grow to the size of the live heap. That
// is much memory with a large tree; with a small tree it is so little that a busy server collects
// all the time.
func BoundGarbage() {
	if os.Getenv("GOGC") == "" {
		boundGarbage()
	}
}

// boundGarbage sets the GC percentage from the live heap of the last collection, now and after each
// later collection: the cleanup of an unreachable object calls it again.
func boundGarbage() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(garbagePercent(live[0].Value.Uint64()))
	unused := new(*byte) // a pointer type: the tiny allocator's neighbours can keep other small objects alive
	runtime.AddCleanup(unused, func(struct{}) { boundGarbage() }, struct{}{})
}

// minHeap is the least live heap that Go assumes.
const minHeap = 4 << 20

func garbagePercent(live uint64) int {
	return max(garbageQuarter, int(garbageRoom*100/max(live, minHeap)))
}

// The durability of a change before the server shows it to any client.
const (
	Memory = "memory" // the change is in memory and is lost when the process ends
	Fsync  = "fsync"  // the change is on disk
)

// restore starts from the journal's state. Every session in it gets its whole timeout, so that its
// client can reconnect.
func (s *Server) restore() {
	s.tree = s.journal.Tree()
	for x := range s.tree.Sessions() {
		restored := &session{id: x.ID, timeout: time.Duration(x.Timeout) * time.Millisecond}
		s.heardOf(restored)
		s.sessions[x.ID] = restored
		s.lastID = max(s.lastID, x.ID)
	}
}

// await returns nil when the state of the zxid is durable.
func (s *Server) await(zxid int64) error {
	if s.journal == nil {
		return nil
	}
	return s.journal.Await(zxid)
}

// keepSnapshots saves a snapshot each time one is due.
func (s *Server) keepSnapshots(due <-chan struct{}, save func()) {
	for {
		select {
		case <-due:
			save()
		case <-s.done:
			return
		}
	}
}

// pieceOfSnapshot is the number of nodes that a snapshot copies while it holds the lock.
const pieceOfSnapshot = 256

func (s *Server) saveSnapshot() {
	s.mu.Lock()
	shot := s.tree.Snapshot()
	s.mu.Unlock()
	s.journal.SaveSnapshot(shot, func(images []tree.Image) (_ []tree.Image, more bool, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			return nil, false, wal.ErrAbandoned
		}
		images, more = shot.Next(images, pieceOfSnapshot)
		return images, more, nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	shot.End()
}

// endWithJournal closes the server if its journal fails, because later changes cannot become
// durable.
func (s *Server) endWithJournal() {
	select {
	case <-s.journal.Done():
		s.shut()
	case <-s.done:
	}
}

// failure returns the error that closed the server, or nil.
func (s *Server) failure() error {
	switch {
	case s.ensemble != nil:
		return s.ensemble.failed
	case s.journal == nil:
		return nil
	}
	return s.journal.Err()
}
