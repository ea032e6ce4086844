package traffic

import (
	"encoding/binary"
	"strings"
	"time"
)

// A match says whether the first bytes of a connection are those of a protocol.
type match uint8

const (
	no    match = iota
	maybe       // they are, as far as they go
	yes
)

// signatures tell protocols by the first bytes that a client sends.
var signatures = []struct {
	cause Cause
	match func(first string) match
}{
	{HTTP2, func(first string) match { return begins(first, "PRI * HTTP/2.0\r\n") }},
	{TLS, matchTLS},
	{HTTP1, func(first string) match { return anyOf(first, methods) }},
	{Words, func(first string) match { return anyOf(first, words) }},
	{Sessions, matchConnect},
}

// methods are the methods of HTTP/1.1.
var methods = strings.SplitAfter("GET POST PUT HEAD DELETE OPTIONS PATCH CONNECT TRACE ", " ")[:9]

// words are the four-letter words of ZooKeeper.
var words = strings.Fields("conf cons crst dirs dump envi gtmk hash icfg isro lead mntr orst reqs ruok srst srvr stat " +
	"stmk telc wchc wchp wchs")

// begins compares as many bytes as there are.
func begins(first, with string) match {
	switch {
	case strings.HasPrefix(first, with):
		return yes
	case strings.HasPrefix(with, first):
		return maybe
	}
	return no
}

func anyOf(first string, all []string) (best match) {
	for _, with := range all {
		best = max(best, begins(first, with))
	}
	return best
}

// matchTLS matches a handshake record of any version of TLS.
func matchTLS(first string) match { return begins(first[:min(len(first), 2)], "\x16\x03") }

// matchConnect matches the packet that opens a session: its length, at least that of its fields, and the
// version of the protocol, which is 0.
func matchConnect(first string) match {
	const least, most, head = 28, 1 << 20, 8
	var b [head]byte
	n := copy(b[:], first)
	length, version := binary.BigEndian.Uint32(b[:]), binary.BigEndian.Uint32(b[4:])
	switch {
	case n < 4 && (b[0] != 0 || b[1] > most>>16):
		return no
	case n < 4:
		return maybe
	case length < least || length > most || version != 0:
		return no
	case n < head:
		return maybe
	}
	return yes
}

// recognise names the protocol of a connection by the first bytes that its client sends. It returns false
// if they are too few to tell.
func recognise(first []byte) (Cause, bool) {
	few := false
	for _, s := range signatures {
		switch s.match(string(first[:min(len(first), longestOpening)])) {
		case yes:
			return s.cause, true
		case maybe:
			few = true
		}
	}
	return Foreign, !few
}

// longestOpening is more than the length of what any signature looks at.
const longestOpening = 32

// JoinedCause returns why bytes in the middle of a connection cannot be decoded, by the first of them that
// a capture has: records of TLS and requests of HTTP/1.1 are known in the middle, too.
func JoinedCause(p []byte) Cause {
	const recordHead, contentTypes, mostRecord = 5, "\x14\x15\x16\x17", 1<<14 + 2048
	first := string(p[:min(len(p), longestOpening)])
	switch {
	case len(p) >= recordHead && strings.IndexByte(contentTypes, p[0]) >= 0 && p[1] == 3 && p[2] <= 4 &&
		binary.BigEndian.Uint16(p[3:]) <= mostRecord:
		return TLS
	case anyOf(first, methods) == yes || strings.HasPrefix(first, "HTTP/1."):
		return HTTP1
	}
	return Joined
}

// Open returns the decoder of a connection: of the protocol, if the connection begins with what the
// protocol speaks. All bytes of any other connection are a gap.
func (p Protocol) Open(t Tap, joined bool) Decoder {
	d := p.Decode(t, joined)
	if joined || len(p.Speaks) == 0 {
		return d
	}
	return &opening{Decoder: d, tap: t, speaks: p.Speaks}
}

// An opening is the Decoder of a connection whose protocol its first bytes tell. It passes all bytes on to
// the decoder of the protocol if they are of it.
type opening struct {
	Decoder
	tap    Tap
	speaks []Cause
	known  bool
	gap    Cause  // what the bytes are, if they are not of the protocol
	first  []byte // of the client, while it is not known what they are
}

func (o *opening) FromClient(at time.Time, p []byte) {
	if !o.known {
		o.first = append(o.first, p...)
		cause, known := recognise(o.first)
		if !known {
			return
		}
		p, o.first = o.first, nil
		o.decide(cause)
	}
	if o.gap != "" {
		o.tap.Gap(at, int64(len(p)), o.gap)
		return
	}
	o.Decoder.FromClient(at, p)
}

func (o *opening) decide(cause Cause) {
	o.known = true
	for _, own := range o.speaks {
		if cause == own {
			return
		}
	}
	o.gap = cause
}

func (o *opening) FromServer(at time.Time, p []byte) {
	if o.gap != "" {
		o.tap.Gap(at, int64(len(p)), o.gap)
		return
	}
	o.Decoder.FromServer(at, p)
}

// Lost passes on what the client has sent so far. It cannot be told any more what the connection begins with.
func (o *opening) Lost(at time.Time, fromClient bool, bytes int64, cause Cause) {
	if o.gap != "" {
		o.tap.Gap(at, bytes, cause)
		return
	}
	if fromClient && !o.known {
		o.known = true
		if len(o.first) > 0 {
			o.Decoder.FromClient(at, o.first)
			o.first = nil
		}
	}
	o.Decoder.Lost(at, fromClient, bytes, cause)
}

func (o *opening) End(at time.Time) {
	if n := len(o.first); n > 0 {
		o.tap.Gap(at, int64(n), Unfinished)
	}
	o.Decoder.End(at)
}
