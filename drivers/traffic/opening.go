package traffic

import (
	"encoding/binary"
	"slices"
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

// Recognise names the protocol of a connection by the first bytes that its client sends. It returns false
// if they are too few to tell.
func Recognise(first []byte) (Cause, bool) {
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

// longestOpening is more than the length of what any signature looks at, and longestEarly is more than what
// servers send before the client's first bytes: the settings of HTTP/2.
const (
	longestOpening = 32
	longestEarly   = 512
)

// ApplicationProtocols returns the names of those protocols that TLS negotiates by their names (ALPN).
func ApplicationProtocols(spoken ...Cause) (names []string) {
	registered := map[Cause]string{HTTP1: "http/1.1", HTTP2: "h2"}
	for _, c := range spoken {
		if name := registered[c]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// JoinedCause returns why bytes in the middle of a connection cannot be decoded, by the first of them that
// a capture has: records of TLS, and requests of HTTP/1.1 if the protocol is another one, are known in the
// middle, too.
func (p Protocol) JoinedCause(piece []byte) Cause {
	const recordHead, contentTypes, mostRecord = 5, "\x14\x15\x16\x17", 1<<14 + 2048
	first := string(piece[:min(len(piece), longestOpening)])
	switch {
	case len(piece) >= recordHead && strings.IndexByte(contentTypes, piece[0]) >= 0 && piece[1] == 3 &&
		piece[2] <= 4 && binary.BigEndian.Uint16(piece[3:]) <= mostRecord:
		return TLS
	case slices.Contains(p.Speaks, HTTP1):
	case anyOf(first, methods) == yes || strings.HasPrefix(first, "HTTP/1."):
		return HTTP1
	}
	return Joined
}

// Open returns the decoder of a connection: that of what the connection begins with, if it is what the
// protocol speaks. All bytes of any other connection are a gap.
func (p Protocol) Open(t Tap, joined bool) Decoder {
	switch {
	case joined:
		return p.Decode(t, Joined)
	case len(p.Speaks) == 0:
		return p.Decode(t, "")
	}
	return &opening{tap: t, protocol: p}
}

// An opening is the Decoder of a connection whose first bytes tell the decoder of all of them.
type opening struct {
	Decoder        // nil until it is chosen
	tap            Tap
	protocol       Protocol
	client, server []byte // what has come before
}

func (o *opening) FromClient(at time.Time, p []byte) {
	if o.Decoder != nil {
		o.Decoder.FromClient(at, p)
		return
	}
	o.client = append(o.client, p...)
	switch cause, known := Recognise(o.client); {
	case !known:
	case slices.Contains(o.protocol.Speaks, cause):
		o.choose(at, o.protocol.Decode(o.tap, cause))
	default:
		o.choose(at, undecoded{o.tap, cause})
	}
}

func (o *opening) FromServer(at time.Time, p []byte) {
	if o.Decoder != nil {
		o.Decoder.FromServer(at, p)
		return
	}
	o.server = append(o.server, p...)
	if len(o.server) > longestEarly {
		o.choose(at, undecoded{o.tap, Foreign})
	}
}

// choose passes on what has come.
func (o *opening) choose(at time.Time, d Decoder) {
	client, server := o.client, o.server
	o.Decoder, o.client, o.server = d, nil, nil
	if len(server) > 0 {
		d.FromServer(at, server)
	}
	if len(client) > 0 {
		d.FromClient(at, client)
	}
}

// Lost chooses the decoder if that is open. It cannot be told any more what the connection begins with.
func (o *opening) Lost(at time.Time, fromClient bool, bytes int64, cause Cause) {
	if o.Decoder == nil {
		begins := cause
		if len(o.protocol.Speaks) == 1 {
			begins = o.protocol.Speaks[0]
		}
		o.choose(at, o.protocol.Decode(o.tap, begins))
	}
	o.Decoder.Lost(at, fromClient, bytes, cause)
}

func (o *opening) End(at time.Time) {
	if o.Decoder != nil {
		o.Decoder.End(at)
		return
	}
	if n := len(o.client) + len(o.server); n > 0 {
		o.tap.Gap(at, int64(n), Unfinished)
	}
	o.tap.Close(at)
}

// undecoded is the Decoder of a connection of which nothing is decoded.
type undecoded struct {
	tap   Tap
	cause Cause
}

func (u undecoded) FromClient(at time.Time, p []byte) { u.tap.Gap(at, int64(len(p)), u.cause) }
func (u undecoded) FromServer(at time.Time, p []byte) { u.tap.Gap(at, int64(len(p)), u.cause) }
func (u undecoded) End(at time.Time)                  { u.tap.Close(at) }

func (u undecoded) Lost(at time.Time, _ bool, bytes int64, cause Cause) { u.tap.Gap(at, bytes, cause) }
