package recovery

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers/traffic"
	"github.com/stampede-bench/stampede/internal/golden"
)

// repeated are stories of a fault that comes several times. Each outcome says what was true of its own fault, and the sentence what
// is true at the end.
var repeated = []story{
	{"a watch is lost for good at the first of two breaks that follow soon, and another one comes back each time", func(s *script) {
		m := s.twoWatches()
		for range 2 {
			s.breaks(m)
			m.watch("/app/a")
			s.pass(900 * ms)
		}
		s.pass(time.Minute)
	}},
	{"a watch comes back after the second of two breaks that follow soon", func(s *script) {
		m := s.twoWatches()
		s.breaks(m)
		m.watch("/app/a")
		s.pass(900 * ms)
		s.breaks(m)
		m.watch("/app/a")
		m.watch("/app/b")
		s.pass(time.Minute)
	}},
	{"a watch is lost for good at the first of two breaks, and the client has time between", func(s *script) {
		m := s.twoWatches()
		for range 2 {
			s.breaks(m)
			m.watch("/app/a")
			s.pass(20 * time.Second)
		}
	}},
	{"a watch is lost at the first of two breaks, the client has time between, and it is back after the second", func(s *script) {
		m := s.twoWatches()
		s.breaks(m)
		m.watch("/app/a")
		s.pass(20 * time.Second)
		s.breaks(m)
		m.watch("/app/a")
		m.watch("/app/b")
		s.pass(20 * time.Second)
	}},
	{"sessions expire twice, soon, and each new one watches late", func(s *script) {
		m := s.begin(1, 1)[0]
		for range 2 {
			s.fault(Expired, 0)
			m.cut()
			s.pass(300 * ms)
			m.open(0)
			m.own("/svc/1/m0")
			s.pass(700 * ms)
		}
		m.watch("/app/config")
		s.pass(time.Minute)
	}},
	{"sessions expire twice, soon, and the watch is lost for good", func(s *script) {
		m := s.begin(1, 1)[0]
		for range 2 {
			s.fault(Expired, 0)
			m.cut()
			s.pass(300 * ms)
			m.open(0)
			m.own("/svc/1/m0")
			s.pass(700 * ms)
		}
		s.pass(time.Minute)
	}},
	{"one of two sessions is still away when the second fault comes, and comes back later", func(s *script) { s.oneAway(true) }},
	{"one of two sessions is still away when the second fault comes, and never comes back", func(s *script) { s.oneAway(false) }},
}

// twoWatches opens a session with two watches.
func (s *script) twoWatches() *member {
	m := s.members(1, 1)[0]
	m.watch("/app/a")
	m.watch("/app/b")
	s.pass(10 * time.Second)
	return m
}

// breaks breaks a connection. The session is resumed after 50 ms.
func (s *script) breaks(m *member) {
	s.fault(Disconnected, 0)
	m.cut()
	s.pass(50 * ms)
	m.resume()
}

// oneAway ends all sessions twice. One client comes back at once, and another one after the second fault, or never.
func (s *script) oneAway(returns bool) {
	all := s.begin(1, 2)
	s.fault(Expired, 0)
	for _, m := range all {
		m.cut()
	}
	back := func(i int) {
		all[i].open(0)
		all[i].own("/svc/1/m" + string(rune('0'+i)))
		all[i].watch("/app/config")
	}
	s.pass(300 * ms)
	back(0)
	s.pass(700 * ms)
	s.fault(Expired, 0)
	all[0].cut()
	s.pass(300 * ms)
	back(0)
	s.pass(700 * ms)
	if returns {
		back(1)
	}
	s.pass(time.Minute)
}

// TestStoriesOfRepeatedFaults is TestStories with faults that come several times.
func TestStoriesOfRepeatedFaults(t *testing.T) {
	var b strings.Builder
	for _, story := range repeated {
		s := newScript("zookeeper")
		story.tell(s)
		tellReport(&b, story.name, s.a.Report())
	}
	golden.Compare(t, "testdata/repeated.txt", []byte(b.String()))
}

// TestWhatIsNotJudgedSaysNothing has faults without a verdict: none of what their sessions lack is in the sums.
func TestWhatIsNotJudgedSaysNothing(t *testing.T) {
	for want, after := range map[Reason]func(s *script, m *member){
		Ongoing: func(s *script, m *member) { s.pass(time.Second) },
		Ended:   func(s *script, m *member) { s.pass(4 * time.Second); m.open(0); m.close(); s.pass(time.Minute) },
		Incomplete: func(s *script, m *member) {
			s.pass(4 * time.Second)
			m.open(0)
			m.tap.Gap(s.now, 100, traffic.Late)
			s.pass(time.Minute)
		},
	} {
		t.Run(string(want), func(t *testing.T) {
			s := newScript("zookeeper")
			m, other := s.begin(1, 1)[0], s.members(2, 1)[0]
			s.fault(Expired, 3*time.Second, m)
			m.cut()
			other.set("/app/config")
			s.a.Probe(Probe{At: s.now, Path: "/app/config", Pos: s.pos})
			after(s, m)
			o := s.outcome(t)
			if o.Reason != want || o.Sessions != 1 || o.Unjudged != 1 {
				t.Fatalf("%s %q of %d sessions, want n/a, %q of 1", o.Verdict, o.Reason, o.Sessions, want)
			}
			if o.Nodes.Had != 0 || len(o.Nodes.Missing) != 0 || o.Watches.Had != 0 || len(o.Watches.Missing) != 0 || o.Missed != 0 || o.Changes != 0 ||
				o.Probe.Missed != 0 || o.GaveUp != 0 || o.Registered != (Times{}) || o.Watching != (Times{}) {
				t.Errorf("%+v", o)
			}
			if len(o.Rows) != 1 || o.Rows[0].Watches.Had != 1 {
				t.Errorf("the row of the session says what it had: %+v", o.Rows)
			}
		})
	}
}
