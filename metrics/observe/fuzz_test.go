package observe_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/drivers/traffic/etcd"
	"github.com/stampede-bench/stampede/metrics/observe"
	"github.com/stampede-bench/stampede/results"
	"github.com/stampede-bench/stampede/results/document"
)

// small are limits that a short input reaches.
var small = observe.Limits{Patterns: 8, Watches: 8, Changes: 4, Paths: 8, Connections: 4, Sessions: 4, Children: 6, Lines: 3, Requests: 8, Waiting: 8}

// reported makes the report of an analysis and the document of it, as a command does, with what was observed until now too.
func reported(t *testing.T, a *observe.Analysis) {
	t.Helper()
	a.SoFar()
	a.Patterns()
	o := results.Observation{Observed: a.Report(), Projected: 1000}
	if d := document.New(o); len(d.Findings) == 0 {
		t.Error("no finding")
	}
	var sessions, requests int64
	for _, c := range o.Observed.Clients {
		sessions, requests = sessions+c.Sessions, requests+c.Requests
	}
	if by := o.Observed.Traffic; sessions != by.Sessions || requests != by.Requests || by.ToldApart.Total() != sessions {
		t.Errorf("the clients have %d sessions and %d requests, all traffic %d (%+v) and %d", sessions, requests, by.Sessions, by.ToldApart, by.Requests)
	}
	for _, p := range o.Observed.Places {
		if p.Sessions > int(o.Observed.Traffic.Sessions) || p.Askers > int(o.Observed.Traffic.Sessions) {
			t.Errorf("%s is watched by %d and asked for by %d of %d sessions", p.Path, p.Sessions, p.Askers, o.Observed.Traffic.Sessions)
		}
		if p.Notifications < 0 || p.FanoutMax > p.Notifications || p.Wasted != nil && (*p.Wasted < 0 || *p.Useful < 0 || *p.Useful+*p.Wasted > p.Notifications) {
			t.Errorf("%+v has more of a kind than notifications", p)
		}
	}
	e, all := o.Observed.Events, o.Observed.Traffic
	if e.AtRest < 0 || e.Requests+e.AtRest > all.Requests || e.Notifications > all.Notifications {
		t.Errorf("%+v have more than the traffic, %+v", e, all)
	}
	for _, one := range e.Largest {
		other := one.Requests - one.Reads - one.Writes
		if min(one.Reads, one.FailedWrites, other, int64(one.Lasted)) < 0 || one.FailedWrites > one.Writes {
			t.Errorf("%+v counts what was not there", one)
		}
	}
}

// FuzzMessages plays messages of several sessions: each four bytes are one. No order of them, however senseless, may end the analysis.
func FuzzMessages(f *testing.F) {
	for n := range 4 {
		var seed []byte
		for i := range 400 {
			seed = append(seed, byte(i*(n+3)), byte(i*7+n), byte(i*i), byte(i>>n))
		}
		f.Add(seed)
	}
	f.Fuzz(playMessages)
}

func playMessages(t *testing.T, script []byte) {
	paths := []string{"/a", "/a/b", "/a/lock-0000000001", "/a/lock-0000000002", "/a/read-0000000003", "/", "", "q/", "q/1", "/zookeeper/config"}
	for _, limits := range []observe.Limits{observe.DefaultLimits, small} {
		a := observe.New(limits)
		taps := map[byte]traffic.Tap{}
		at, pos := time.Unix(1, 0), int64(1)
		for s := script; len(s) >= 4; s = s[4:] {
			at = at.Add(time.Duration(s[3]) * time.Millisecond)
			tap := taps[s[0]%8]
			if tap == nil {
				tap = a.Open(traffic.Connection{ID: uint64(s[0]), Client: fmt.Sprintf("192.0.2.1:%d", s[0]), At: at, Joined: s[3]%7 == 0})
				taps[s[0]%8] = tap
				if s[3]%11 > 0 {
					tap.Session(at, traffic.Session{ID: int64(s[0] % 8), Timeout: time.Second, Resumed: s[3]%5 == 0, Ordered: s[3]%2 == 0})
				}
			}
			if s[3]%3 == 0 {
				pos++
			}
			m := drivers.Message{Path: []byte(paths[int(s[1])%len(paths)]), Op: drivers.Op(s[2] % byte(drivers.OpFlush+1)), Mode: drivers.Mode(s[3] >> 2 & 3), Pos: pos,
				Watch: s[1]&1 > 0, Kind: drivers.MessageKind(s[0] >> 3 & 3), Size: int(s[3])}
			switch s[2] >> 5 {
			case 0:
				m.Err = drivers.ErrNodeExists
			case 1:
				m.Err = drivers.ErrNoNode
			case 2:
				m.Parts = []drivers.TxnOp{{Path: m.Path, Op: drivers.Op(s[3] % byte(drivers.OpFlush+1)), Err: m.Err}, {Path: []byte("/a"), Op: drivers.OpDelete}}
			case 3:
				m.Event = drivers.EventType(s[3] % byte(drivers.Rearmed+1))
			case 4:
				tap.Gap(at, int64(s[3]), traffic.Late)
				continue
			case 6:
				tap.Lease(at, int64(s[3]%4))
				tap.Owner(traffic.Process{ID: int(s[3] % 3), Name: "program"})
			case 7:
				tap.Session(at, traffic.Session{ID: int64(s[3] % 4), Timeout: time.Second, Lease: true})
			case 5:
				if s[3] > 250 {
					tap.Close(at)
					delete(taps, s[0]%8)
					continue
				}
			}
			tap.Message(at, m)
		}
		for _, tap := range taps {
			tap.Close(at)
		}
		reported(t, a)
	}
}

// FuzzBytes plays bytes of connections to their decoders and to the analysis: the first byte of a piece says whose they are, from
// where, and how many follow.
func FuzzBytes(f *testing.F) {
	f.Add([]byte("\x00\x2c\x00\x00\x00\x2c\x00\x00\x00\x00"), false)
	f.Add([]byte("\x07PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), true)
	f.Add([]byte("\x07POST /v3/kv/put HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"), true)
	f.Fuzz(func(t *testing.T, script []byte, isEtcd bool) {
		protocol := traffic.ZooKeeper()
		if isEtcd {
			protocol = etcd.Protocol()
		}
		a := observe.New(small)
		decoders := map[byte]traffic.Decoder{}
		at := time.Unix(1, 0)
		for s := script; len(s) > 1; {
			head := s[0]
			n := min(int(head>>3)+1, len(s)-1)
			piece := s[1 : 1+n]
			s = s[1+n:]
			at = at.Add(time.Millisecond)
			d := decoders[head%4]
			if d == nil {
				c := traffic.Connection{ID: uint64(head%4) + 1, Client: "192.0.2.1:1", Server: "192.0.2.2:2", At: at}
				d = protocol.Open(a.Open(c), false)
				decoders[head%4] = d
			}
			switch head >> 2 & 1 {
			case 0:
				d.FromClient(at, piece)
			case 1:
				d.FromServer(at, piece)
			}
		}
		for _, d := range decoders {
			d.End(at)
		}
		reported(t, a)
	})
}
