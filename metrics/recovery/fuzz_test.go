package recovery

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/drivers/traffic"
)

// FuzzMessages plays messages and faults of several sessions: each four bytes are one. No order of them, however
// senseless, may end the analysis, keep more than the limits, or make sums that do not add up.
func FuzzMessages(f *testing.F) {
	for n := range 6 {
		var seed []byte
		for i := range 600 {
			seed = append(seed, byte(i*(n+3)), byte(i*7+n), byte(i*i+n*i), byte(i>>n+i*31))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, service := range []string{"zookeeper", "etcd"} {
			for _, l := range []limits{defaultLimits, {events: 20, holders: 4, things: 6, begun: 3, attempts: 5}} {
				playMessages(t, service, l, script)
			}
		}
	})
}

func playMessages(t *testing.T, service string, l limits, script []byte) {
	paths := []string{"/a", "/a/b", "/a/lock-0000000001", "/a/lock-0000000002", "/a/6f9619ff8b86", "/", "", "q/", "q/1"}
	kinds := []Kind{Expired, Disconnected, LostReply, ServerFailed, Delayed, WatchCanceled, "?"}
	a := New(service)
	a.limits = l
	a.Ended = func(p traffic.Process) bool { return p.ID == 1 }
	taps := map[byte]traffic.Tap{}
	at, pos, faults := time.Unix(1, 0), int64(1), 0
	for s := script; len(s) >= 4; s = s[4:] {
		at = at.Add(time.Duration(s[3]) * 20 * ms)
		id := s[0] % 8
		tap := taps[id]
		if tap == nil {
			tap = a.Open(traffic.Connection{ID: uint64(id), Client: fmt.Sprintf("192.0.2.1:%d", id), Server: "s", At: at, Joined: s[3]%7 == 0})
			taps[id] = tap
			if s[3]%5 > 0 {
				tap.Session(at, traffic.Session{ID: int64(id % 5), Timeout: time.Second, Resumed: s[3]%3 == 0, Lease: service == "etcd"})
			}
		}
		pos += int64(s[3] & 1)
		m := drivers.Message{
			Path: []byte(paths[int(s[1])%len(paths)]), Op: drivers.Op(s[2] % byte(drivers.OpFlush+1)), Mode: drivers.Mode(s[3] >> 2 & 3), Pos: pos,
			Watch: s[1]&1 > 0, Kind: drivers.MessageKind(s[0] >> 3 & 3),
		}
		switch s[2] >> 4 {
		case 0:
			m.Err = drivers.ErrNodeExists
		case 1:
			m.Err = drivers.ErrNoNode
		case 2:
			m.Parts = []drivers.TxnOp{{Path: m.Path, Op: drivers.OpCreate, Mode: drivers.Ephemeral, Err: m.Err}, {Path: []byte("/a"), Op: drivers.OpDelete}}
		case 3:
			m.Event = drivers.EventType(s[3] % byte(drivers.Rearmed+1))
		case 4:
			tap.Gap(at, int64(s[3]), traffic.Late)
			continue
		case 5, 6:
			tap.Close(at)
			delete(taps, id)
			continue
		case 7:
			tap.Lease(at, int64(s[3]%4))
			tap.Owner(traffic.Process{ID: int(s[3] % 3), Name: "program"})
		case 8:
			if faults++; faults > 40 {
				continue
			}
			fault := Fault{At: at.Add(-time.Duration(s[1]) * ms), Kind: kinds[int(s[1])%len(kinds)]}
			if s[3]%2 == 0 {
				fault.Until = at.Add(time.Duration(s[1]) * 10 * ms)
			}
			switch s[3] % 3 {
			case 0:
				fault.Sessions = []int64{int64(s[1] % 5), int64(s[3] % 5)}
			case 1:
				fault.Clients = []string{fmt.Sprintf("192.0.2.1:%d", s[1]%8)}
			}
			if fault.Kind.endsWatches() {
				fault.Watches = paths[:s[1]%9]
			}
			a.Fault(fault)
			continue
		case 9:
			checkSums(t, a.SoFar())
			continue
		case 11:
			a.Lost(traffic.Connection{ID: uint64(id)}, at, m.Op)
		case 10:
			tap.Session(at, traffic.Session{ID: int64(s[3] % 4), Timeout: time.Second, Lease: service == "etcd", Resumed: s[1]%2 == 0})
		}
		tap.Message(at, m)
	}
	a.Advance(at.Add(time.Hour))
	checkSums(t, a.Report())
	checkKept(t, a)
}

