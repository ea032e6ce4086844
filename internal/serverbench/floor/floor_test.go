package floor

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A memory file keeps the bytes that are written and counts syncs. If gate is not nil, a sync
// signals that it has begun and waits for a value.
type memory struct {
	mu           sync.Mutex
	bytes        []byte
	syncs        int
	began, gate  chan struct{}
	failed       error
	writtenAtEnd int // bytes when the last sync began
}

func (m *memory) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes = append(m.bytes, b...)
	return len(b), nil
}

func (m *memory) Sync() error {
	m.mu.Lock()
	m.syncs, m.writtenAtEnd = m.syncs+1, len(m.bytes)
	m.mu.Unlock()
	if m.gate != nil {
		m.began <- struct{}{}
		<-m.gate
	}
	return m.failed
}

// Commits during a sync form one batch: it is written unchanged, and synced once.
func TestLogSyncsEachBatchOnce(t *testing.T) {
	file := &memory{began: make(chan struct{}), gate: make(chan struct{})}
	log := NewLog(file)
	results := make(chan error)
	commit := func(s string) { results <- log.Commit([]byte(s)) }
	go commit("first")
	<-file.began
	const more = 5
	for range more {
		go commit("again")
	}
	for gathered := 0; gathered < more*len("again"); { // until all of them wait for the second batch
		log.mu.Lock()
		if log.gather != nil {
			gathered = len(log.gather.bytes)
		}
		log.mu.Unlock()
	}
	file.gate <- struct{}{}
	if err := <-results; err != nil {
		t.Fatal(err)
	}
	<-file.began
	file.gate <- struct{}{}
	for range more {
		if err := <-results; err != nil {
			t.Fatal(err)
		}
	}
	want := "first" + string(bytes.Repeat([]byte("again"), more))
	if string(file.bytes) != want || file.syncs != 2 || file.writtenAtEnd != len(want) {
		t.Errorf("wrote %q with %d syncs, %d bytes before the last; want %q with 2, all before", file.bytes, file.syncs, file.writtenAtEnd, want)
	}
}

func TestLogReportsAFailedSync(t *testing.T) {
	file := &memory{failed: errors.New("no space")}
	if err := NewLog(file).Commit([]byte("x")); !errors.Is(err, file.failed) {
		t.Errorf("got %v, want %v", err, file.failed)
	}
}

// A client is a connection whose frames the test itself writes and reads.
type client struct {
	t   *testing.T
	net net.Conn
	in  wire.Frames
}

func serve(t *testing.T, file File) (connect func() *client) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- New(file).Serve(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return func() *client {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		c := &client{t, nc, wire.NewFrames(nc, wire.MaxPacket, kept)}
		c.send(wire.ConnectRequest{Timeout: 30_000, Password: make([]byte, wire.PasswordSize)}.Append(nil))
		c.next()
		return c
	}
}

func (c *client) send(payloads ...[]byte) {
	var b []byte
	for _, p := range payloads {
		start := len(b)
		b = append(wire.Begin(b), p...)
		wire.End(b, start)
	}
	if _, err := c.net.Write(b); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) next() []byte {
	payload, err := c.in.Next()
	if err != nil {
		c.t.Fatal(err)
	}
	return payload
}

func request(xid int32, op int32, r interface{ Append([]byte) []byte }) []byte {
	return r.Append(wire.RequestHeader{Xid: xid, Op: op}.Append(nil))
}

// Each frame is answered once, in order, with a reply of the size that a server sends.
func TestEchoAnswersEveryFrame(t *testing.T) {
	c := serve(t, &memory{})()
	const frames = 1000
	var all [][]byte
	for i := range int32(frames) {
		all = append(all, request(i, wire.OpGetData, wire.PathWatch{Path: "/small"}))
	}
	c.send(all...)
	for i := range int32(frames) {
		d := wire.NewDecoder(c.next())
		var h wire.ReplyHeader
		var r wire.DataStat
		h.Decode(&d)
		r.Decode(&d)
		if h.Xid != i || h.Err != wire.OK || len(r.Data) != 100 || d.Err() != nil || len(d.Rest()) > 0 {
			t.Fatalf("reply %d: %+v with %d bytes, %v", i, h, len(r.Data), d.Err())
		}
	}
}

// When requests are answered, the file contains exactly those that change something.
func TestSetsAreSyncedBeforeTheyAreAnswered(t *testing.T) {
	file := &memory{}
	c := serve(t, file)()
	set := request(2, wire.OpSetData, wire.SetDataRequest{Path: Node, Data: make([]byte, 1024), Version: -1})
	for i := range 3 {
		c.send(request(1, wire.OpGetData, wire.PathWatch{Path: Node}), set)
		c.next()
		c.next()
		if want := bytes.Repeat(set, i+1); !bytes.Equal(file.bytes, want) || file.syncs < i+1 || file.writtenAtEnd != len(want) {
			t.Fatalf("after %d sets: %d bytes with %d syncs, want %d bytes, all synced", i+1, len(file.bytes), file.syncs, len(want))
		}
	}
}

// Each connection that watches gets one notification, for one write.
func TestEveryWatcherIsNotifiedOnce(t *testing.T) {
	connect := serve(t, &memory{})
	watchers := make([]*client, 20)
	for i := range watchers {
		watchers[i] = connect()
		// The second reply shows that the watch of the first request is set.
		watchers[i].send(request(1, wire.OpGetData, wire.PathWatch{Path: Node, Watch: true}))
		watchers[i].next()
		watchers[i].send(request(2, wire.OpGetData, wire.PathWatch{Path: Node}))
		watchers[i].next()
	}
	writer := connect()
	for range 2 { // the second write notifies no connection
		writer.send(request(1, wire.OpSetData, wire.SetDataRequest{Path: Node, Version: -1}))
		writer.next()
	}
	for _, w := range watchers {
		w.send(request(3, wire.OpPing, wire.Path{}))
		var xids []int32
		for range 2 {
			d := wire.NewDecoder(w.next())
			var h wire.ReplyHeader
			h.Decode(&d)
			xids = append(xids, h.Xid)
		}
		if xids[0] != wire.XidNotification || xids[1] != 3 {
			t.Errorf("got packets %v, want a notification and the answer to the ping", xids)
		}
	}
}
