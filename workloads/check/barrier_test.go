package check

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// A barrierScript is a barrier of three clients and what it recorded.
type barrierScript struct {
	*Barrier
	t       *testing.T
	clients [3]*testClient
	// awaits is AllClients unless the test sets another function.
	awaits func(s, other Client) bool
}

func newBarrierScript(t *testing.T) *barrierScript {
	c := &barrierScript{Barrier: NewBarrier(3, "was in before all had come"), t: t, awaits: AllClients}
	for i := range c.clients {
		c.clients[i] = &testClient{index: i}
	}
	return c
}

// play executes a script: in "+1" the first client comes, in "-1" it is past.
func (c *barrierScript) play(script string) {
	for step := range strings.FieldsSeq(script) {
		s := c.clients[step[1]-'1']
		if step[0] == '+' {
			c.Arrive(s)
		} else {
			c.Pass(s)
		}
	}
}

func (c *barrierScript) want(violations, overlaps int64, details ...string) {
	c.t.Helper()
	var s metrics.Safety
	c.Judge(&s, c.awaits, func(s Client) bool { return s.Disturbances() > 0 })
	if s.Violations != violations || s.BeliefOverlaps != overlaps || s.Checked != int64(len(c.passed)) {
		c.t.Errorf("%d violations and %d belief overlaps in %d checks, want %d and %d in %d",
			s.Violations, s.BeliefOverlaps, s.Checked, violations, overlaps, len(c.passed))
	}
	if got, want := strings.Join(s.Details, "; "), strings.Join(details, "; "); got != want {
		c.t.Errorf("details %q, want %q", got, want)
	}
}

func TestBarrier(t *testing.T) {
	for _, c := range []struct {
		name, script string
		violations   int64
		details      []string
	}{
		{"all come, then all are past", "+2 +1 +3 -3 -1 -2", 0, nil},
		{"coming again changes nothing", "+2 +2 +1 +3 +2 -3 -1 -2", 0, nil},
		{"one is early", "+1 +2 -2 +3 -1 -3", 1, []string{"violation: client 2 was in before all had come"}},
		{"no client waits", "+1 -1 +2 -2 +3 -3", 2,
			[]string{"violation: client 1 was in before all had come", "violation: client 2 was in before all had come"}},
		{"one never comes, and another does not wait", "+1 +3 -3", 1,
			[]string{"violation: client 3 was in before all had come"}},
		{"one never comes, and no client passes", "+1 +3", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newBarrierScript(t)
			x.play(c.script)
			x.want(c.violations, 0, c.details...)
		})
	}
}

// TestBarrierExcusesADisturbedClient checks that a disturbed session excuses a client that was early,
// whether the session is its own or that of the client it did not wait for. The service does not
// wait for a lost session, and the waiting clients may learn of the loss first.
func TestBarrierExcusesADisturbedClient(t *testing.T) {
	for i, client := range []string{"the early client", "the late client"} {
		t.Run(client, func(t *testing.T) {
			x := newBarrierScript(t)
			x.play("+1 +2 -1 +3 -2 -3")
			x.clients[2*i].disturb()
			x.want(0, 1, "belief overlap after a disturbed session: client 1 was in before all had come")
		})
	}
}

func TestBarrierThatAwaitsSomeClients(t *testing.T) {
	x := newBarrierScript(t)
	x.awaits = func(s, other Client) bool { return other.Number() < s.Number() }
	x.play("+1 -1 +3 -3 +2 -2")
	x.want(1, 0, "violation: client 3 was in before all had come")
}
