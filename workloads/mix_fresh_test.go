package workloads

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestFreshness checks the findings about what one session is shown of two keys.
func TestFreshness(t *testing.T) {
	for _, c := range []struct {
		name string
		see  func(s *sight)
		want []string // if reads do not lag
		lags []string // if they do
	}{
		{"each version once", func(s *sight) {
			s.shown(0, s.known(0), 0)
			s.shown(0, s.known(0), 1)
			s.told(0, s.known(0), 2)
			s.shown(1, s.known(1), 1)
		}, nil, nil},
		{"the same again", func(s *sight) { s.shown(0, s.known(0), 3); s.shown(0, s.known(0), 3) }, nil, nil},
		{"an older one", func(s *sight) { s.shown(0, s.known(0), 3); s.shown(0, s.known(0), 2) },
			[]string{"violation: client 3 was shown version 2 of a key after version 3"}, nil},
		{"one older than what it wrote", func(s *sight) { s.wrote(1, s.known(1), 4, drivers.AnyVersion); s.shown(1, s.known(1), 3) },
			[]string{"violation: client 3 was shown version 3 of a key after version 4"}, nil},
		{"a change that does not show", func(s *sight) { s.shown(0, s.known(0), 3); s.told(0, s.known(0), 3) },
			[]string{"violation: client 3 was told of a change after version 3 of a key, and shown version 3"}, nil},
		{"a set that changed nothing", func(s *sight) { s.shown(0, s.known(0), 3); s.wrote(0, s.known(0), 3, drivers.AnyVersion) },
			[]string{"violation: client 3 made version 3 of a key after version 3"}, nil},
		{"conditional sets", func(s *sight) { s.wrote(0, s.known(0), 4, 3); s.wrote(0, s.known(0), 5, 4) }, nil, nil},
		{"a conditional set on another version", func(s *sight) { s.wrote(0, s.known(0), 5, 3) },
			[]string{"violation: client 3 made version 5 of a key by a set on version 3"},
			[]string{"violation: client 3 made version 5 of a key by a set on version 3"}},
		{"a list", func(s *sight) { s.listed(100, 100) }, nil, nil},
		{"half a list", func(s *sight) { s.listed(50, 100) },
			[]string{"violation: client 3 was shown 50 of 100 nodes"}, []string{"violation: client 3 was shown 50 of 100 nodes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for lags, want := range map[bool][]string{false: c.want, true: c.lags} {
				f := freshness{lags: lags}
				s := f.session(&Seat{Index: 2}, 2)
				c.see(s)
				v := f.verdict()
				if !slices.Equal(v.Details, want) || v.Violations != int64(len(want)) || (v.Weaker != "") != lags {
					t.Errorf("reads that lag %v: %+v, want %q", lags, v, want)
				}
			}
		})
	}
}

// TestFreshnessIsOfOneSession checks that versions seen by another session do not matter.
func TestFreshnessIsOfOneSession(t *testing.T) {
	var f freshness
	one, other := f.session(&Seat{}, 1), f.session(&Seat{Index: 1}, 1)
	one.shown(0, one.known(0), 3)
	other.shown(0, other.known(0), 2)
	if v := f.verdict(); v.Violations != 0 || v.Checked != 2 {
		t.Errorf("%+v, want two checks and nothing found", v)
	}
}
