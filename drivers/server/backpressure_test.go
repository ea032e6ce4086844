package server

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stampede-bench/stampede/drivers/server/fourletter"
	"github.com/stampede-bench/stampede/drivers/server/logfile"
	"github.com/stampede-bench/stampede/drivers/server/wal"
	"github.com/stampede-bench/stampede/drivers/wire"
	"github.com/stampede-bench/stampede/internal/bubble"
)

// A heldDisk confirms no write between hold and release.
type heldDisk struct {
	logfile.System
	gate chan chan struct{} // has one value: a channel that is closed while the disk is not held
}

type heldFile struct {
	logfile.File
	disk *heldDisk
}

func newHeldDisk() *heldDisk {
	d := &heldDisk{gate: make(chan chan struct{}, 1)}
	open := make(chan struct{})
	close(open)
	d.gate <- open
	return d
}

func (d *heldDisk) Create(path string) (logfile.File, error) {
	f, err := d.System.Create(path)
	return heldFile{f, d}, err
}

func (f heldFile) Sync() error {
	gate := <-f.disk.gate
	f.disk.gate <- gate
	<-gate
	return f.File.Sync()
}

func (d *heldDisk) hold() (release func()) {
	gate := make(chan struct{})
	<-d.gate
	d.gate <- gate
	return func() { close(gate) }
}

// onHeldDisk returns a server on a heldDisk.
func onHeldDisk(t *testing.T) (*Server, *heldDisk, *wal.Journal) {
	t.Helper()
	d := newHeldDisk()
	j, err := wal.OpenOn(d, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Journal: j})
	t.Cleanup(func() {
		s.Close()
		j.Close()
	})
	return s, d, j
}

// The journal's limits, in bytes and in transactions. A connection with writes that are not yet on
// disk has half of each. The largest request may exceed the limit by its own size.
const (
	maxPending   = 32 << 20
	maxPendingOf = 10_000
	oneRequest   = wire.MaxPacket + 1000
)

func setOf(size int) wire.SetDataRequest {
	return wire.SetDataRequest{Path: "/", Data: make([]byte, size), Version: -1}
}

// flood sends setData requests without waiting for replies.
func flood(r *raw, n, size int) {
	go func() {
		for i := range int32(n) {
			r.Write(request(i+1, wire.OpSetData, setOf(size)))
		}
	}()
}

func wantReplies(r *raw, n int) {
	r.t.Helper()
	for i := range int32(n) {
		r.wantReply(r.read(), i+1, wire.OK)
	}
}

// While the disk confirms nothing, the server stops reading from a client that writes large data,
// and still reads from another. Both get their replies when the disk has caught up.
func TestSlowDiskBoundsPendingBytes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, d, j := onHeldDisk(t)
		flooder, other := openRaw(t, s), openRaw(t, s)
		release := d.hold()
		const sets = 100
		flood(flooder, sets, 1_000_000)
		synctest.Wait()
		before, _ := j.Pending()
		if before < maxPending/2 || before > maxPending/2+oneRequest {
			t.Errorf("%d bytes are pending, want at most half of %d and one request", before, maxPending)
		}
		flood(other, 2, 1_000_000)
		synctest.Wait()
		if after, _ := j.Pending(); after < before+1_000_000 || after > before+oneRequest {
			t.Errorf("%d bytes are pending after %d, want one request of the other client more", after, before)
		}
		release()
		wantReplies(flooder, sets)
		wantReplies(other, 2)
		if bytes, n := j.Pending(); bytes != 0 || n != 0 {
			t.Errorf("%d bytes and %d transactions are pending in the end", bytes, n)
		}
	})
}

// Small requests count too.
func TestSlowDiskBoundsPendingRequests(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, d, j := onHeldDisk(t)
		r := openRaw(t, s)
		release := d.hold()
		flood(r, 2*maxPendingOf, 1)
		synctest.Wait()
		if _, n := j.Pending(); n != maxPendingOf/2 {
			t.Errorf("%d transactions are pending, want %d", n, maxPendingOf/2)
		}
		s.mu.Lock()
		metrics := fourletter.Answer("mntr", s.state())
		s.mu.Unlock()
		if want := "zk_outstanding_requests\t5000\n"; !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %q:\n%s", want, metrics)
		}
		release()
		wantReplies(r, 2*maxPendingOf)
	})
}

// With any number of clients, all writes wait in the end, and none is lost.
func TestSlowDiskBoundsManyClients(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, d, j := onHeldDisk(t)
		var clients []*raw
		for range 60 {
			clients = append(clients, openRaw(t, s))
		}
		release := d.hold()
		for _, r := range clients {
			flood(r, 2, 1_000_000)
		}
		synctest.Wait()
		if bytes, _ := j.Pending(); bytes < maxPending || bytes > maxPending+oneRequest {
			t.Errorf("%d bytes are pending, want at most %d and one request", bytes, maxPending)
		}
		late := dialRaw(t, s)
		go late.Write(framed(wire.ConnectRequest{Timeout: 10_000}.Append(nil)))
		synctest.Wait()
		if got := s.Stats().Sessions; got != 60 {
			t.Errorf("%d sessions, want no other one before there is room", got)
		}
		release()
		for _, r := range clients {
			wantReplies(r, 2)
		}
		late.payload()
		if got := s.Stats().Sessions; got != 61 {
			t.Errorf("%d sessions, want the late one, too", got)
		}
	})
}

// A session does not expire because the server has not read its requests.
func TestSessionOutlivesASlowDisk(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, d, _ := onHeldDisk(t)
		r, idle := openRaw(t, s), openRaw(t, s)
		release := d.hold()
		flood(r, 30, 1_000_000)
		time.Sleep(time.Minute)
		idle.Write(request(1, wire.OpPing, nil)) // fails: the server has closed the connection
		release()
		wantReplies(r, 30)
		idle.wantEnd()
		if got := s.Stats().Sessions; got != 1 {
			t.Errorf("%d sessions, want the one that waited", got)
		}
	})
}

// A server closes while clients wait for its disk.
func TestCloseEndsWaitingForRoom(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, d, j := onHeldDisk(t)
		r := openRaw(t, s)
		release := d.hold()
		flood(r, 30, 1_000_000)
		synctest.Wait()
		ended := make(chan struct{})
		go func() {
			s.Close()
			close(ended)
		}()
		synctest.Wait()
		s.mu.Lock()
		if len(s.conns) > 0 {
			t.Error("a connection still waits for the disk")
		}
		s.mu.Unlock()
		release()
		<-ended
		if bytes, _ := j.Pending(); bytes > maxPending/2+oneRequest {
			t.Errorf("%d bytes are pending: something was applied after the end", bytes)
		}
	})
}
