package server_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// A side is one of the two compared servers, with its sessions and the packets that they received,
// described in words that are the same for equal behaviour.
type side struct {
	t       testing.TB
	address string
	links   []*link
	base    int64            // the zxid before the first session
	owners  map[int64]string // names of its sessions, by ID
	zxid    int64            // the zxid of the last reply, relative to base
	told    bool             // notifications carry the zxid of their change
	seen    map[int32]map[wire.Err]int
	events  int
}

func newSide(t testing.TB, address string, sessions int) *side {
	s := &side{t: t, address: address, links: make([]*link, sessions), owners: map[int64]string{},
		seen: map[int32]map[wire.Err]int{}}
	for i := range s.links {
		s.open(i)
	}
	// The reply to the first session's first request has the zxid of the last session's creation.
	s.links[0].send(wire.RequestHeader{Xid: 1, Op: wire.OpPing}.Append(nil))
	p, _ := s.links[0].read()
	s.base, s.zxid = p.Zxid, 0
	return s
}

// open opens a new session for slot i.
func (s *side) open(i int) {
	s.t.Helper()
	s.links[i] = connect(s.t, s.address, wire.ConnectRequest{Timeout: sessionTimeout, ReadOnly: wire.ReadOnly{Present: true}})
	s.owners[s.links[i].session.SessionID] = fmt.Sprintf("session %d", len(s.owners))
}

// converse pipelines requests of session i. It returns the packets that arrive until the last
// request is answered or the connection ends.
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

// flush returns the notifications that every session has received so far.
func (s *side) flush() (lines []string) {
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

// wantEnd checks that the connection ends.
func (s *side) wantEnd(l *link) string {
	if p, ended := l.read(); !ended {
		return "after the end " + s.describe(p, nil)
	}
	return "the end"
}

// describe returns a packet's description.
func (s *side) describe(p packet, requests []request) string {
	if p.Xid == wire.XidNotification {
		return s.event(p)
	}
	if p.Zxid > 0 { // replies to auth have 0, replies to unknown requests −1
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

// event describes the parts of a notification that must be equal on both sides. Its zxid is −1
// before ZooKeeper 3.9, and for past changes after a reconnect.
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
		if *zxid != 0 { // 0 is the zxid of the built-in nodes
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

// names describes names in sorted order.
func names(list []string) string {
	slices.Sort(list)
	return fmt.Sprintf(" %q", list)
}

// sortedLines sorts lines whose order is not defined.
func sortedLines(lines []string) []string { return slices.Sorted(slices.Values(lines)) }

// paths are the paths in the lines' replies.
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
