package server_test

import (
	"fmt"
	"slices"

	"github.com/stampede-bench/stampede/drivers/wire"
)

// dated converts relative zxids to the side's absolute ones.
func (s *side) dated(requests []request) []request {
	requests = slices.Clone(requests)
	for i, r := range requests {
		switch b := r.body.(type) {
		case wire.SetWatchesRequest:
			b.RelativeZxid += s.base + s.zxid
			requests[i].body = b
		case wire.SetWatches2Request:
			b.RelativeZxid += s.base + s.zxid
			requests[i].body = b
		}
	}
	return requests
}

// move resumes a session on another connection. The server drops the previous connection, even if
// the password is wrong.
func (p *pair) move(session int) {
	p.compare(fmt.Sprintf("session %d moves", session), func(s *side) []string {
		before := s.links[session]
		wrong := before.again(s.address, make([]byte, wire.PasswordSize))
		lines := []string{s.wantEnd(before), fmt.Sprintf("with a wrong password %+v", wrong.session), s.wantEnd(wrong)}
		s.links[session] = before.again(s.address, before.session.Password)
		moved := *s.links[session]
		same := moved.session.SessionID == before.session.SessionID && slices.Equal(moved.session.Password, before.session.Password)
		return append(lines, fmt.Sprintf("moved: %v, time-out %d, %+v", same, moved.session.Timeout, moved.session.ReadOnly))
	})
	p.greet(session)
}

// close closes a session and opens another in its place. The server may delete its ephemeral nodes
// in any order.
func (p *pair) close(session int) {
	p.compare(fmt.Sprintf("session %d closes", session), func(s *side) []string {
		lines := s.converse(session, []request{{wire.OpCloseSession, nil}})
		lines = append(lines, s.wantEnd(s.links[session]))
		s.open(session)
		return sortedLines(append(lines, s.flush()...))
	})
	p.greet(session)
}

// offend sends a request that ends the connection, then reconnects.
func (p *pair) offend(session int) {
	offence := pick(&p.script, []request{
		{wire.OpAuth, wire.AuthRequest{Scheme: "secret handshake"}},
		{wire.OpAuth, wire.Int{Value: 7}},
		{9999, nil},
		{wire.OpNotify, nil},
	})
	p.compare(fmt.Sprintf("session %d: %+v", session, offence), func(s *side) []string {
		lines := s.converse(session, []request{offence})
		if !slices.Contains(lines, "the end") {
			lines = append(lines, s.wantEnd(s.links[session]))
		}
		s.links[session] = s.links[session].again(s.address, s.links[session].session.Password)
		return append(lines, s.flush()...)
	})
	p.greet(session)
}

// wipe compares all created nodes, then deletes them, children first.
func (p *pair) wipe() {
	p.audit()
	slices.Sort(p.script.made)
	made := slices.Compact(p.script.made)
	slices.Reverse(made)
	p.script.made = nil
	for batch := range slices.Chunk(made, 50) {
		var deletes []request
		for _, path := range batch {
			deletes = append(deletes, request{wire.OpDelete, wire.PathVersion{Path: path, Version: -1}})
		}
		p.ask(0, deletes...)
	}
	p.script.made = nil
}

// audit compares all created nodes.
func (p *pair) audit() {
	made := append(slices.Clone(p.script.made), "/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota")
	slices.Sort(made)
	for batch := range slices.Chunk(slices.Compact(made), 50) {
		var reads []request
		for _, path := range batch {
			reads = append(reads, request{wire.OpGetData, wire.PathWatch{Path: path}},
				request{wire.OpGetChildren2, wire.PathWatch{Path: path}}, request{wire.OpGetACL, wire.Path{Path: path}})
		}
		p.ask(0, reads...)
	}
}
