package check

import (
	"strings"
	"testing"
)

// linked returns the memberships of two processes that tell each other of their members.
func linked(ring bool) (a, b *Membership) {
	a, b = NewMembership(ring, nil), NewMembership(ring, nil)
	a.tell, b.tell = b.Learn, a.Learn
	return a, b
}

// TestMembersOfTwoProcesses has members in two processes, which must see each other.
func TestMembersOfTwoProcesses(t *testing.T) {
	for _, ring := range []bool{false, true} {
		a, b := linked(ring)
		first := a.Joined(0, "n1", 1)
		second := b.Joined(1, "n2", 2)
		third := a.Joined(2, "n3", 3)
		all := []string{"n1", "n2", "n3"}
		a.Saw(first, all)
		b.Saw(second, all)
		a.Saw(third, all)
		for process, r := range []*Membership{a, b} {
			for _, m := range r.members {
				if m.sees != nil {
					r.CheckMember(m)
				}
			}
			if s := r.Verdict(); s.Violations > 0 || s.Checked != int64(2-process) {
				t.Errorf("ring %v, process %d: %+v, want %d checks and no violation", ring, process, s, 2-process)
			}
		}
		b.Left(second) // the members of a still see it
		a.CheckMember(third)
		want := "client 3 did not see that the member ahead of it has gone"
		if !ring {
			want = "client 3 saw 3 members, and not the current 2"
		}
		if s := a.Verdict(); s.Violations != 1 || !strings.Contains(s.Details[0], want) {
			t.Errorf("ring %v: %+v, want %q", ring, s, want)
		}
	}
}

// TestALostMemberOfAnotherProcess replaces the membership of a lost session.
func TestALostMemberOfAnotherProcess(t *testing.T) {
	a, b := linked(false)
	a.Joined(0, "old", 1)
	second := b.Joined(1, "n2", 2)
	a.Joined(0, "new", 3)
	b.Saw(second, []string{"n2", "new"})
	if b.CheckMember(second); b.Verdict().Violations > 0 {
		t.Errorf("%+v", b.Verdict())
	}
	b.Learn("{") // a damaged message changes nothing
	if b.CheckMember(second); b.Verdict().Violations > 0 {
		t.Errorf("%+v", b.Verdict())
	}
}
