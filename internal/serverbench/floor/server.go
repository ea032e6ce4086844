// Package floor is a server that does only what every server has to do for the same load. It
// reads requests, writes those that change something to a file and syncs it, and sends replies
// and notifications of the size that a real server sends. It looks up nothing, checks nothing
// and stores nothing. The time that a real server takes beyond that is its own work.
package floor

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"sync"

	"github.com/stampede-bench/stampede/drivers/server/canned"
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

// Node is the path in every notification.
const Node = "/large"

// A Server serves connections of ZooKeeper clients.
type Server struct {
	log          *Log
	notification []byte

	mu       sync.Mutex
	watching []net.Conn // each gets one notification of the next write
}

// New returns a server that writes to the file.
func New(file File) *Server {
	b := wire.ReplyHeader{Xid: wire.XidNotification, Zxid: 1}.Append(wire.Begin(nil))
	b = wire.WatcherEvent{Type: wire.EventDataChanged, State: wire.StateConnected, Path: Node}.Append(b)
	wire.End(b, 0)
	return &Server{log: NewLog(file), notification: b}
}

// Serve answers connections until the listener is closed, and then returns nil.
func (s *Server) Serve(l net.Listener) error { return canned.Accept(l, s.answer) }

// notify writes one notification to each connection that watches. It does not stop at a
// connection that has been closed.
func (s *Server) notify() {
	s.mu.Lock()
	watching := s.watching
	s.watching = nil
	s.mu.Unlock()
	for _, nc := range watching {
		nc.Write(s.notification)
	}
}

// kept is the size in bytes of the largest buffer that a connection keeps.
const kept = 64 << 10

// A conn is one connection. It answers requests that have arrived together in one batch.
type conn struct {
	server *Server
	net    net.Conn
	in     wire.Frames
	out    []byte // replies
	log    []byte // requests that change something
	watch  bool   // one of the requests sets a watch
}

// answer answers requests until the client closes the connection.
func (s *Server) answer(nc net.Conn, session int64) error {
	c := &conn{server: s, net: nc, in: wire.NewFrames(nc, wire.MaxPacket, kept)}
	first, err := c.in.Next()
	if err != nil {
		return err
	}
	granted, err := canned.Connect(first, session)
	if err == nil {
		_, err = nc.Write(granted)
	}
	for err == nil {
		err = c.answerBatch()
	}
	return err
}

// answerBatch waits for a request and answers it together with the requests that arrived behind it.
func (c *conn) answerBatch() error {
	c.out, c.log, c.watch = c.out[:0], c.log[:0], false
	for more := true; more; more = c.in.Ready() {
		request, err := c.in.Next()
		if err == nil {
			err = c.add(request)
		}
		if err != nil {
			return err
		}
	}
	if len(c.log) > 0 {
		if err := c.server.log.Commit(c.log); err != nil {
			return err
		}
		c.server.notify()
	}
	if _, err := c.net.Write(c.out); err != nil {
		return err
	}
	if c.watch {
		c.server.mu.Lock()
		defer c.server.mu.Unlock()
		c.server.watching = append(c.server.watching, c.net)
	}
	return nil
}

// add adds the reply to a request, and the request itself if it changes something.
func (c *conn) add(request []byte) (err error) {
	var h wire.RequestHeader
	d := wire.NewDecoder(request)
	h.Decode(&d)
	switch h.Op {
	case wire.OpCreate, wire.OpCreate2, wire.OpSetData:
		c.log = append(c.log, request...)
	case wire.OpGetData:
		c.watch = c.watch || request[len(request)-1] != 0
	}
	c.out, err = canned.AppendReply(c.out, request)
	return err
}

// A File is where requests that change something are written.
type File interface {
	io.Writer
	Sync() error
}

// A Log writes bytes to a file. Bytes added during a sync are written together and synced once.
type Log struct {
	file    File
	writing sync.Mutex // held while a batch is written and synced

	mu     sync.Mutex // guards what follows
	gather *batch     // the next one to write; nil if it has no bytes yet
	spare  []byte     // the buffer of the last batch
}

type batch struct {
	bytes []byte
	write func() error // writes the batch once, for the first caller; later ones wait for it
}

// NewLog returns a log that writes to the file.
func NewLog(file File) *Log { return &Log{file: file} }

// Commit returns when the bytes have been written and synced.
func (l *Log) Commit(b []byte) error {
	l.mu.Lock()
	if l.gather == nil {
		next := &batch{bytes: l.spare}
		next.write = sync.OnceValue(func() error { return l.write(next) })
		l.gather, l.spare = next, nil
	}
	mine := l.gather
	mine.bytes = append(mine.bytes, b...)
	l.mu.Unlock()
	return mine.write()
}

func (l *Log) write(b *batch) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	l.gather = nil
	l.mu.Unlock()
	_, err := l.file.Write(b.bytes)
	if err == nil {
		err = l.file.Sync()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = b.bytes[:0]
	return err
}
