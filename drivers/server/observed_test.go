package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/proxy"
)

// observed puts a proxy in front of a server and returns its address. When the test has ended, it
// checks that the proxy decoded everything that passed, and that no password reached its observer.
func observed(t *testing.T, server string) (address string) {
	t.Helper()
	n := new(noted)
	p, err := proxy.Listen([]string{"127.0.0.1:0"}, []proxy.Server{{Address: server}},
		proxy.Options{Protocol: traffic.ZooKeeper(), Observer: n})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		if s := p.Stats(); s.Dropped > 0 || s.Failed > 0 || n.gap > 0 || n.sessions == 0 {
			t.Errorf("the proxy's stats are %+v, with a gap of %d bytes and %d sessions; want all decoded", s, n.gap, n.sessions)
		}
		if len(n.unanswered) > 0 {
			t.Errorf("replies without a request: %v", n.unanswered)
		}
		for _, secret := range []string{"password", "digest"} {
			if strings.Contains(n.all.String(), secret) {
				t.Errorf("%q reached the observer of a proxy", secret)
			}
		}
	})
	return p.Addresses()[0]
}

// noted is what a proxy observed.
type noted struct {
	all        strings.Builder
	sessions   int
	gap        int64
	unanswered []string
}

func (n *noted) Open(c traffic.Connection) traffic.Tap {
	fmt.Fprintln(&n.all, c)
	return &notedTap{noted: n, requests: map[drivers.Op]int{}}
}

// notedTap counts the requests of one connection that have no reply yet.
type notedTap struct {
	*noted
	requests map[drivers.Op]int
}

func (n *notedTap) Session(_ time.Time, s traffic.Session) {
	n.sessions++
	fmt.Fprintln(&n.all, s)
}

func (n *notedTap) Message(_ time.Time, m drivers.Message) {
	fmt.Fprintln(&n.all, m, string(m.Path))
	switch m.Kind {
	case drivers.Request:
		n.requests[m.Op]++
	case drivers.Reply:
		if n.requests[m.Op]--; n.requests[m.Op] < 0 {
			n.unanswered = append(n.unanswered, m.Op.String())
		}
	}
}

func (n *noted) Missed(u traffic.Undecoded)     { n.gap += u.Bytes }
func (n *notedTap) Members(time.Time, []string) {}
func (n *notedTap) Lease(time.Time, int64)      {}
func (n *notedTap) Owner(traffic.Process)       {}
func (n *notedTap) Close(time.Time)             {}

func (n *notedTap) Gap(_ time.Time, bytes int64, _ traffic.Cause) { n.gap += bytes }
