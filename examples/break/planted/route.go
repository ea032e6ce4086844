package main

import (
	"encoding/binary"
	"net"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/stampede-bench/stampede/examples/break/plan"
)

// A route leads a member to the servers. Left alone, go-zookeeper waits for a second after each round of
// attempts, sets all watches again after a broken connection, and opens a new session when one has ended.
type route struct {
	member  *member
	pace    *plan.Pace
	dial    zk.Dialer
	servers []string
	tried   int

	// presented is the last request to open or resume a session.
	presented []byte
}

// Init, Len, Next and Connected make a route a [zk.HostProvider].
func (r *route) Init(servers []string) error {
	r.servers = servers
	return nil
}

func (r *route) Len() int { return len(r.servers) }

// Next returns the servers in turn. At the end it has the library wait, so that the library sees that it was
// closed.
func (r *route) Next() (server string, wait bool) {
	r.tried++
	return r.servers[r.tried%len(r.servers)], r.member.ctx.Err() != nil
}

func (r *route) Connected() { r.pace.Succeeded() }

func (r *route) connect(network, address string, timeout time.Duration) (net.Conn, error) {
	if err := r.pace.Wait(r.member.ctx); err != nil {
		return nil, err
	}
	c, err := r.dial(network, address, timeout)
	if err != nil {
		return nil, err
	}
	return &link{Conn: c, route: r}, nil
}

// A link is a connection to a server. The library sends each packet by one call of Write.
type link struct {
	net.Conn
	route *route
	begun bool
}

const opSetWatches = 101 // in ZooKeeper's protocol

func (l *link) Write(packet []byte) (int, error) {
	p, sent := l.route.member.plan, packet
	switch {
	case !l.begun && p.OnExpiry == plan.Dead && l.route.member.expired.Load():
		sent = l.route.presented // the session that has ended, instead of a new one
	case !l.begun:
		l.route.presented = slices.Clone(packet)
	case p.Watch == plan.Never && len(packet) >= 12 && binary.BigEndian.Uint32(packet[8:]) == opSetWatches:
		return len(packet), nil // and the watches stay unset
	}
	l.begun = true
	if _, err := l.Conn.Write(sent); err != nil {
		return 0, zk.ErrConnectionClosed
	}
	return len(packet), nil
}
