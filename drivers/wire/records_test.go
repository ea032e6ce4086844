package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"reflect"
	"testing"
)

type record interface{ Decode(*Decoder) }

type appender interface{ Append([]byte) []byte }

// encode encodes the record that the pointer r points at.
func encode(r record) []byte { return reflect.ValueOf(r).Elem().Interface().(appender).Append(nil) }

// blank returns an empty record of r's type.
func blank(r record) record { return reflect.New(reflect.TypeOf(r).Elem()).Interface().(record) }

func someStat() Stat {
	return Stat{Czxid: 1, Mzxid: 2, Ctime: 3, Mtime: 4, Version: 5, Cversion: 6, Aversion: 7,
		EphemeralOwner: 8, DataLength: 9, NumChildren: 10, Pzxid: 11}
}

// samples returns one of every record, with every field set.
func samples() []record {
	stat, acl := someStat(), []ACL{OpenACL(), {Perms: 1, Scheme: "ip", ID: "127.0.0.1"}}
	password := bytes.Repeat([]byte{7}, PasswordSize)
	return []record{
		&ConnectRequest{Protocol: 0, LastZxid: 1 << 40, Timeout: 10000, SessionID: -5, Password: password},
		&ConnectRequest{Password: password, ReadOnly: ReadOnly{Present: true, Value: true}},
		&ConnectResponse{Protocol: 0, Timeout: 4000, SessionID: 1 << 60, Password: password},
		&ConnectResponse{Password: password, ReadOnly: ReadOnly{Present: true}},
		&CreateRequest{Path: "/a", Data: []byte("x"), ACL: acl, Flags: FlagEphemeral | FlagSequential},
		&CreateTTLRequest{CreateRequest{Path: "/a", Data: []byte("x"), ACL: acl, Flags: FlagTTL}, 1 << 35},
		&SetDataRequest{Path: "/a", Data: []byte{}, Version: -1},
		&SetACLRequest{Path: "/a", ACL: acl, Version: 3},
		&Path{Path: "/a"},
		&PathWatch{Path: "/a", Watch: true},
		&PathVersion{Path: "/a", Version: 9},
		&SetWatchesRequest{RelativeZxid: 7, Data: []string{"/a", "/b"}, Exist: []string{"/c"}, Child: []string{"/"}},
		&SetWatches2Request{SetWatchesRequest{7, []string{"/a"}, []string{"/b"}, []string{"/c"}}, []string{"/d"}, []string{"/e", "/"}},
		&AddWatchRequest{Path: "/a", Mode: AddWatchRecursive},
		&PathWatcher{Path: "/a", Type: WatcherAny},
		&AuthRequest{Type: 0, Scheme: "digest", Auth: []byte("u:p")},
		&MultiHeader{Type: OpCheck, Done: true, Err: ErrBadVersion},
		&DataStat{Data: []byte("hello"), Stat: stat},
		&PathStat{Path: "/a0000000001", Stat: stat},
		&Children{Names: []string{"a", "b"}},
		&ChildrenStat{Names: []string{"a"}, Stat: stat},
		&ReconfigRequest{Joining: "server.1=a", Leaving: "2", Members: "", ConfigID: -1},
		&Int{Value: 7},
		&WhoAmI{Clients: []ClientInfo{{"ip", "127.0.0.1"}, {"digest", "u"}}},
		&RequestHeader{Xid: 9, Op: OpMulti},
		&ReplyHeader{Xid: -1, Zxid: 1 << 33, Err: ErrNoNode},
		&ACLStat{ACL: acl, Stat: stat},
		&WatcherEvent{Type: EventDeleted, State: StateConnected, Path: "/a"},
		&stat,
	}
}

func TestRecordsRoundTrip(t *testing.T) {
	for _, want := range samples() {
		payload := encode(want)
		got, d := blank(want), NewDecoder(payload)
		got.Decode(&d)
		if err := d.Err(); err != nil || len(d.Rest()) != 0 {
			t.Errorf("%T: %v, %d bytes left over", want, err, len(d.Rest()))
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// Every proper prefix of a record is malformed, except of the connect records, whose last byte
// may be missing.
func TestTruncatedRecords(t *testing.T) {
	for _, r := range samples() {
		payload := encode(r)
		for n := range payload {
			d := NewDecoder(payload[:n])
			blank(r).Decode(&d)
			if d.Err() == nil && !oldClient(r, n, len(payload)) {
				t.Errorf("%T cut to %d of %d bytes was accepted", r, n, len(payload))
			}
		}
	}
}

func oldClient(r record, n, full int) bool {
	switch r := r.(type) {
	case *ConnectRequest:
		return r.ReadOnly.Present && n == full-1
	case *ConnectResponse:
		return r.ReadOnly.Present && n == full-1
	}
	return false
}

// Records are encoded to the bytes of the protocol, not only to bytes that Decode accepts.
func TestRecordBytes(t *testing.T) {
	for _, c := range []struct {
		r    record
		want string
	}{
		{&PathWatch{"/a", true}, "00000002" + "2f61" + "01"},
		{&CreateRequest{Path: "/a", ACL: []ACL{OpenACL()}, Flags: 3},
			"00000002" + "2f61" + "ffffffff" +
				"00000001" + "0000001f" + "00000005" + "776f726c64" + "00000006" + "616e796f6e65" + "00000003"},
		{&MultiHeader{Type: -1, Done: true, Err: -1}, "ffffffff" + "01" + "ffffffff"},
		{&WatcherEvent{3, 3, "/"}, "00000003" + "00000003" + "00000001" + "2f"},
	} {
		if got := hex.EncodeToString(encode(c.r)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.r, got, c.want)
		}
	}
	if n := len(someStat().Append(nil)); n != 68 {
		t.Errorf("a Stat takes %d bytes, want 68", n)
	}
}

func TestPacketLength(t *testing.T) {
	b := []byte("before")
	start := len(b)
	b = append(Begin(b), "payload"...)
	End(b, start)
	if want := "before\x00\x00\x00\x07payload"; string(b) != want {
		t.Errorf("%q, want %q", b, want)
	}
}

func TestCommonACLIsDecodedWithoutAllocating(t *testing.T) {
	payload := CreateRequest{Path: "", ACL: []ACL{OpenACL()}}.Append(nil)
	r := CreateRequest{ACL: make([]ACL, 0, 1)}
	if n := testing.AllocsPerRun(100, func() {
		d := NewDecoder(payload)
		r.Decode(&d)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// A decoder neither panics on lengths that a record claims, nor returns more than has arrived.
func TestLyingLengths(t *testing.T) {
	for _, r := range samples() {
		payload := encode(r)
		for i := range len(payload) - 3 {
			for _, lie := range []uint32{1 << 31, 1<<31 - 1, 1<<32 - 2, 1 << 20, uint32(len(payload))} {
				lying := binary.BigEndian.AppendUint32(bytes.Clone(payload[:i]), lie)
				d := NewDecoder(append(lying, payload[i+4:]...))
				got := blank(r)
				got.Decode(&d)
				if n := len(encode(got)); n > 2*len(payload) || d.Err() == nil && n > len(payload) {
					t.Errorf("%T of %d bytes, with %x at %d, became %d bytes", r, len(payload), lie, i, n)
				}
			}
		}
	}
}
