package check

import (
	"slices"
	"testing"
)

func TestMemberStates(t *testing.T) {
	states := func(a, b string) map[string][]byte { return map[string][]byte{"a": []byte(a), "b": []byte(b)} }
	for _, c := range []struct {
		name    string
		states  map[string][]byte
		updates int64
		want    []string
	}{
		{"each as often as acknowledged", states("3", "3"), 3, nil},
		{"nothing before the first update", nil, 0, nil},
		{"a lost update", states("3", "2"), 3,
			[]string{"violation: client 1 found update 2 of client 2: update 3 was acknowledged and is lost"}},
		{"an update applied twice", states("4", "3"), 3,
			[]string{"violation: client 1 found update 4 of client 1, which has made 3: one was applied twice"}},
		{"a lost state", map[string][]byte{"a": []byte("3")}, 3,
			[]string{"violation: client 1 found no state of client 2, which has made update 3"}},
		{"a state that was never written", states("3", "x"), 3,
			[]string{`violation: client 1 found the state "x" of client 2, which was never written`}},
		{"a state of no member", map[string][]byte{"a": []byte("3"), "b": []byte("3"), "c": nil}, 3,
			[]string{`violation: client 1 found a state of "c", which is no member`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := NewMemberStates([]string{"a", "b"})
			check.Saw(0, c.states, c.updates)
			v := check.Verdict()
			if !slices.Equal(v.Details, c.want) || v.Violations != int64(len(c.want)) || v.Checked != 2 {
				t.Errorf("%d violations in %d checks, %q; want %q in 2", v.Violations, v.Checked, v.Details, c.want)
			}
		})
	}
}

// TestNextState checks that an update whose outcome is unknown is not made twice.
func TestNextState(t *testing.T) {
	for _, c := range []struct {
		state   string
		unknown bool
		want    string
	}{{"", false, "1"}, {"2", false, "3"}, {"2", true, "3"}, {"3", true, "3"}, {"3", false, "4"}} {
		if got := NextState([]byte(c.state), 3, c.unknown); string(got) != c.want {
			t.Errorf("after %q, unknown %v: %q, want %q", c.state, c.unknown, got, c.want)
		}
	}
}

// TestAMemberThatIsMissed has a member see that another one has gone, which is there or has left.
func TestAMemberThatIsMissed(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		r := NewMembership(false, func(string) {})
		a, b := r.Joined(0, "a", 1), r.Joined(1, "b", 2)
		r.Saw(a, []string{"a", "b"})
		r.Saw(a, []string{"a"})
		var want []string
		if leaves {
			r.Left(b)
			r.Joined(1, "b2", 3)
			r.Saw(a, []string{"a", "b2"})
		} else {
			r.Saw(a, []string{"a", "b"})
			r.Saw(a, []string{"a", "b"})
			want = []string{"violation: client 1 saw that client 2 had gone, which was there"}
		}
		if v := r.Verdict(); !slices.Equal(v.Details, want) {
			t.Errorf("leaves %v: %q, want %q", leaves, v.Details, want)
		}
	}
}