// checkSums fails the test if a report contradicts itself.
func checkSums(t *testing.T, r Report) {
	t.Helper()
	r.Sentence(format)
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	for _, c := range contradictions(r) {
		t.Error(c)
	}
}

// contradictions returns in what a report contradicts itself.
func contradictions(r Report) (found []string) {
	never := func(wrong bool, what string, of any) {
		if wrong {
			found = append(found, fmt.Sprintf("%s: %+v", what, of))
		}
	}
	things := func(x Things) {
		never(x.Back > x.Had || x.Elsewhere > x.Back || x.Duplicated < 0, "sums of things", x)
		never((x.Had > x.Back) != (len(x.Missing) > 0) || len(x.Missing) > mostMissing, "names of what is missing", x)
	}
	never((r.Verdict == NotApplicable) != (r.Reason != ""), "reason of a report", r.Reason)
	for _, o := range r.Outcomes {
		never((o.Verdict == NotApplicable) != (o.Reason != ""), "reason of an outcome", o.Reason)
		never(o.Recovered+o.Partly+o.Not+o.Unjudged != o.Sessions, "verdicts", o)
		never(o.Kept+o.Resumed+o.Replaced+o.Gone != o.Judged() || o.Closed > o.Unjudged, "fates", o)
		never(len(o.Rows) != min(int(o.Sessions), mostRows), "rows", o)
		never(o.Missed > o.Changes || o.Observed < 0 || o.GaveUp > o.Judged(), "counts", o)
		for _, p := range []Peak{o.Reconnects, o.Rearmed, o.Retries} {
			never(p.Tenth > p.Second || p.Second > p.Total, "peak", p)
		}
		things(o.Nodes)
		things(o.Watches)
		for _, s := range o.Rows {
			never(s.Missed > s.Changes || s.Refused < 0, "counts", s)
			never(min(s.Register, s.Watch, s.Resume, s.Lived) < 0, "times", s)
			things(s.Nodes)
			things(s.Watches)
		}
	}
	return found
}

// TestContradictionsAreFound falsifies a report.
func TestContradictionsAreFound(t *testing.T) {
	for i, falsify := range []func(*Report){
		func(r *Report) { r.Reason = Ended },
		func(r *Report) { r.Outcomes[0].Recovered++ },
		func(r *Report) { r.Outcomes[0].Kept++ },
		func(r *Report) { r.Outcomes[0].Nodes.Back = 3 },
		func(r *Report) { r.Outcomes[0].Watches.Back-- },
		func(r *Report) { r.Outcomes[0].Missed++ },
		func(r *Report) { r.Outcomes[0].Rows = nil },
		func(r *Report) { r.Outcomes[0].Rearmed.Tenth = 7 },
		func(r *Report) { r.Outcomes[0].Rows[0].Refused = -1 },
	} {
		s := newScript("zookeeper")
		m := s.begin(1, 1)[0]
		s.disconnect(m)
		m.rearm()
		r := s.a.Report()
		if found := contradictions(r); len(found) > 0 {
			t.Fatal(found)
		}
		if falsify(&r); len(contradictions(r)) == 0 {
			t.Errorf("falsification %d is not found", i)
		}
	}
}

// checkKept fails the test if more is kept than the limits permit, or if what is kept is counted wrong.
func checkKept(t *testing.T, a *Analysis) {
	t.Helper()
	things := 0
	for _, h := range a.holders {
		things += len(h.has)
		if len(h.begun) > a.limits.begun*a.limits.begun || len(h.looks) > a.limits.begun {
			t.Errorf("a session keeps %d things and %d looks", len(h.begun), len(h.looks))
		}
	}
	if things != a.things || things > a.limits.things || len(a.holders) > a.limits.holders || len(a.queue) > a.limits.events || len(a.lines) > a.limits.begun {
		t.Errorf("%d things (counted %d), %d sessions, %d events and %d patterns are kept", things, a.things, len(a.holders), len(a.queue), len(a.lines))
	}
	for _, o := range a.outcomes {
		for _, all := range o.attempts {
			if len(all) > a.limits.attempts {
				t.Errorf("%d attempts are kept", len(all))
			}
		}
	}
}
