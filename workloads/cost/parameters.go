package cost

// A Parameter is a letter of the formulas and what it stands for in one run.
type Parameter struct {
	Letter string
	Value  int64
}

// Parameters are the letters that the recipe's formulas may have besides N.
func Parameters(recipe string, p Params) []Parameter {
	many := p.Items
	if recipe == "names" {
		many = p.Names
	}
	return []Parameter{
		{"W", p.Writers}, {"R", p.Clients - p.Writers}, {"M", many}, {"U", p.Updates}, {"L", p.Lookups}, {"q", p.Polls},
	}
}
