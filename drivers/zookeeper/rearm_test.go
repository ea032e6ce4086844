package zookeeper

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

func packet(op int32) []byte {
	b := wire.RequestHeader{Xid: op, Op: op}.Append(wire.Begin(nil))
	wire.End(b, 0)
	return b
}

// Setting the watches comes right after what opens the session.
func TestRearmingGoesFirst(t *testing.T) {
	client, server := net.Pipe()
	r := newRearming(wire.NewTap(client, probeFunc(ignore), nil))
	sent := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(server)
		sent <- all
	}()
	open, get, auth := packet(wire.OpSetWatches), packet(wire.OpGetData), packet(wire.OpAuth)
	set, again, later := packet(wire.OpSetWatches), packet(wire.OpSetWatches), packet(wire.OpSync)
	for _, p := range [][]byte{open, get, auth, get, set, again, later} {
		before := bytes.Clone(p)
		if n, err := r.Write(p); n != len(p) || err != nil || !bytes.Equal(p, before) {
			t.Fatalf("wrote %d of %d, %v", n, len(p), err)
		}
	}
	client.Close()
	if got, want := <-sent, bytes.Join([][]byte{open, auth, set, get, get, again, later}, nil); !bytes.Equal(got, want) {
		t.Errorf("sent %x, want %x", got, want)
	}
}
