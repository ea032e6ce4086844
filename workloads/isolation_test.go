package workloads_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stampede-bench/stampede/drivers"
	"github.com/stampede-bench/stampede/workloads/runtest"
)

// An onPaper is a service whose members do not exist.
type onPaper struct {
	drivers.Service
	members []drivers.Member
}

func (s *onPaper) Members() []drivers.Member { return s.members }
func (s *onPaper) Divisible() bool           { return true }

// A paperMember is a leader when its function leads says so.
type paperMember struct {
	drivers.Member
	name    string
	leads   func() bool
	isolate func()
}

func (m *paperMember) Name() string                        { return m.name }
func (m *paperMember) Leads(context.Context) (bool, error) { return m.leads(), nil }
func (m *paperMember) Isolate(drivers.Direction) error     { m.isolate(); return nil }
func (m *paperMember) Delay(time.Duration) error           { return nil }
func (m *paperMember) Restore() error                      { return nil }
func (m *paperMember) CanFillDisk() bool                   { return false }
func (m *paperMember) CanHangDisk() bool                   { return false }
func (m *paperMember) HangDisk(context.Context) error      { return errors.ErrUnsupported }
func (m *paperMember) ThawDisk() error                     { return errors.ErrUnsupported }

// TestALeaderIsSeenBesideAMemberThatIsSilent has a member that answers nothing, as one that is stopped: when the new leader
// was there does not depend on it.
func TestALeaderIsSeenBesideAMemberThatIsSilent(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var isolated time.Time
		first := &paperMember{name: "1", leads: func() bool { return true }, isolate: func() { isolated = time.Now() }}
		second := &paperMember{name: "2", leads: func() bool { return !isolated.IsZero() && time.Since(isolated) >= 3*time.Second }}
		ensemble := &onPaper{s, []drivers.Member{first, second, silent{&paperMember{name: "3"}}}}
		r := ran(t, broken(t, ensemble, runtest.Predecessor, "at=5s isolate leader for=10s"))
		if got := r.Recoveries[0].Led; got == nil || *got < 3*time.Second || *got > 3020*time.Millisecond {
			t.Errorf("there was a leader after %v, want 3 s and at most 20 ms more", got)
		}
	})
}

// A silent member answers no question.
type silent struct{ *paperMember }

func (m silent) Leads(ctx context.Context) (bool, error) {
	<-ctx.Done()
	return false, context.Cause(ctx)
}

// TestIsolatedLeaderIsNoLeader checks that an isolated leader does not count as one, although it
// reports that it leads until it notices the isolation.
func TestIsolatedLeaderIsNoLeader(t *testing.T) {
	runtest.InBubble(t, func(t *testing.T, s drivers.Service) {
		var isolated time.Time
		first := &paperMember{name: "1", leads: func() bool { return true }, isolate: func() { isolated = time.Now() }}
		second := &paperMember{name: "2", leads: func() bool { return !isolated.IsZero() && time.Since(isolated) >= 3*time.Second }}
		ensemble := &onPaper{s, []drivers.Member{first, second}}
		r := ran(t, broken(t, ensemble, runtest.Predecessor, "at=5s isolate leader for=10s"))
		if got := r.Recoveries[0].Led; got == nil || *got < 3*time.Second || *got > 3100*time.Millisecond {
			t.Errorf("there was a leader after %v, want 3 s", got)
		}
		if got, want := r.Breaks[0].What, "isolate member 1, the leader"; got != want {
			t.Errorf("the diary says %q, want %q", got, want)
		}
	})
}
