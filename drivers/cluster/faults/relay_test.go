package faults_test

import (
	"io"
	"net"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/stampede-bench/stampede/drivers/cluster/faults"
	"github.com/stampede-bench/stampede/drivers/wire"
)

// reply returns a packet with a header and a body.
func reply(xid int32, body string) []byte {
	p := append(wire.ReplyHeader{Xid: xid, Zxid: 7}.Append(wire.Begin(nil)), body...)
	wire.End(p, 0)
	return p
}

// A source is a connection from which all bytes come one by one.
type source struct {
	net.Conn
	io.Reader
}

func (s source) Read(p []byte) (int, error) { return s.Reader.Read(p) }

// TestRelay checks that notifications are lost or come twice, that all else passes as it came, and that a later setting
// applies to an existing connection.
func TestRelay(t *testing.T) {
	short := []byte{0, 0, 0, 2, 1, 2} // has no header
	first, told, last := reply(1, "a"), reply(wire.XidNotification, "told"), reply(2, "b")
	for name, c := range map[string]struct {
		verbs []faults.Verb
		want  [][]byte
	}{
		"each once":    {nil, [][]byte{first, short, told, last}},
		"lost":         {[]faults.Verb{faults.Drop}, [][]byte{first, short, last}},
		"twice":        {[]faults.Verb{faults.Double}, [][]byte{first, short, told, told, last}},
		"restored":     {[]faults.Verb{faults.Drop, faults.Restore}, [][]byte{first, short, told, last}},
		"the last one": {[]faults.Verb{faults.Double, faults.Drop}, [][]byte{first, short, last}},
	} {
		from, to := io.Pipe()
		var r faults.Relay
		relayed := r.Wrap(source{Reader: iotest.OneByteReader(from)})
		for _, v := range c.verbs {
			r.Do(v)
		}
		go func() {
			for _, p := range [][]byte{first, short, told, last} {
				to.Write(p)
			}
			to.Close()
		}()
		got, err := io.ReadAll(relayed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var want []byte
		for _, p := range c.want {
			want = append(want, p...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
