package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/internal/testenv"
)

// kills is how often the server is killed; the variable KILLS overrides it.
const kills = 20

// TestServeSurvivesKills checks a server on disk that is killed at any moment and started again: it
// has every write that it acknowledged, none twice, every state that it showed, and every session.
func TestServeSurvivesKills(t *testing.T) {
	testenv.SkipIfShort(t)
	rounds := kills
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	server, addr := startServe(t, "127.0.0.1:0", "--data-dir", dir)
	c := newCrowd(t, addr, 4)
	for range rounds {
		for range 1 + rand.IntN(400) {
			c.awaitWrite(t)
		}
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		server.Wait()
		server, _ = startServe(t, addr, "--data-dir", dir)
	}
	c.end(t)
}

// patience is how long tests wait for a command or a server. Only a defect takes that long, not a
// busy machine.
const patience = 10 * time.Minute

// A crowd is several clients that write, and one that reads what they wrote.
type crowd struct {
	writers []*writer
	reader  *zk.Conn
	wrote   chan struct{} // receives a value for each acknowledged write
	failed  chan error
	stop    context.CancelFunc
	running sync.WaitGroup
}

func newCrowd(t *testing.T, addr string, size int) *crowd {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c := &crowd{reader: dialZK(t, addr), wrote: make(chan struct{}), failed: make(chan error, size+1), stop: stop}
	for i := range size {
		c.writers = append(c.writers, newWriter(t, addr, fmt.Sprintf("/w%d", i)))
	}
	for _, w := range c.writers {
		c.running.Go(func() { c.write(ctx, w) })
	}
	c.running.Go(func() { c.read(ctx) })
	return c
}

func (c *crowd) awaitWrite(t *testing.T) {
	t.Helper()
	select {
	case <-c.wrote:
	case err := <-c.failed:
		t.Fatal(err)
	case <-time.After(patience):
		t.Fatal("no write is acknowledged any more")
	}
}

func (c *crowd) write(ctx context.Context, w *writer) {
	for ctx.Err() == nil {
		if err := w.write(); err != nil {
			c.failed <- err
			return
		}
		select {
		case c.wrote <- struct{}{}:
		case <-ctx.Done():
		}
	}
}

// read fails if a node is older than in an earlier read. The reader's member may not have what other sessions created
// when the reader begins.
func (c *crowd) read(ctx context.Context) {
	for ctx.Err() == nil {
		_, err := c.reader.Sync("/")
		if err == nil {
			break
		}
		if !isCut(err) {
			c.failed <- err
			return
		}
	}
	shown := map[string]int32{}
	for ctx.Err() == nil {
		for _, w := range c.writers {
			version, err := settledVersion(c.reader, w.path)
			if err == nil && version < shown[w.path] {
				err = fmt.Errorf("%s has version %d, and was shown with %d", w.path, version, shown[w.path])
			}
			if err != nil {
				c.failed <- err
				return
			}
			shown[w.path] = version
		}
	}
}

// end checks that every session is still the same and has its ephemeral node.
func (c *crowd) end(t *testing.T) {
	t.Helper()
	c.stop()
	c.running.Wait()
	close(c.failed)
	for err := range c.failed {
		t.Error(err)
	}
	for _, w := range c.writers {
		if err := w.settle(); err != nil {
			t.Error(err)
		}
		_, stat, err := w.conn.Get(w.path + "-alive")
		if err != nil || stat.EphemeralOwner != w.session || w.conn.SessionID() != w.session {
			t.Errorf("%s of session %#x: %+v, %v; the session is now %#x", w.path, w.session, stat, err, w.conn.SessionID())
		}
	}
}

// A writer writes to its own node, whose version counts the writes.
type writer struct {
	conn    *zk.Conn
	session int64
	path    string
	version int32 // the last known version
}

func newWriter(t *testing.T, addr, path string) *writer {
	t.Helper()
	w := &writer{conn: dialZK(t, addr), path: path}
	for path, flags := range map[string]int32{path: 0, path + "-alive": zk.FlagEphemeral} {
		if _, err := w.conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	w.session = w.conn.SessionID()
	return w
}

// write writes once. A write without an answer may or may not have been applied.
func (w *writer) write() error {
	stat, err := w.conn.Set(w.path, nil, -1)
	if isCut(err) {
		return w.settle()
	}
	if err != nil {
		return err
	}
	w.version++
	if stat.Version != w.version {
		return fmt.Errorf("%s has version %d after write %d", w.path, stat.Version, w.version)
	}
	return nil
}

// settle finds out whether an unanswered write was applied.
func (w *writer) settle() error {
	version, err := settledVersion(w.conn, w.path)
	if err != nil {
		return err
	}
	if version < w.version || version > w.version+1 {
		return fmt.Errorf("%s has version %d after %d acknowledged writes and at most one more", w.path, version, w.version)
	}
	w.version = version
	return nil
}

// settledVersion returns the version of a node as soon as a server answers.
func settledVersion(c *zk.Conn, path string) (int32, error) {
	for since := time.Now(); ; {
		_, stat, err := c.Get(path)
		if isCut(err) && time.Since(since) < patience {
			continue
		}
		if err != nil {
			return 0, err
		}
		return stat.Version, nil
	}
}

// isCut reports whether the connection was lost. The client returns what the socket says if that happens while it
// writes the request.
func isCut(err error) bool {
	var socket *net.OpError
	return errors.Is(err, zk.ErrConnectionClosed) || errors.Is(err, zk.ErrNoServer) || errors.As(err, &socket)
}

type mute struct{}

func (mute) Printf(string, ...any) {}

func dialZK(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	c, _, err := zk.Connect(strings.Split(addr, ","), 30*time.Second, zk.WithLogger(mute{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
