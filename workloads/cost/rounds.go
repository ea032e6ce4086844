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
// round costs under load. The last client must change nothing of p but how many
// there are; it is false where it does, and where the model does not determine it.
func (m Model) NotificationsPerRound(recipe string, with, without Params) (float64, bool) {
	rounds, known := Rounds(recipe, with)
	before, _ := Rounds(recipe, without)
	last := without
	last.Clients = with.Clients
	if !known || without.Clients < 1 || last != with {
		return 0, false
	}
	all, fewer := m.Settled(with), m.Settled(without)
	if all.Most != nil || fewer.Most != nil {
		return 0, false
	}
	if rounds == before {
		return float64(all.Notifications.Value) / float64(rounds), true
	}
	return float64(all.Notifications.Value-fewer.Notifications.Value) / float64(rounds-before), true
}
