package costmodel

// An Upkeep has the requests of the run itself for each round in which all clients take part, as formulas of N. The run
// makes the nodes before the round, and lists and deletes what is left of them after it. A program that uses a recipe
// needs such requests too, in its own way. They are not part of a form's cost.
type Upkeep struct{ Creates, Lists, Deletes string }

// UpkeepOf returns the upkeep of a form, or false if it has none or it depends on the schedule.
func UpkeepOf(recipe, form string) (u Upkeep, fixed bool) {
	u, fixed = map[string]Upkeep{
		"barrier/watch":        {"1", "1", "0"}, // the opening deletes the barrier
		"barrier/poll":         {"1", "1", "0"},
		"barrier/etcd-recipes": {"1", "1", "0"},

		"double-barrier/ready":          {"1", "2", "2"}, // the node ready is left
		"double-barrier/sequential":     {"1", "2", "2"},
		"double-barrier/children-watch": {"1", "1", "1"},
		"double-barrier/etcd-recipes":   {"1", "1", "1"},

		"two-phase-commit/coordinator":     {"N+1", "N+1", "N+1"},
		"two-phase-commit/ephemeral-sites": {"1", "N+1", "N+1"},
		"two-phase-commit/all-watch-all":   {"N+1", "N+1", "N+1"},
	}[recipe+"/"+form]
	return u, fixed
}
