package floor

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// Role is the name of Run among the roles of child processes.
const Role = "floor"

// Run serves on a free port of the loopback interface until the context ends, with a file
// in the directory that is its argument. It passes its address to ready.
func Run(ctx context.Context, args []string, ready func(addr string)) error {
	f, err := Create(filepath.Join(args[0], "requests"))
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { l.Close() })()
	ready(l.Addr().String())
	return New(f).Serve(l)
}

// Create creates a file that is synced in the same way as the native server's log.
func Create(path string) (logfile.File, error) { return logfile.System{}.Create(path) }

// A Server serves connections of ZooKeeper clients.
type Server struct {
	log      *Log
	sessions atomic.Int64

	mu       sync.Mutex
	watching []net.Conn // each gets one notification of the next write
}

// New returns a server that writes to the file.
func New(file File) *Server { return &Server{log: NewLog(file)} }

// Serve answers connections until the listener is closed, and then returns nil.
func (s *Server) Serve(l net.Listener) error {
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		c := &conn{server: s, net: nc, in: wire.NewFrames(nc, wire.MaxPacket, kept), id: s.sessions.Add(1)}
		go c.serve()
	}
}

func (s *Server) watch(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching = append(s.watching, nc)
}

// notify writes one notification to each connection that watches. It does not stop at a
// connection that has been closed.
func (s *Server) notify() {
	s.mu.Lock()
	watching := s.watching
	s.watching = nil
	s.mu.Unlock()
	for _, nc := range watching {
		nc.Write(notification)
	}
}
