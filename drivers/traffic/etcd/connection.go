package etcd

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Protocol is etcd's protocol: gRPC, and the gateway that takes JSON. All connections together keep at most
// maxUnfinished bytes of what is not complete: a connection that would keep more is given up.
func Protocol() traffic.Protocol {
	shared := new(budget)
	return traffic.Protocol{
		Name: "etcd",
		Decode: func(t traffic.Tap, joined bool) traffic.Decoder {
			if joined {
				return newGateway(t, shared, true)
			}
			return &connection{tap: t, share: share{budget: shared}}
		},
		Whole: func(fromClient bool, p []byte) bool {
			return fromClient && beginsRequest(p) || !fromClient && beginsReply(p)
		},
	}
}

// A connection chooses the decoder by the first bytes that the client sends.
type connection struct {
	traffic.Decoder // nil until it is chosen
	tap             traffic.Tap
	share
	client, server []byte // what has come before
}

// maxEarly is how many bytes of a server are kept that come before the client's first ones: settings of
// HTTP/2.
const maxEarly = 4 << 10

func (c *connection) FromClient(at time.Time, p []byte) {
	if c.Decoder != nil {
		c.Decoder.FromClient(at, p)
		return
	}
	c.client = append(c.client, p...)
	method := func(m string) bool { return bytes.HasPrefix(c.client, []byte(m+" ")) }
	begun := func(m string) bool { return strings.HasPrefix(m+" ", string(c.client)) }
	switch {
	case bytes.HasPrefix(c.client, []byte(preface)):
		c.choose(at, newDecoder(c.tap, c.budget))
	case slices.ContainsFunc(methods, method):
		c.choose(at, newGateway(c.tap, c.budget, false))
	case !slices.ContainsFunc(methods, begun) && !strings.HasPrefix(preface, string(c.client)):
		c.chooseNone(at)
	}
}

func (c *connection) FromServer(at time.Time, p []byte) {
	if c.Decoder == nil {
		c.server = append(c.server, p...)
		if !c.set(len(c.server)) || len(c.server) > maxEarly {
			c.chooseNone(at)
		}
		return
	}
	c.Decoder.FromServer(at, p)
}

func (c *connection) Lost(at time.Time, fromClient bool, bytes int64) {
	if c.Decoder == nil {
		c.choose(at, newGateway(c.tap, c.budget, true))
	}
	c.Decoder.Lost(at, fromClient, bytes)
}

func (c *connection) End(at time.Time) {
	c.set(0)
	if c.Decoder == nil {
		c.tap.Close(at)
		return
	}
	c.Decoder.End(at)
}

// chooseNone decodes nothing: the connection is of another protocol.
func (c *connection) chooseNone(at time.Time) {
	d := newGateway(c.tap, c.budget, true)
	d.undecodable = true
	c.choose(at, d)
}

// choose passes what has come to the decoder. Bytes that a server sends before a whole request answer none.
func (c *connection) choose(at time.Time, d traffic.Decoder) {
	client, server := c.client, c.server
	c.Decoder, c.client, c.server = d, nil, nil
	c.set(0)
	if len(server) > 0 {
		d.FromServer(at, server)
	}
	if len(client) > 0 {
		d.FromClient(at, client)
	}
}

// methods are the methods of HTTP/1.1.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}

var (
	requestLine = regexp.MustCompile(`^(` + strings.Join(methods, "|") + `) [!-~]+ HTTP/1\.[01]\r?\n`)
	statusLine  = regexp.MustCompile(`^HTTP/1\.[01] [0-9]{3}[ \r\n]`)
)

// beginsRequest reports whether a piece begins with a whole request line of HTTP/1.1.
func beginsRequest(p []byte) bool { return requestLine.Match(p) }

// beginsReply reports whether a piece begins with the status of a reply of HTTP/1.1.
func beginsReply(p []byte) bool { return statusLine.Match(p) }

// A budget counts the bytes that the decoders of all connections keep: of frames, headers and messages that
// are not complete, and of the keys of calls that have no answer.
type budget struct{ atomic.Int64 }

// maxUnfinished is far more than honest connections keep, whose messages are complete after some packets.
const maxUnfinished = 256 << 20

// A share is what one connection takes of the budget.
type share struct {
	budget *budget
	taken  int64
}

// set takes n bytes in place of what was taken before, and reports whether that is within the budget.
func (s *share) set(n int) bool {
	left := maxUnfinished - s.budget.Add(int64(n)-s.taken)
	s.taken = int64(n)
	return left >= 0
}
