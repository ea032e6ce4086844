package etcd

import (
	"regexp"
	"sync/atomic"

	"github.com/stampede-bench/stampede/drivers/traffic"
)

// Protocol is etcd's protocol: the gateway that takes JSON by HTTP/1.1, and gRPC by HTTP/2. Clients that
// speak both are those of the gateway, which is decoded over HTTP/1.1 only. All connections together keep at
// most maxUnfinished bytes of what is not complete: a connection that would keep more is given up.
func Protocol() traffic.Protocol { return protocol(new(budget)) }

func protocol(shared *budget) traffic.Protocol {
	return traffic.Protocol{
		Name:      "etcd",
		ByProcess: true,
		Speaks:    []traffic.Cause{traffic.HTTP1, traffic.HTTP2},
		Decode: func(t traffic.Tap, begins traffic.Cause) traffic.Decoder {
			switch begins {
			case traffic.HTTP2:
				return newDecoder(t, shared)
			case traffic.HTTP1:
				return newGateway(t, shared, "")
			}
			return newGateway(t, shared, begins) // HTTP/2 cannot be decoded from the middle
		},
		Whole: func(fromClient bool, p []byte) bool {
			return fromClient && beginsRequest(p) || !fromClient && beginsReply(p)
		},
	}
}

var (
	requestLine = regexp.MustCompile(`^[A-Z]+ [!-~]+ HTTP/1\.[01]\r?\n`)
	statusLine  = regexp.MustCompile(`^HTTP/1\.[01] [0-9]{3}[ \r\n]`)
)

// beginsRequest reports whether a piece begins with a whole request line of HTTP/1.1.
func beginsRequest(p []byte) bool { return requestLine.Match(p) }

// beginsReply reports whether a piece begins with the status of a reply of HTTP/1.1.
func beginsReply(p []byte) bool { return statusLine.Match(p) }

// A budget counts the bytes that the decoders of all connections keep: of frames, headers and messages that
// are not complete, and of the keys of calls that have no answer.
type budget struct {
	atomic.Int64
	relayed relayed
}

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
