package costmodel

// Rounds returns the number of the recipe's rounds in a settled run, or false where the
// number depends on which client is faster.
func Rounds(recipe string, p Params) (int64, bool) {
	switch recipe {
	case "lock", "shared-lock", "revocable-lock", "election":
		return p.Clients, true // one turn per client
	case "barrier", "double-barrier", "two-phase-commit":
		return 1, true // one round for all clients
	case "config", "names", "fanout":
		return p.Updates, true
	case "group":
		return 2 * p.Clients, true // each client joins and leaves
	}
	return 0, false
}

// NotificationsPerRound returns the notifications of one round with all clients present, at
// rest. Where each client adds rounds, it is what the last client adds, per round that it
// adds. The mean over all rounds would be too low: few clients wait in the first and the
// last rounds, so it is less than the cost of a round under load. NotificationsPerRound
// returns false where the model does not determine the number.
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
