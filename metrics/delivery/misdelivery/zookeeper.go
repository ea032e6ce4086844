package misdelivery

import (
	"bufio"
	"io"
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// ZooKeeper returns the address at which clients reach the server through the relay.
func (r *Relay) ZooKeeper(t testing.TB, server string) (address string) {
	t.Helper()
	l := r.listen(t, server)
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			if far, err := net.Dial("tcp", server); err == nil {
				go r.connect(client, far)
			} else {
				client.Close()
			}
		}
	}()
	return l.Addr().String()
}

// connect passes on what a connection carries until either side ends it.
func (r *Relay) connect(client, server net.Conn) {
	defer client.Close()
	in := bufio.NewReader(client)
	if first, _ := in.Peek(1); len(first) == 0 || first[0] != 0 { // a four-letter word
		go func() { _, _ = io.Copy(server, in) }()
		_, _ = io.Copy(client, server)
		server.Close()
		return
	}
	go func() {
		defer server.Close()
		_ = pass(in, func(packet []byte, first bool) error { return send(server, r.request(packet, first)) })
	}()
	line := r.line()
	_ = pass(server, func(packet []byte, first bool) error {
		var head wire.ReplyHeader
		d := wire.NewDecoder(packet)
		if head.Decode(&d); first || head.Xid != wire.XidNotification {
			return send(client, append([][]byte{packet}, packets(line.answered())...)...)
		}
		var e wire.WatcherEvent
		e.Decode(&d)
		return send(client, packets(line.notified(Notification{Path: e.Path, Event: wire.EventOf(e.Type), Pos: head.Zxid}))...)
	})
	server.Close()
}

// request returns the packet that a server gets in place of a client's.
func (r *Relay) request(packet []byte, first bool) []byte {
	var head wire.RequestHeader
	d := wire.NewDecoder(packet)
	head.Decode(&d)
	switch {
	case first || !r.forget:
	case head.Op == wire.OpSetWatches:
		return wire.SetWatchesRequest{RelativeZxid: d.Long()}.Append(head.Append(nil))
	case head.Op == wire.OpSetWatches2:
		return wire.SetWatches2Request{SetWatchesRequest: wire.SetWatchesRequest{RelativeZxid: d.Long()}}.Append(head.Append(nil))
	}
	return packet
}

// packets returns the packets of notifications.
func packets(all []Notification) (packets [][]byte) {
	for _, n := range all {
		head := wire.ReplyHeader{Xid: wire.XidNotification, Zxid: n.Pos}
		// The numbers of the events are those of the protocol.
		e := wire.WatcherEvent{Type: int32(n.Event), State: wire.StateConnected, Path: n.Path}
		packets = append(packets, e.Append(head.Append(nil)))
	}
	return packets
}

// pass calls f with each packet, and whether it is the first, which has no header.
func pass(from io.Reader, f func(packet []byte, first bool) error) error {
	frames := wire.NewFrames(from, wire.MaxPacket, wire.MaxPacket)
	for first := true; ; first = false {
		packet, err := frames.Next()
		if err == nil {
			err = f(packet, first)
		}
		if err != nil {
			return err
		}
	}
}

// send sends packets, each with its length before it.
func send(to io.Writer, packets ...[]byte) error {
	var all []byte
	for _, p := range packets {
		all = wire.AppendBytes(all, p)
	}
	_, err := to.Write(all)
	return err
}
