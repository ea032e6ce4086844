package costmodel

import "testing"

func TestNotificationsPerRound(t *testing.T) {
	at := func(n int64) Params { return Params{Clients: n, Writers: 1, Updates: 2} }
	for _, c := range []struct {
		recipe, form string
		n            int64
		want         float64
		known        bool
	}{
		{"lock", "predecessor", 8, 1, true},
		{"lock", "one-node", 8, 7, true},
		{"lock", "poll", 8, 0, true},
		{"election", "watch-leader", 8, 7, true},
		{"shared-lock", "nearest", 8, 1, true},
		{"shared-lock", "children-watch", 8, 8, true},
		{"double-barrier", "ready", 8, 15, true},
		{"double-barrier", "children-watch", 8, 64, true},
		{"config", "watch", 8, 8, true},
		{"group", "ring", 8, 1.5, true},
		{"group", "children-watch", 8, 7.5, true},
		{"lock", "one-node", 1, 0, false}, // there is no smaller run to compare with
		{"queue", "relist", 8, 0, false},  // several clients race
	} {
		m, ok := ModelOf(c.recipe, c.form)
		if !ok {
			t.Fatalf("no model of %s/%s", c.recipe, c.form)
		}
		got, known := m.NotificationsPerRound(c.recipe, at(c.n))
		if got != c.want || known != c.known {
			t.Errorf("%s/%s, %d clients: %v, %v; want %v, %v", c.recipe, c.form, c.n, got, known, c.want, c.known)
		}
	}
}
