package check

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestMembership has the members a, b and c, in this order. A member d joined between b and c and has
// left.
func TestMembership(t *testing.T) {
	now, before := []string{"a", "b", "c"}, []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		name    string
		ring    bool
		a, b, c []string
		want    []string
	}{
		{"all see all", false, now, now, now, nil},
		{"in any order", false, []string{"c", "b", "a"}, now, now, nil},
		{"a member sees one that has gone", false, now, before, now,
			[]string{"violation: client 2 saw 4 members, and not the current 3"}},
		{"a member does not see a new one", false, []string{"a", "b"}, now, now,
			[]string{"violation: client 1 saw 2 members, and not the current 3"}},
		{"one sees nothing", false, now, now, nil,
			[]string{"violation: client 3 saw nothing of the group"}},
		{"in a ring all see all", true, now, now, now, nil},
		{"in a ring one sees what is no business of its own", true, now, []string{"a", "b", "d"}, now, nil},
		{"in a ring the neighbour sees a member that has gone", true, now, now, before,
			[]string{"violation: client 3 did not see that the member ahead of it has gone"}},
		{"in a ring one does not see its neighbour", true, now, []string{"b", "c"}, now,
			[]string{"violation: client 2 did not see the member ahead of it"}},
		{"in a ring the first sees a member that has gone", true, before, now, now,
			[]string{"violation: client 1 saw 4 members, and not the current 3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewMembership(c.ring, func(string) {})
			var members []*GroupMember
			for place, name := range []string{"a", "b", "d", "c"} {
				members = append(members, r.Joined(place, name, int64(place)))
			}
			members[3].client = 2
			r.Left(members[2])
			for i, sees := range [][]string{c.a, c.b, nil, c.c} {
				if sees != nil {
					r.Saw(members[i], sees)
				}
			}
			r.CheckAll()
			v := r.Verdict()
			if !slices.Equal(v.Details, c.want) || v.Violations != int64(len(c.want)) || v.Checked != 3 {
				t.Errorf("%d violations in %d checks, %q; want %q in 3", v.Violations, v.Checked, v.Details, c.want)
			}
		})
	}
}

// TestMembershipForgetsALostSession checks that a client that joins with a new session replaces its
// lost membership.
func TestMembershipForgetsALostSession(t *testing.T) {
	r := NewMembership(false, func(string) {})
	r.Joined(0, "a", 1)
	b := r.Joined(1, "b", 2)
	r.Joined(0, "a2", 3)
	r.Saw(b, []string{"b", "a2"})
	if at, wrong, err := r.look(b); wrong != "" || err != nil || at.IsZero() {
		t.Errorf("a member that sees all is wrong: %s (%v)", wrong, err)
	}
}

// TestMembershipDoesNotWaitForALostMember checks that the others do not wait for a member whose session
// or node is gone, even if it has no turn left in which to join again. It does not matter if that
// member was leaving.
func TestMembershipDoesNotWaitForALostMember(t *testing.T) {
	for _, ring := range []bool{false, true} {
		for _, lost := range []error{drivers.ErrSessionLost, drivers.ErrNoNode} {
			r := NewMembership(ring, func(string) {})
			a, b, c := r.Joined(0, "a", 1), r.Joined(1, "b", 2), r.Joined(2, "c", 3)
			r.Saw(a, []string{"a", "c"})
			r.Saw(c, []string{"a", "c"})
			if _, wrong, _ := r.look(c); wrong == "" {
				t.Errorf("ring %v: c need not see b, which is there", ring)
			}
			r.Stopped(b, fmt.Errorf("follow: %w", lost))
			r.Left(b)
			for _, m := range []*GroupMember{a, c} {
				if _, wrong, err := r.look(m); wrong != "" || err != nil {
					t.Errorf("ring %v, %v: client %d %s, %v", ring, lost, m.client+1, wrong, err)
				}
			}
			if _, _, err := r.look(b); !errors.Is(err, lost) {
				t.Errorf("ring %v: b is told %v, want %v", ring, err, lost)
			}
		}
	}
}
