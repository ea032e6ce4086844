package check

import (
	"slices"
	"testing"

	"github.com/stampede-bench/stampede/drivers"
)

// TestFreshness checks the findings about what one session is shown of two keys.
func TestFreshness(t *testing.T) {
	for _, c := range []struct {
		name string
		see  func(s *SessionVersions)
		want []string // if reads do not lag
		lags []string // if they do
	}{
		{"each version once", func(s *SessionVersions) {
			s.ReadReturned(0, s.Known(0), 0)
			s.ReadReturned(0, s.Known(0), 1)
			s.NotifiedReadReturned(0, s.Known(0), 2)
			s.ReadReturned(1, s.Known(1), 1)
		}, nil, nil},
		{"the same again", func(s *SessionVersions) { s.ReadReturned(0, s.Known(0), 3); s.ReadReturned(0, s.Known(0), 3) }, nil, nil},
		{"an older one", func(s *SessionVersions) { s.ReadReturned(0, s.Known(0), 3); s.ReadReturned(0, s.Known(0), 2) },
			[]string{"violation: client 3 read version 2 of a key after version 3"}, nil},
		{"one older than what it wrote", func(s *SessionVersions) {
			s.SetReturned(1, s.Known(1), 4, drivers.AnyVersion)
			s.ReadReturned(1, s.Known(1), 3)
		},
			[]string{"violation: client 3 read version 3 of a key after version 4"}, nil},
		{"a change that does not show", func(s *SessionVersions) { s.ReadReturned(0, s.Known(0), 3); s.NotifiedReadReturned(0, s.Known(0), 3) },
			[]string{"violation: client 3 was notified of a change after version 3 of a key, and read version 3"}, nil},
		{"a set that changed nothing", func(s *SessionVersions) {
			s.ReadReturned(0, s.Known(0), 3)
			s.SetReturned(0, s.Known(0), 3, drivers.AnyVersion)
		},
			[]string{"violation: client 3 created version 3 of a key after version 3"}, nil},
		{"conditional sets", func(s *SessionVersions) { s.SetReturned(0, s.Known(0), 4, 3); s.SetReturned(0, s.Known(0), 5, 4) }, nil, nil},
		{"a conditional set on another version", func(s *SessionVersions) { s.SetReturned(0, s.Known(0), 5, 3) },
			[]string{"violation: client 3 created version 5 of a key by a set on version 3"},
			[]string{"violation: client 3 created version 5 of a key by a set on version 3"}},
		{"a list", func(s *SessionVersions) { s.ListReturned(100, 100) }, nil, nil},
		{"half a list", func(s *SessionVersions) { s.ListReturned(50, 100) },
			[]string{"violation: client 3 listed 50 of 100 nodes"}, []string{"violation: client 3 listed 50 of 100 nodes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for lags, want := range map[bool][]string{false: c.want, true: c.lags} {
				f := Freshness{Lags: lags}
				s := f.Session(&testClient{index: 2}, 2)
				c.see(s)
				v := f.Verdict()
				if !slices.Equal(v.Details, want) || v.Violations != int64(len(want)) || (v.Weaker != "") != lags {
					t.Errorf("reads that lag %v: %+v, want %q", lags, v, want)
				}
			}
		})
	}
}

// TestFreshnessIsOfOneSession checks that versions seen by another session do not matter.
func TestFreshnessIsOfOneSession(t *testing.T) {
	var f Freshness
	one, other := f.Session(&testClient{}, 1), f.Session(&testClient{index: 1}, 1)
	one.ReadReturned(0, one.Known(0), 3)
	other.ReadReturned(0, other.Known(0), 2)
	if v := f.Verdict(); v.Violations != 0 || v.Checked != 2 {
		t.Errorf("%+v, want two checks and nothing found", v)
	}
}
