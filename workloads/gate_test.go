package workloads

import (
	"strings"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/metrics"
)

// A crossing is a gate of three seats and what it recorded.
type crossing struct {
	*gate
	t     *testing.T
	seats [3]*Seat
	// awaits is everybody unless the test sets another function.
	awaits func(s, other *Seat) bool
}

func newCrossing(t *testing.T) *crossing {
	c := &crossing{gate: newGate(3, "was in before all had come"), t: t, awaits: everybody}
	for i := range c.seats {
		c.seats[i] = &Seat{Index: i}
	}
	return c
}

// play executes a script: in "+1" the first client comes, in "-1" it is past.
func (c *crossing) play(script string) {
	for step := range strings.FieldsSeq(script) {
		s := c.seats[step[1]-'1']
		if step[0] == '+' {
			c.come(s)
		} else {
			c.past(s, time.Time{})
		}
	}
}

func (c *crossing) want(violations, overlaps int64, details ...string) {
	c.t.Helper()
	var s metrics.Safety
	c.judge(&s, c.awaits, func(s *Seat) bool { return s.Disturbances() > 0 })
	if s.Violations != violations || s.BeliefOverlaps != overlaps || s.Checked != int64(len(c.passed)) {
		c.t.Errorf("%d violations and %d belief overlaps in %d checks, want %d and %d in %d",
			s.Violations, s.BeliefOverlaps, s.Checked, violations, overlaps, len(c.passed))
	}
	if got, want := strings.Join(s.Details, "; "), strings.Join(details, "; "); got != want {
		c.t.Errorf("details %q, want %q", got, want)
	}
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		name, script string
		violations   int64
		details      []string
	}{
		{"all come, then all are past", "+2 +1 +3 -3 -1 -2", 0, nil},
		{"coming again changes nothing", "+2 +2 +1 +3 +2 -3 -1 -2", 0, nil},
		{"one is early", "+1 +2 -2 +3 -1 -3", 1, []string{"violation: client 2 was in before all had come"}},
		{"nobody waits", "+1 -1 +2 -2 +3 -3", 2,
			[]string{"violation: client 1 was in before all had come", "violation: client 2 was in before all had come"}},
		{"one never comes, and another does not wait", "+1 +3 -3", 1,
			[]string{"violation: client 3 was in before all had come"}},
		{"one never comes, and nobody goes on", "+1 +3", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newCrossing(t)
			x.play(c.script)
			x.want(c.violations, 0, c.details...)
		})
	}
}

// TestGateExcusesWhoIsDisturbed checks that a disturbed session excuses a client that was early,
// whether the session is its own or that of the client it did not wait for. The service does not
// wait for a lost session, and the waiting clients may learn of the loss first.
func TestGateExcusesWhoIsDisturbed(t *testing.T) {
	for i, who := range []string{"who is early", "who comes late"} {
		t.Run(who, func(t *testing.T) {
			x := newCrossing(t)
			x.play("+1 +2 -1 +3 -2 -3")
			x.seats[2*i].onState(drivers.SessionLost)
			x.want(0, 1, "belief overlap after a disturbed session: client 1 was in before all had come")
		})
	}
}

func TestGateThatAwaitsOnlySome(t *testing.T) {
	x := newCrossing(t)
	x.awaits = func(s, other *Seat) bool { return other.Index < s.Index }
	x.play("+1 -1 +3 -3 +2 -2")
	x.want(1, 0, "violation: client 3 was in before all had come")
}

func TestGateTellsHowLongAfterTheLast(t *testing.T) {
	x := newCrossing(t)
	x.play("+1 +2")
	if _, ok := x.past(x.seats[0], time.Now()); ok {
		t.Error("somebody was past in good time before all had come")
	}
	x.play("+3")
	if d, ok := x.past(x.seats[0], x.last.Add(3*time.Millisecond)); !ok || d != 3*time.Millisecond {
		t.Errorf("past after %v, %v; want 3ms", d, ok)
	}
	if err := x.wait(t.Context()); err != nil {
		t.Errorf("all have come, and waiting for them fails: %v", err)
	}
}
