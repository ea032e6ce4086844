package traffic

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// A missedTap adds up what is not decoded of one connection.
type missedTap struct {
	Coverage
	messages int
}

func (m *missedTap) Session(time.Time, Session)         {}
func (m *missedTap) Message(time.Time, drivers.Message) { m.messages++ }
func (m *missedTap) Members(_ time.Time, all []string)  { m.Add(Undecoded{Cause: Bypass, Names: all}) }
func (*missedTap) Lease(time.Time, int64)               {}
func (*missedTap) Owner(Process)                        {}
func (m *missedTap) Close(time.Time)                    {}

func (m *missedTap) Gap(_ time.Time, bytes int64, cause Cause) {
	m.Add(Undecoded{Cause: cause, Bytes: bytes})
}

func packet(payload []byte) string {
	return string(append(wire.AppendInt(nil, int32(len(payload))), payload...))
}

var connect = packet(wire.ConnectRequest{Timeout: 9000, Password: make([]byte, 16)}.Append(nil))

// TestFirstBytesTellTheProtocol gives what a client says first, in pieces of each size. What is not of the
// protocol is a gap of all bytes of both directions, and named.
func TestFirstBytesTellTheProtocol(t *testing.T) {
	hello := "\x16\x03\x01\x00\x05hello"
	for first, want := range map[string]Cause{
		connect: "", hello: TLS, "GET / HTTP/1.1\r\n\r\n": HTTP1, "POST /v3/kv/put HTTP/1.1\r\n\r\n": HTTP1,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n": HTTP2, "ruok": Words, "mntr\n": Words,
		"SSH-2.0-OpenSSH_9.2\r\n":          Foreign,
		"\x00\x00\x00\x2d\x00\x00\x00\x01": Foreign, "\x00\x00": Unfinished, "ru": Unfinished, "": "",
	} {
		for size := 1; size <= max(len(first), 1); size++ {
			var m missedTap
			d := ZooKeeper().Open(&m, false)
			inPieces([]byte(first), size, func(p []byte) { d.FromClient(time.Time{}, p) })
			answer := int64(0)
			if want != Unfinished && want != "" {
				answer = 7
				d.FromServer(time.Time{}, []byte("answer\n"))
			}
			d.End(time.Time{})
			got := m.List()
			expected := []Undecoded{{Cause: want, Bytes: int64(len(first)) + answer, Names: []string{}}}
			if want == "" {
				expected = []Undecoded{}
			}
			if !cmp.Equal(got, expected) {
				t.Errorf("%q in pieces of %d: %+v, want %q", first, size, got, want)
			}
			if first == connect && m.messages != 1 {
				t.Errorf("in pieces of %d bytes, %d messages, want the request that opens the session", size, m.messages)
			}
		}
	}
	for _, c := range Causes() {
		if c.Description() == string(c) || strings.ContainsAny(c.Description(), "\n") {
			t.Errorf("%s is described as %q", c, c.Description())
		}
	}
}

// TestBytesThatBreakTheProtocol breaks each direction in the middle of a connection.
func TestBytesThatBreakTheProtocol(t *testing.T) {
	broken := "\xff\xff\xff\xff and more"
	for _, fromClient := range []bool{true, false} {
		var m missedTap
		d := ZooKeeper().Open(&m, false)
		d.FromClient(time.Time{}, []byte(connect))
		say := d.FromServer
		if fromClient {
			say = d.FromClient
		}
		say(time.Time{}, []byte(broken))
		say(time.Time{}, []byte("further"))
		d.End(time.Time{})
		want := int64(len(broken) + len("further"))
		if got := m.List(); len(got) != 1 || got[0].Cause != Malformed || got[0].Bytes != want {
			t.Errorf("from the client %v: %+v, want %d malformed bytes", fromClient, got, want)
		}
	}
}

// TestConfigurationNamesTheServers reads the configuration of an ensemble, and other nodes.
func TestConfigurationNamesTheServers(t *testing.T) {
	const config = "server.1=zk1:2888:3888:participant;0.0.0.0:2181\nserver.2=zk2:2888:3888:observer;2182\n" +
		"server.3=[fd00::3]:2888:3888|[fd00::4]:2888:3888;[::]:2183\nserver.4=zk4:2888:3888;outside:2184\n" +
		"server.5=zk5:2888:3888\nversion=100000000"
	for path, want := range map[string]string{
		wire.ConfigPath: "zk1:2181 zk2:2182 [fd00::3]:2183 outside:2184", "/other": "",
	} {
		var m missedTap
		d := ZooKeeper().Open(&m, false)
		d.FromClient(time.Time{}, []byte(connect))
		opened := wire.ConnectResponse{SessionID: 7, Password: make([]byte, 16)}
		d.FromServer(time.Time{}, []byte(packet(opened.Append(nil))))
		get := wire.PathWatch{Path: path}.Append(wire.RequestHeader{Xid: 1, Op: wire.OpGetData}.Append(nil))
		d.FromClient(time.Time{}, []byte(packet(get)))
		got := wire.DataStat{Data: []byte(config)}.Append(wire.ReplyHeader{Xid: 1}.Append(nil))
		d.FromServer(time.Time{}, []byte(packet(got)))
		learned := ""
		for _, u := range m.List() {
			learned += strings.Join(u.Names, " ")
		}
		if learned != want || m.messages != 4 {
			t.Errorf("%s: the client learned %q of %d messages, want %q", path, learned, m.messages, want)
		}
	}
}
