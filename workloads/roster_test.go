package workloads

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestRoster has the members a, b and c, in this order. A member d joined between b and c and has
// left.
func TestRoster(t *testing.T) {
	now, before := []string{"a", "b", "c"}, []string{"a", "b", "c", "d"}
	for _, c := range []struct {
		name    string
		ring    bool
		a, b, c []string
		want    []string
	}{
		{"all see all", false, now, now, now, nil},
		{"in any order", false, []string{"c", "b", "a"}, now, now, nil},
		{"one sees who has gone", false, now, before, now,
			[]string{"violation: client 2 saw 4 members that are not as they are: 3"}},
		{"one does not see who came", false, []string{"a", "b"}, now, now,
			[]string{"violation: client 1 saw 2 members that are not as they are: 3"}},
		{"one sees nothing", false, now, now, nil,
			[]string{"violation: client 3 saw nothing of the group"}},
		{"in a ring all see all", true, now, now, now, nil},
		{"in a ring one sees what is no business of its own", true, now, []string{"a", "b", "d"}, now, nil},
		{"in a ring the neighbour sees who has gone", true, now, now, before,
			[]string{"violation: client 3 did not see that the member ahead of it has gone"}},
		{"in a ring one does not see its neighbour", true, now, []string{"b", "c"}, now,
			[]string{"violation: client 2 did not see the member ahead of it"}},
		{"in a ring the first sees who has gone", true, before, now, now,
			[]string{"violation: client 1 saw 4 members that are not as they are: 3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := roster{ring: c.ring}
			var members []*membership
			for place, name := range []string{"a", "b", "d", "c"} {
				members = append(members, r.joined(place, name, int64(place)))
			}
			members[3].client = 2
			r.left(members[2])
			for i, sees := range [][]string{c.a, c.b, nil, c.c} {
				if sees != nil {
					r.see(members[i], sees)
				}
			}
			r.converged()
			v := r.verdict()
			if !slices.Equal(v.Details, c.want) || v.Violations != int64(len(c.want)) || v.Checked != 3 {
				t.Errorf("%d violations in %d checks, %q; want %q in 3", v.Violations, v.Checked, v.Details, c.want)
			}
		})
	}
}

// TestRosterForgetsALostSession checks that a client that joins with a new session replaces its
// lost membership.
func TestRosterForgetsALostSession(t *testing.T) {
	r := roster{}
	r.joined(0, "a", 1)
	b := r.joined(1, "b", 2)
	r.joined(0, "a2", 3)
	r.see(b, []string{"b", "a2"})
	if at, wrong, err := r.look(b); wrong != "" || err != nil || at.IsZero() {
		t.Errorf("a member that sees all is wrong: %s (%v)", wrong, err)
	}
}

// TestRosterWaitsForNobodyWhoIsLost checks that the others do not wait for a member whose session
// or node is gone, even if it has no turn left in which to join again. It does not matter if that
// member was leaving.
func TestRosterWaitsForNobodyWhoIsLost(t *testing.T) {
	for _, ring := range []bool{false, true} {
		for _, lost := range []error{drivers.ErrSessionLost, drivers.ErrNoNode} {
			r := roster{ring: ring}
			a, b, c := r.joined(0, "a", 1), r.joined(1, "b", 2), r.joined(2, "c", 3)
			r.see(a, []string{"a", "c"})
			r.see(c, []string{"a", "c"})
			if _, wrong, _ := r.look(c); wrong == "" {
				t.Errorf("ring %v: c need not see b, who is there", ring)
			}
			r.fail(b, fmt.Errorf("follow: %w", lost))
			r.left(b)
			for _, m := range []*membership{a, c} {
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
