package cost

// Rounds is how many rounds of the recipe the settled mode has: false where that
// depends on who is faster.
func Rounds(recipe string, p Params) (int64, bool) {
	switch recipe {
	case "lock", "shared-lock", "revocable-lock", "election":
		return p.Clients, true // a turn of each
	case "barrier", "double-barrier", "two-phase-commit":
		return 1, true // all together
	case "config", "names", "fanout":
		return p.Updates, true
	case "group":
		return 2 * p.Clients, true // each comes and goes
	}
	return 0, false
}

// NotificationsPerRound is what a round costs at rest with all clients there: what
// the last of them adds to it, where a client more is a round more. Few wait for
// the first rounds and the last ones, so that the mean of all is less than what a
// round costs under load. It is false where the model does not determine it.
func (m Model) NotificationsPerRound(recipe string, p Params) (float64, bool) {
	without := p
	without.Clients--
	rounds, known := Rounds(recipe, p)
	before, _ := Rounds(recipe, without)
	if !known || without.Clients < max(1, without.Writers) {
		return 0, false
	}
	all, fewer := m.Settled(p), m.Settled(without)
	if all.Most != nil || fewer.Most != nil {
		return 0, false
	}
	if rounds == before {
		return float64(all.Notifications.Value) / float64(rounds), true
	}
	return float64(all.Notifications.Value-fewer.Notifications.Value) / float64(rounds-before), true
}
