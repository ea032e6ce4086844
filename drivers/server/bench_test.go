package server

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stampede-bench/stampede/drivers/server/wal"
	"github.com/stampede-bench/stampede/drivers/wire"
)

const (
	benchConns   = 8
	benchWindow  = 32 // requests outstanding on each connection
	benchPayload = 1 << 10
)

// benchmark keeps the same request outstanding on several connections.
func benchmark(b *testing.B, conns, window int, req []byte) {
	benchmarkServer(b, Options{}, conns, window, req)
}

// benchmarkOnDisk is benchmark with a server that has a journal.
func benchmarkOnDisk(b *testing.B, conns, window int, req []byte) {
	j, err := wal.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	benchmarkServer(b, Options{Journal: j}, conns, window, req)
}

func benchmarkServer(b *testing.B, o Options, conns, window int, req []byte) {
	s := New(o)
	defer s.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go s.Serve(l)
	var clients []net.Conn
	for range conns {
		nc, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer nc.Close()
		nc.Write(framed(wire.ConnectRequest{Timeout: 30_000}.Append(nil)))
		discardPackets(bufio.NewReader(nc), 1)
		clients = append(clients, nc)
	}
	setup := request(1, wire.OpSetData, wire.SetDataRequest{Path: "/", Data: make([]byte, benchPayload), Version: -1})
	clients[0].Write(setup)
	discardPackets(bufio.NewReader(clients[0]), 1)
	b.ReportAllocs()
	b.ResetTimer()
	var all sync.WaitGroup
	for _, nc := range clients {
		all.Go(func() { pump(nc, window, b.N/conns, req) })
	}
	all.Wait()
}

// pump sends n requests, half a window at a time, and reads their replies.
func pump(nc net.Conn, window, n int, req []byte) {
	half := max(window/2, 1)
	var burst []byte
	for range half {
		burst = append(burst, req...)
	}
	r := bufio.NewReaderSize(nc, 64<<10)
	nc.Write(burst)
	for range n / half {
		if window > 1 {
			nc.Write(burst)
		}
		discardPackets(r, half)
		if window == 1 {
			nc.Write(burst)
		}
	}
}

func discardPackets(r *bufio.Reader, n int) {
	var length [wire.LengthSize]byte
	for range n {
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return
		}
		r.Discard(int(binary.BigEndian.Uint32(length[:])))
	}
}

func BenchmarkGet(b *testing.B) {
	benchmark(b, benchConns, benchWindow, request(1, wire.OpGetData, wire.PathWatch{Path: "/zookeeper/quota"}))
}

func BenchmarkGet1KB(b *testing.B) {
	benchmark(b, benchConns, benchWindow, request(1, wire.OpGetData, wire.PathWatch{Path: "/"}))
}

func BenchmarkSet1KB(b *testing.B) {
	benchmark(b, benchConns, benchWindow, request(1, wire.OpSetData,
		wire.SetDataRequest{Path: "/", Data: make([]byte, benchPayload), Version: -1}))
}

func BenchmarkSet1KBAlone(b *testing.B) {
	benchmark(b, 1, 1, request(1, wire.OpSetData,
		wire.SetDataRequest{Path: "/", Data: make([]byte, benchPayload), Version: -1}))
}

func BenchmarkSet1KBOnDisk(b *testing.B) {
	benchmarkOnDisk(b, benchConns, benchWindow, request(1, wire.OpSetData,
		wire.SetDataRequest{Path: "/", Data: make([]byte, benchPayload), Version: -1}))
}

func BenchmarkSet1KBOnDiskAlone(b *testing.B) {
	benchmarkOnDisk(b, 1, 1, request(1, wire.OpSetData,
		wire.SetDataRequest{Path: "/", Data: make([]byte, benchPayload), Version: -1}))
}

func BenchmarkSet100KBOnDisk(b *testing.B) {
	benchmarkOnDisk(b, benchConns, benchWindow, request(1, wire.OpSetData,
		wire.SetDataRequest{Path: "/", Data: make([]byte, 100<<10), Version: -1}))
}

func BenchmarkCreateSequentialEphemeralOnDisk(b *testing.B) {
	benchmarkOnDisk(b, benchConns, benchWindow, request(1, wire.OpCreate, open("/lock-", wire.FlagEphemeral|wire.FlagSequential)))
}

func BenchmarkCreateSequentialEphemeral(b *testing.B) {
	benchmark(b, benchConns, benchWindow, request(1, wire.OpCreate, open("/lock-", wire.FlagEphemeral|wire.FlagSequential)))
}
