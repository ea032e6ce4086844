package workloads

import (
	"slices"
	"testing"
)

// TestViews checks the findings about what two clients see of two values. The first value was
// updated once, the second twice.
func TestViews(t *testing.T) {
	type sight struct {
		client, value int
		data          string
	}
	all := []sight{{0, 0, "1"}, {0, 1, "3"}, {1, 0, "1"}, {1, 1, "3"}}
	for _, c := range []struct {
		name string
		seen []sight
		want []string
	}{
		{"everybody sees the last", all, nil},
		{"some see what came before", append([]sight{{0, 0, "0"}, {1, 1, "0"}, {1, 1, "2"}}, all...), nil},
		{"the same again", append(all, all...), nil},
		{"what was never made", append(slices.Clone(all), sight{0, 0, "2"}),
			[]string{`violation: client 1 saw "2", which was never made`}},
		{"what is no update", append(slices.Clone(all), sight{1, 0, "x"}, sight{1, 0, ""}),
			[]string{`violation: client 2 saw "x", which was never made`, `violation: client 2 saw "", which was never made`}},
		{"an older one after a newer one", append(slices.Clone(all), sight{1, 1, "2"}, sight{1, 1, "3"}),
			[]string{"violation: client 2 saw update 2 after 3"}},
		{"nothing", all[:2],
			[]string{"violation: client 2 never saw update 1, the last it saw is -1", "violation: client 2 never saw update 3, the last it saw is -1"}},
		{"not the last", append(slices.Clone(all[1:]), sight{0, 0, "0"}),
			[]string{"violation: client 1 never saw update 1, the last it saw is 0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newViews(2, 2)
			for number, value := range []int{0, 1, 1} {
				v.making(value, int64(number+1))
			}
			for _, s := range c.seen {
				v.see(s.client, v.clients[s.client], s.value, []byte(s.data))
			}
			v.converged()
			verdict := v.verdict()
			if !slices.Equal(verdict.Details, c.want) || verdict.Violations != int64(len(c.want)) {
				t.Errorf("%d violations, %q; want %q", verdict.Violations, verdict.Details, c.want)
			}
			if want := int64(len(c.seen) + 4); verdict.Checked != want {
				t.Errorf("%d things were checked, want %d", verdict.Checked, want)
			}
		})
	}
}

// TestANewViewMayGoBack checks that a new session may see an older update than the session before
// it.
func TestANewViewMayGoBack(t *testing.T) {
	v := newViews(1, 1)
	v.making(0, 1)
	v.see(0, v.clients[0], 0, update(1))
	v.see(0, v.open(0), 0, update(0))
	if verdict := v.verdict(); verdict.Violations != 0 {
		t.Errorf("%q, want no violation", verdict.Details)
	}
}
