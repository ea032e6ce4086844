package etcd

import (
	"hash/maphash"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Captured returns etcd's protocol as packets on the server's host have it. There the gateway asks the server by a
// connection of its own, and each request of the gateway's clients is seen twice. The connection is told by what it
// carries: each of its calls begins with the same content as one that a client of the gateway waits for. Only the
// clients' requests are reported.
func Captured() traffic.Protocol { return protocol(&budget{relayed: relayed{}}) }

// relayed counts the calls of the gateway's clients that have no answer and were not seen a second time, by what they
// begin with. It is nil where the gateway's connection cannot be seen.
type relayed map[uint64]int

// contentOf returns what is equal for two calls that begin with the same message, 0 if that is not decoded.
func contentOf(method string, t text) uint64 {
	var q proto.Message
	switch k, unary := kinds[method]; {
	case unary:
		q = k.request()
	case method == watchMethod:
		q = new(pb.WatchRequest)
	case method == keepAliveMethod:
		q = new(pb.LeaseKeepAliveRequest)
	default:
		return 0
	}
	if t.parse(q) != "" {
		return 0
	}
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(q)
	if err != nil {
		return 0
	}
	return max(1, maphash.String(seed, method+"\n"+string(content)))
}

// expect remembers a call of a client of the gateway until it is seen a second time, or forgotten.
func (r relayed) expect(e *exchange, t text) {
	if r == nil || e.content != 0 {
		return
	}
	if e.content = contentOf(e.method, t); e.content != 0 {
		r[e.content]++
	}
}

// take reports whether a call with the content is expected, which is then seen.
func (r relayed) take(content uint64) bool {
	if r[content] == 0 {
		return false
	}
	if r[content]--; r[content] == 0 {
		delete(r, content)
	}
	return true
}

// ask reports a message of the client, unless the call is the gateway's own.
func (d *decoder) ask(e *exchange, t text) traffic.Cause {
	if r := d.budget.relayed; r != nil && !e.begun {
		e.begun = true
		e.own = !d.client && r.take(contentOf(e.method, t))
		d.client = d.client || !e.own
	}
	if e.own {
		return ""
	}
	return d.request(e, t)
}

// hear reports a message of the server, unless the call is the gateway's own.
func (d *decoder) hear(e *exchange, t text) traffic.Cause {
	if e.own {
		return ""
	}
	return d.reply(e, t)
}
