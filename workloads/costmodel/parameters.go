package costmodel

// A Parameter is a letter of the formulas and its value in one run.
type Parameter struct {
	Letter string
	Value  int64
}

// Parameters returns the letters that a recipe's formulas may contain besides N, with
// their values.
func Parameters(recipe string, p Params) []Parameter {
	many := p.Items
	if recipe == "names" {
		many = p.Names
	}
	return []Parameter{
		{"W", p.Writers}, {"R", p.Clients - p.Writers}, {"M", many}, {"U", p.Updates}, {"L", p.Lookups}, {"q", p.Polls},
	}
}
