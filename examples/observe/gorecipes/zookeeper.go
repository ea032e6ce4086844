package main

import (
	"encoding/binary"
	"net"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

type zooKeeperLock struct {
	*zk.Lock
	conn *zk.Conn
}

func newZooKeeperLock(address string, waits func()) (turnTaker, error) {
	dial := func(network, address string, timeout time.Duration) (net.Conn, error) {
		c, err := net.DialTimeout(network, address, timeout)
		return &watchingConn{Conn: c, waits: waits}, err
	}
	conn, events, err := zk.Connect([]string{address}, time.Minute, zk.WithLogInfo(false), zk.WithDialer(dial))
	if err != nil {
		return nil, err
	}
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	return zooKeeperLock{zk.NewLock(conn, "/recipe", zk.WorldACL(zk.PermAll)), conn}, nil
}

func (l zooKeeperLock) acquire() error { return l.Lock.Lock() }
func (l zooKeeperLock) release() error { return l.Unlock() }
func (l zooKeeperLock) close() error   { l.conn.Close(); return nil }

// A watchingConn calls waits when the server has answered a get with a watch, the last request
// of a client of the lock before it waits.
type watchingConn struct {
	net.Conn
	waits func()
	asked atomic.Bool
}

const opGetData = 4 // in ZooKeeper's protocol

func (c *watchingConn) Write(packet []byte) (int, error) {
	// The length, the request's number and the operation have four bytes each; the last byte
	// of a read says whether it sets a watch.
	if len(packet) > 12 && binary.BigEndian.Uint32(packet[8:]) == opGetData && packet[len(packet)-1] == 1 {
		c.asked.Store(true)
	}
	return c.Conn.Write(packet)
}

func (c *watchingConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	if n > 0 && c.asked.Swap(false) {
		c.waits()
	}
	return n, err
}
