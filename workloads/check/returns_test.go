package check

import (
	"strings"
	"testing"

	"github.com/stampede-bench/stampede/metrics"
)

// TestReturns plants what a client can do wrong, one defect at a time, beside two clients that come back rightly.
func TestReturns(t *testing.T) {
	right := func(r *Returns) {
		r.Back(0, "a")
		r.Back(1, "b")
	}
	for name, c := range map[string]struct {
		play func(r *Returns)
		want string // the finding; "" for none
	}{
		"all are back": {func(r *Returns) { r.Back(2, "c"); r.Registered([]string{"c", "a", "b"}) }, ""},
		"twice back, registered twice": {func(r *Returns) {
			r.Back(2, "c")
			r.Back(2, "d")
			r.Registered([]string{"a", "b", "c", "d"})
		}, "client 3 came back 2 times and is registered 2 times"},
		"twice back, registered once": {func(r *Returns) {
			r.Back(2, "c")
			r.Back(2, "d")
			r.Registered([]string{"a", "b", "d"})
		}, "client 3 came back 2 times"},
		"not registered":     {func(r *Returns) { r.Back(2, "c"); r.Registered([]string{"a", "b"}) }, "client 3 is back and is not registered"},
		"not connected":      {func(r *Returns) { r.Registered([]string{"a", "b"}) }, "client 3 said that it was back and had not connected"},
		"gave up":            {func(r *Returns) { r.GaveUp(2) }, "client 3 gave up"},
		"gave up, disturbed": {func(r *Returns) { r.GaveUp(2); r.Disturbed(2) }, "client 3 gave up"},
		"an old one stays":   {func(r *Returns) { r.Back(2, "c"); r.Registered([]string{"a", "b", "c", "old"}) }, "1 of 4 registrations are of no new session"},
		"abandoned":          {func(*Returns) {}, ""},
		"lost its new one":   {func(r *Returns) { r.Back(2, "c"); r.Disturbed(2); r.Registered([]string{"a", "b"}) }, ""},
		"lost it, and then": {func(r *Returns) {
			r.Back(2, "c")
			r.Disturbed(2)
			r.Back(2, "d")
			r.Registered([]string{"a", "b", "d"})
		}, ""},
	} {
		r := NewReturns(3)
		right(r)
		c.play(r)
		var s metrics.Safety
		r.Judge(&s)
		found := ""
		if len(s.Details) > 0 {
			found = strings.TrimPrefix(s.Details[0], "violation: ")
		}
		if s.Checked != 3 || found != c.want || s.Violations > 1 || (s.Violations == 1) != (c.want != "") {
			t.Errorf("%s: %+v, want %q of three checks", name, s, c.want)
		}
	}
}
