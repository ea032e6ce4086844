package costmodel

import "testing"

func TestChange(t *testing.T) {
	for _, c := range []struct{ recipe, form, notifications, reads, writes, most string }{
		{"election", "predecessor", "1", "3", "2", ""},
		{"election", "one-node", "N−1", "N−1", "N+1", ""},
		{"election", "children-watch", "2N−2", "2N−2", "2", ""},
		{"election", "poll", "0", "N", "2", "0"},
		{"group", "children-watch", "N−0.5", "N−0.5", "1", ""},
		{"barrier", "watch", "N", "2N", "1", ""},
		{"double-barrier", "children-watch", "N²", "1.5N²+0.5N", "3N", ""},
		{"names", "recursive", "N", "N", "1", ""},
		{"mirror", "recursive", "N", "N", "1", ""},
		{"queue", "relist", "N", "N+1", "2", "2N−2"},
	} {
		model := modelOf(t, c.recipe+"/"+c.form)
		change, ok := model.ChangeOf(c.recipe, func(n int) Params {
			return Params{Clients: int64(n), Polls: 1, Items: 4, Updates: 2, Names: 3}
		})
		got := [...]string{change.Notifications.String(), change.Reads.String(), change.Writes.String(), ""}
		if change.Most != nil {
			got[3] = change.Most.Notifications.String()
		}
		if want := [...]string{c.notifications, c.reads, c.writes, c.most}; !ok || got != want {
			t.Errorf("%s/%s: %q (%v), want %q", c.recipe, c.form, got, ok, want)
		}
	}
}

// TestChangeIsAPolynomial checks that a cost that no polynomial of degree 2 has is refused.
func TestChangeIsAPolynomial(t *testing.T) {
	cube := Model{settled: func(p Params) Expected {
		n := p.Clients
		return Expected{Notifications: Term{"N⁴", n * n * n * n}}
	}}
	if c, ok := cube.ChangeOf("lock", func(n int) Params { return Params{Clients: int64(n)} }); ok {
		t.Errorf("found %v for a difference of fourth powers", c.Notifications)
	}
}

// TestChangeWithoutPolynomial checks a form whose first waiting consumer costs less than the others, so that no
// polynomial has all values.
func TestChangeWithoutPolynomial(t *testing.T) {
	if c, ok := modelOf(t, "queue/one-watcher").ChangeOf("queue", func(n int) Params { return Params{Clients: int64(n), Items: 4} }); ok {
		t.Errorf("the change of queue/one-watcher is %v", c.Notifications)
	}
}
