package native_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A side is one of the servers that are compared: its sessions, and what they
// were told, in words that say the same of both sides.
type side struct {
	t       testing.TB
	address string
	links   []*link
	base    int64            // the zxid before the first session
	owners  map[int64]string // what the ids of its sessions are called
	zxid    int64            // the last that a reply had, counted from base
	told    bool             // notifications have the zxid of their change
	seen    map[int32]map[wire.Err]int
	events  int
}

func newSide(t testing.TB, address string, sessions int) *side {
	s := &side{t: t, address: address, links: make([]*link, sessions), owners: map[int64]string{},
		seen: map[int32]map[wire.Err]int{}}
	for i := range s.links {
		s.open(i)
	}
	// The first session's first request is answered with the zxid of the last opening.
	s.links[0].send(wire.RequestHeader{Xid: 1, Op: wire.OpPing}.Append(nil))
	p, _ := s.links[0].read()
	s.base, s.zxid = p.Zxid, 0
	return s
}

// open gives slot i a new session.
func (s *side) open(i int) {
	s.t.Helper()
	s.links[i] = connect(s.t, s.address, wire.ConnectRequest{Timeout: sessionTimeout, ReadOnly: wire.ReadOnly{Present: true}})
	s.owners[s.links[i].session.SessionID] = fmt.Sprintf("session %d", len(s.owners))
}

// converse sends requests of session i in one go and returns what it is told
// until the last is answered or the connection ends.
func (s *side) converse(i int, requests []request) (lines []string) {
	s.t.Helper()
	var b []byte
	for xid, r := range requests {
		start := len(b)
		b = wire.RequestHeader{Xid: int32(xid), Op: r.op}.Append(wire.Begin(b))
		if r.body != nil {
			b = r.body.Append(b)
		}
		wire.End(b, start)
	}
	if _, err := s.links[i].net.Write(b); err != nil {
		s.t.Fatal(err)
	}
	for answered := 0; answered < len(requests); {
		p, ended := s.links[i].read()
		if ended {
			return append(lines, "the end")
		}
		lines = append(lines, s.describe(p, requests))
		if p.Xid != wire.XidNotification {
			answered++
		}
	}
	return lines
}

// fence returns what every session was told until now.
func (s *side) fence() (lines []string) {
	s.t.Helper()
	for _, l := range s.links {
		l.send(wire.RequestHeader{Xid: wire.XidPing, Op: wire.OpPing}.Append(nil))
	}
	for i, l := range s.links {
		for {
			p, ended := l.read()
			if ended {
				s.t.Fatalf("session %d was cut off", i)
			}
			if p.Xid == wire.XidPing {
				break
			}
			lines = append(lines, fmt.Sprintf("%d: %s", i, s.describe(p, nil)))
		}
	}
	return lines
}

// wantEnd reads the end of a connection.
func (s *side) wantEnd(l *link) string {
	if p, ended := l.read(); !ended {
		return "after the end " + s.describe(p, nil)
	}
	return "the end"
}

// describe puts a packet in words.
func (s *side) describe(p packet, requests []request) string {
	if p.Xid == wire.XidNotification {
		return s.event(p)
	}
	if p.Zxid > 0 { // replies to auth have 0, and to unknown requests −1
		p.Zxid -= s.base
		s.zxid = p.Zxid
	}
	op := wire.OpPing
	if p.Xid >= 0 && int(p.Xid) < len(requests) {
		op = requests[p.Xid].op
	}
	if s.seen[op] == nil {
		s.seen[op] = map[wire.Err]int{}
	}
	s.seen[op][p.Err]++
	text := fmt.Sprintf("reply %d zxid %d error %d", p.Xid, p.Zxid, p.Err)
	if p.Err == wire.OK {
		text += s.body(op, &p.body)
	}
	if n := len(p.body.Rest()); n > 0 || p.body.Err() != nil {
		text += fmt.Sprintf(" and %d bytes, %v", n, p.body.Err())
	}
	return text
}

// event says of a notification what both sides must agree in. Its zxid is −1
// before ZooKeeper 3.9, and where it catches up on the past.
func (s *side) event(p packet) string {
	var e wire.WatcherEvent
	e.Decode(&p.body)
	s.events++
	if s.told = s.told || p.Zxid != -1; s.told && p.Zxid != -1 {
		return fmt.Sprintf("event %d %s, state %d, of zxid %d", e.Type, e.Path, e.State, p.Zxid-s.base)
	}
	return fmt.Sprintf("event %d %s, state %d", e.Type, e.Path, e.State)
}

func (s *side) stat(d *wire.Decoder) string {
	var st wire.Stat
	st.Decode(d)
	for _, zxid := range []*int64{&st.Czxid, &st.Mzxid, &st.Pzxid} {
		if *zxid != 0 { // those of the nodes that are always there
			*zxid -= s.base
		}
	}
	owner := s.owners[st.EphemeralOwner]
	if owner == "" {
		owner = fmt.Sprintf("%x", uint64(st.EphemeralOwner))
	}
	st.EphemeralOwner, st.Ctime, st.Mtime = 0, 0, 0
	return fmt.Sprintf(" %+v of %s", st, owner)
}

// names are the same in any order.
func names(list []string) string {
	slices.Sort(list)
	return fmt.Sprintf(" %q", list)
}

// sortedLines are lines whose order nobody can rely on.
func sortedLines(lines []string) []string { return slices.Sorted(slices.Values(lines)) }

// paths are those that any reply of the lines has named.
func paths(lines []string) []string {
	found := map[string]bool{}
	for _, line := range lines {
		for field := range strings.FieldsSeq(line) {
			if path := strings.Trim(field, `"[],`); strings.HasPrefix(path, "/") {
				found[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
